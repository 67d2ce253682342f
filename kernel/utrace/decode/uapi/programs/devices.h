/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of ioctl() for devices */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_DEVICES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_DEVICES_H

#include <linux/counter.h>
#include <linux/dm-ioctl.h>
#include <linux/gpio.h>
#include <linux/hdreg.h>
#include <linux/input.h>
#include <linux/kvm.h>
#include <linux/perf_event.h>
#include <linux/ptp_clock.h>
#include <linux/random.h>
#include <linux/rtc.h>
#include <linux/tee.h>
#include <mtd/mtd-abi.h>
#include <mtd/ubi-user.h>

/* ioctl(HDIO_DRIVE_CMD): what the program passes, and what the drive answers. */
struct drive_command {
	union {
		__u8 command;
		__u8 status;
	};
	union {
		__u8 sector_number;
		__u8 error;
	};
	union {
		__u8 feature;
		__u8 nsector;
	};
	__u8 sector_count;
};

/* struct dm_ioctl without the data that follow it. */
struct dm_head {
	__u32 version[3];
	__u32 data_size;
	__u32 data_start;
	__u32 target_count;
	__s32 open_count;
	__u32 flags;
	__u32 event_nr;
	__u32 padding;
	__u64 dev;
	char name[DM_NAME_LEN];
	char uuid[DM_UUID_LEN];
} __attribute__((packed));

/* ioctl(EVIOCSREP), ioctl(EVIOCSKEYCODE) */
struct two_uints {
	__u32 first;
	__u32 second;
};

/* An element of ptp_sys_offset_extended.ts. */
struct ptp_sample {
	struct ptp_clock_time ts[3];
};

/* struct tee_ioctl_open_session_arg, and the group of a client. */
struct tee_session {
	__u8 uuid[TEE_IOCTL_UUID_LEN];
	union {
		__u8 clnt_uuid[TEE_IOCTL_UUID_LEN];
		__u32 clnt_group;
	};
	__u32 clnt_login;
	__u32 cancel_id;
	__u32 session;
	__u32 ret;
	__u32 ret_origin;
	__u32 num_params;
};

/* A command that this kernel does not have. */
struct tee_shm_register_fd {
	__s64 fd;
	__u64 size;
	__u32 flags;
	__s32 id;
	__u64 reserved;
};

#define TEE_SHM_REGISTER_FD \
	_IOWR(TEE_IOC_MAGIC, TEE_IOC_BASE + 8, struct tee_shm_register_fd)

/* ioctl(UBI_IOCRNVOL): struct ubi_rnvol_req is longer than what is captured. */
struct ubi_rename {
	__s32 vol_id;
	__s16 name_len;
	__s8 padding2[2];
	char name[UBI_MAX_VOLUME_NAME + 1];
};

struct ubi_rename_list {
	__s32 count;
	__s8 padding1[12];
	struct ubi_rename ents[];
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_DEVICES_H */
