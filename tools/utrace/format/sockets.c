// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what a socket is, for -yy
 *
 * The kernel records the number of a socket.  Its protocol is an attribute of
 * /proc/TID/fd/FD, and its addresses come from sock_diag(7), which lists the
 * sockets of the network namespace of this command.  Both are read when the call
 * is printed, so they are not found if the program has closed the socket before.
 * Addresses that were found are kept, as a socket may be closed later.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "lib/memory.h"
#include "sockets.h"

/* Number of sockets whose addresses are kept. */
#define KEPT	1024

/* The longest text: a path of a UNIX socket in base 16, and numbers. */
#define TEXT_MAX	1024

/**
 * struct kept - a socket that was found
 * @inode: number of the socket
 * @bound: its addresses were found, so that it is not looked up again
 * @text: its text
 */
static struct kept {
	unsigned long inode;
	bool bound;
	char *text;
} kept[KEPT];

/**
 * struct search - a search for a socket
 * @protocol: name of its protocol
 * @inode: its number
 * @text: its text, if it was found
 */
struct search {
	const char *protocol;
	unsigned long inode;
	char text[TEXT_MAX];
};

/*
 * Handle a message of sock_diag of @len bytes.  Returns whether it is about the
 * socket.
 */
typedef bool found_function(struct search *search, const void *data, size_t len);

/* Addresses */

static bool found_inet(struct search *search, const void *data, size_t len)
{
	const struct inet_diag_msg *msg = data;
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	bool v6;

	if (len < sizeof(*msg) || msg->idiag_inode != search->inode ||
	    !inet_ntop(msg->idiag_family, msg->id.idiag_src, from, sizeof(from)) ||
	    !inet_ntop(msg->idiag_family, msg->id.idiag_dst, to, sizeof(to)))
		return false;
	v6 = msg->idiag_family == AF_INET6;
	if (msg->id.idiag_dport)
		snprintf(search->text, TEXT_MAX, v6 ? "%s:[[%s]:%u->[%s]:%u]" :
			 "%s:[%s:%u->%s:%u]", search->protocol, from,
			 ntohs(msg->id.idiag_sport), to, ntohs(msg->id.idiag_dport));
	else
		snprintf(search->text, TEXT_MAX, v6 ? "%s:[[%s]:%u]" : "%s:[%s:%u]",
			 search->protocol, from, ntohs(msg->id.idiag_sport));
	return true;
}

/* Append the name of a UNIX socket, which may be abstract. */
static void print_name(struct seq_buf *s, const char *name, size_t len)
{
	seq_buf_puts(s, *name ? "," : ",@");
	if (*name)
		utrace_print_string(s, name, strnlen(name, len));
	else
		utrace_print_string(s, name + 1, len - 1);
}

static bool found_unix(struct search *search, const void *data, size_t len)
{
	const struct unix_diag_msg *msg = data;
	struct rtattr *attr = (void *)((char *)data + NLMSG_ALIGN(sizeof(*msg)));
	struct seq_buf s = { .buffer = search->text, .size = TEXT_MAX - 2 };
	int left = len - NLMSG_ALIGN(sizeof(*msg));
	const char *name = NULL;
	size_t name_len = 0;
	__u32 peer = 0;

	if (len < sizeof(*msg) || msg->udiag_ino != search->inode)
		return false;
	for (; left > 0 && RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		if (attr->rta_type == UNIX_DIAG_NAME && RTA_PAYLOAD(attr)) {
			name = RTA_DATA(attr);
			name_len = RTA_PAYLOAD(attr);
		} else if (attr->rta_type == UNIX_DIAG_PEER &&
			   RTA_PAYLOAD(attr) >= sizeof(peer)) {
			memcpy(&peer, RTA_DATA(attr), sizeof(peer));
		}
	}
	if (!peer && !name)
		return false;
	seq_buf_printf(&s, "%s:[%lu", search->protocol, search->inode);
	if (peer)
		seq_buf_printf(&s, "->%u", peer);
	if (name)
		print_name(&s, name, name_len);
	seq_buf_puts(&s, "]");
	search->text[s.len] = '\0';
	return true;
}

static bool found_netlink(struct search *search, const void *data, size_t len)
{
	static const char *const protocols[] = {
		[NETLINK_ROUTE] = "ROUTE", [NETLINK_USERSOCK] = "USERSOCK",
		[NETLINK_SOCK_DIAG] = "SOCK_DIAG", [NETLINK_NFLOG] = "NFLOG",
		[NETLINK_XFRM] = "XFRM", [NETLINK_SELINUX] = "SELINUX",
		[NETLINK_ISCSI] = "ISCSI", [NETLINK_AUDIT] = "AUDIT",
		[NETLINK_FIB_LOOKUP] = "FIB_LOOKUP",
		[NETLINK_CONNECTOR] = "CONNECTOR",
		[NETLINK_NETFILTER] = "NETFILTER", [NETLINK_IP6_FW] = "IP6_FW",
		[NETLINK_DNRTMSG] = "DNRTMSG",
		[NETLINK_KOBJECT_UEVENT] = "KOBJECT_UEVENT",
		[NETLINK_GENERIC] = "GENERIC",
		[NETLINK_SCSITRANSPORT] = "SCSITRANSPORT",
		[NETLINK_ECRYPTFS] = "ECRYPTFS", [NETLINK_RDMA] = "RDMA",
		[NETLINK_CRYPTO] = "CRYPTO", [NETLINK_SMC] = "SMC",
	};
	const struct netlink_diag_msg *msg = data;
	const char *name = NULL;

	/* A socket without a port is not bound. */
	if (len < sizeof(*msg) || msg->ndiag_ino != search->inode ||
	    !msg->ndiag_portid)
		return false;
	if (msg->ndiag_protocol < ARRAY_SIZE(protocols))
		name = protocols[msg->ndiag_protocol];
	if (name)
		snprintf(search->text, TEXT_MAX, "%s:[%s:%u]", search->protocol,
			 name, msg->ndiag_portid);
	else
		snprintf(search->text, TEXT_MAX, "%s:[%u:%u]", search->protocol,
			 msg->ndiag_protocol, msg->ndiag_portid);
	return true;
}

