/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about sockets */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H

#include <linux/ax25.h>
#include <linux/dccp.h>
#include <linux/caif/caif_socket.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_alg.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_pppox.h>
#include <linux/if_xdp.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kcm.h>
#include <linux/mctp.h>
#include <linux/netlink.h>
#include <linux/nfc.h>
#include <linux/phonet.h>
#include <linux/qrtr.h>
#include <linux/rds.h>
#include <linux/rxrpc.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <linux/tipc.h>
#include <linux/tls.h>
#include <linux/udp.h>
#include <linux/uio.h>
#include <linux/un.h>
#include <linux/vm_sockets.h>
#include <linux/x25.h>
#include <asm/socket.h>

/* linux/sctp.h needs types of the C library. */
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
#define sockaddr_storage __kernel_sockaddr_storage
#include <linux/sctp.h>
#undef sockaddr_storage

/* The kernel has no IPX any more. */
struct sockaddr_ipx {
	unsigned short sipx_family;
	__u16 sipx_port;
	__u32 sipx_network;
	unsigned char sipx_node[6];
	__u8 sipx_type;
	unsigned char sipx_zero;
};

/* AF_IEEE802154, which the C library and the headers for programs lack. */
struct ieee802154_addr {
	int addr_type;
	__u16 pan_id;
	union {
		__u8 hwaddr[8];
		__u16 short_addr;
	};
};

struct sockaddr_ieee802154 {
	unsigned short family;
	struct ieee802154_addr addr;
};

/* sendmsg() and recvmsg() */
struct msghdr {
	void *msg_name;
	int msg_namelen;
	struct iovec *msg_iov;
	unsigned long msg_iovlen;
	void *msg_control;
	unsigned long msg_controllen;
	unsigned int msg_flags;
};

struct cmsghdr {
	unsigned long cmsg_len;
	int cmsg_level;
	int cmsg_type;
};

struct fd_pair {
	int first;
	int second;
};

/* The kernel has struct linger in its own headers. */
struct linger {
	int l_onoff;
	int l_linger;
};

struct ucred {
	__u32 pid;
	__u32 uid;
	__u32 gid;
};

struct mmsghdr {
	struct msghdr msg_hdr;
	unsigned int msg_len;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H */