/* Requests */

/* Return a socket of sock_diag, or -1. */
static int diag_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

/*
 * Handle the messages of one buffer.  Returns 1 if the socket was found, 0 if
 * more messages follow, else -1.
 */
static int handle(struct search *search, const struct nlmsghdr *head, size_t len,
		  found_function *found)
{
	for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
		if (head->nlmsg_type == NLMSG_DONE ||
		    head->nlmsg_type == NLMSG_ERROR)
			return -1;
		if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
		    found(search, NLMSG_DATA(head), NLMSG_PAYLOAD(head, 0)))
			return 1;
	}
	return 0;
}

/* Send a request for a list, and look for the socket in the answer. */
static bool diag_list(struct search *search, const void *request, size_t size,
		      found_function *found)
{
	static __u64 buffer[2048];
	struct nlmsghdr head = {
		.nlmsg_len = NLMSG_LENGTH(size),
		.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	int fd = diag_open(), done = -1;
	ssize_t len;

	if (fd < 0)
		return false;
	memcpy(buffer, &head, sizeof(head));
	memcpy(NLMSG_DATA(buffer), request, size);
	if (send(fd, buffer, head.nlmsg_len, 0) > 0) {
		do {
			len = recv(fd, buffer, sizeof(buffer), 0);
			done = len <= 0 ? -1 :
			       handle(search, (void *)buffer, len, found);
		} while (!done);
	}
	close(fd);
	return done > 0;
}

static bool find_inet(struct search *search, int family, int protocol)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = family,
		.sdiag_protocol = protocol,
		.idiag_states = ~0U,
	};

	return diag_list(search, &request, sizeof(request), found_inet);
}

static bool find_unix(struct search *search)
{
	struct unix_diag_req request = {
		.sdiag_family = AF_UNIX,
		.udiag_states = ~0U,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
	};

	return diag_list(search, &request, sizeof(request), found_unix);
}

static bool find_netlink(struct search *search)
{
	struct netlink_diag_req request = {
		.sdiag_family = AF_NETLINK,
		.sdiag_protocol = NDIAG_PROTO_ALL,
	};

	return diag_list(search, &request, sizeof(request), found_netlink);
}

static bool find(struct search *search)
{
	static const struct {
		const char *name;
		int family;
		int protocol;
	} inets[] = {
		{ "TCP", AF_INET, IPPROTO_TCP }, { "UDP", AF_INET, IPPROTO_UDP },
		{ "UDP-Lite", AF_INET, IPPROTO_UDPLITE },
		{ "TCPv6", AF_INET6, IPPROTO_TCP },
		{ "UDPv6", AF_INET6, IPPROTO_UDP },
		{ "UDPLITEv6", AF_INET6, IPPROTO_UDPLITE },
	};
	size_t i;

	if (!strncmp(search->protocol, "UNIX", 4))
		return find_unix(search);
	if (!strcmp(search->protocol, "NETLINK"))
		return find_netlink(search);
	for (i = 0; i < ARRAY_SIZE(inets); i++)
		if (!strcmp(search->protocol, inets[i].name))
			return find_inet(search, inets[i].family,
					 inets[i].protocol);
	return false;
}

/* Read the protocol of a socket, if the descriptor still has that socket. */
static bool read_protocol(char *protocol, size_t size, pid_t task, int fd,
			  unsigned long inode)
{
	char path[64], link[64], want[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", task, fd);
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return false;
	link[len] = '\0';
	snprintf(want, sizeof(want), "socket:[%lu]", inode);
	if (strcmp(link, want))
		return false;
	len = getxattr(path, "system.sockprotoname", protocol, size - 1);
	if (len <= 0)
		return false;
	protocol[len] = '\0';
	return true;
}

/**
 * socket_text() - describe a socket, as strace does with -yy
 * @task: number in /proc of a task with the descriptor
 * @fd: the descriptor
 * @inode: number of the socket
 * @before: do not look it up if it was found before, even without an address
 *
 * Return: the text, valid until the next call, or NULL if the descriptor has no
 * such socket any more and the socket was not found before.
 */
const char *socket_text(pid_t task, int fd, unsigned long inode, bool before)
{
	struct kept *slot = &kept[inode % KEPT];
	static struct search search;
	static char protocol[64];

	if (slot->text && slot->inode != inode) {
		free(slot->text);
		*slot = (struct kept){};
	}
	if (slot->bound || (before && slot->text) ||
	    !read_protocol(protocol, sizeof(protocol), task, fd, inode))
		return slot->text;
	search.protocol = protocol;
	search.inode = inode;
	slot->bound = find(&search);
	/* It may be bound later. */
	if (!slot->bound)
		snprintf(search.text, TEXT_MAX, "%s:[%lu]", protocol, inode);
	free(slot->text);
	slot->text = checked(strdup(search.text));
	slot->inode = inode;
	return slot->text;
}
