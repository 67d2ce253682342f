/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - tracing through /dev/utrace
 *
 * A session is an open file: it is attached to tasks, told which events to
 * record, and read.  Closing the last descriptor ends it.  Structures may grow
 * at their end: the kernel takes what is missing for 0, and refuses with E2BIG
 * what it does not know and is not 0.  Documentation/trace/utrace/dev.rst
 * explains all of it.
 */
#ifndef _UAPI_LINUX_UTRACE_H
#define _UAPI_LINUX_UTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Grows with each addition to what is defined here. */
#define UTRACE_IOC_VERSION_NOW	2

/*
 * What an argument of a system call or another part of an event was captured
 * as: utrace_item.kind.
 */
enum utrace_item_kind {
	UTRACE_ITEM_STRING = 1,	/* text, without the NUL behind it */
	UTRACE_ITEM_BYTES,	/* memory */
	UTRACE_ITEM_SOCKADDR,	/* struct sockaddr of some family */
	UTRACE_ITEM_FILE,	/* path behind a descriptor, or "socket:[INODE]" */
	UTRACE_ITEM_ARGV,	/* strings, a NUL behind each */
	UTRACE_ITEM_EXE,	/* path of the program that runs */
	UTRACE_ITEM_CWD,	/* the working directory */
	UTRACE_ITEM_CREDS,	/* struct utrace_item_creds */
	UTRACE_ITEM_STACK,	/* return addresses, __u64, innermost first */
	UTRACE_ITEM_RAW_STACK,	/* struct utrace_item_raw_stack, then memory */
	UTRACE_ITEM_MAPPING,	/* struct utrace_item_mapping, then the path */
	UTRACE_ITEM_MISSING,	/* the last one: @whole items had no room or memory */
};

/* utrace_item.flags */
#define UTRACE_ITEM_TRUNCATED	0x01	/* there was more */
#define UTRACE_ITEM_FAULTED	0x02	/* no memory there, or not all of it */

/* utrace_item.arg of what belongs to no argument */
#define UTRACE_ITEM_NO_ARG	0xff

/**
 * struct utrace_item - one thing that was captured
 * @kind: enum utrace_item_kind
 * @arg: which argument of a system call it is of, from 0
 * @flags: UTRACE_ITEM_TRUNCATED and UTRACE_ITEM_FAULTED
 * @reserved: 0
 * @len: bytes of @data, without what aligns the next item
 * @reserved2: 0
 * @whole: what the length would be if nothing were truncated, as far as known,
 *	else @len
 * @data: the bytes; the next item follows at a multiple of 8
 */
struct utrace_item {
	__u8 kind;
	__u8 arg;
	__u8 flags;
	__u8 reserved;
	__u16 len;
	__u16 reserved2;
	__u64 whole;
	__u8 data[];
};

/* Ids are those of the user namespace of the one who opened the session. */
struct utrace_item_creds {
	__u32 uid, gid, euid, egid, suid, sgid, fsuid, fsgid;
	__u64 cap_effective;
};

struct utrace_item_raw_stack {
	__u64 ip, sp, bp;
};

struct utrace_item_mapping {
	__u64 start, end, pgoff;	/* addresses; offset in the file, in bytes */
	__u32 prot;			/* PROT_* */
	__u32 build_id_len;		/* 0: none, or not in memory */
	__u8 build_id[24];
};

/*
 * Records: what read(2) gives, whole ones only, in the order of their numbers.
 */
enum utrace_rec_type {
	UTRACE_REC_PAD,		/* nothing, to be passed over */
	UTRACE_REC_LOST,	/* struct utrace_rec_lost */
	UTRACE_REC_SYS_ENTER,	/* struct utrace_rec_sys_enter, items */
	UTRACE_REC_SYS_EXIT,	/* struct utrace_rec_sys_exit, items */
	UTRACE_REC_FORK,	/* struct utrace_rec_fork */
	UTRACE_REC_EXEC,	/* items: EXE, ARGV, CWD, CREDS */
	UTRACE_REC_EXIT,	/* struct utrace_rec_exit */
	UTRACE_REC_SIGNAL,	/* struct utrace_rec_signal */
	UTRACE_REC_JOBCTL,	/* struct utrace_rec_jobctl */
	UTRACE_REC_DETACHED,	/* the task may not be traced: hidden from here on */
	UTRACE_REC_TYPES
};

/**
 * struct utrace_rec - header of a record
 * @size: of the record, with this header and what follows; a multiple of 8
 * @type: enum utrace_rec_type
 * @items: where struct utrace_item begin, in bytes from here; 0: there are none
 * @seq: its number, from 1; records that were lost have one too
 * @time: in ns, of the session's clock
 * @pid: process of the task, as the one who opened the session sees it; 0 if
 *	he does not
 * @tid: the task
 */
struct utrace_rec {
	__u32 size;
	__u16 type;
	__u16 items;
	__u64 seq;
	__u64 time;
	__s32 pid;
	__s32 tid;
};

/* @lost records had no room between the one before and this one. */
struct utrace_rec_lost {
	struct utrace_rec head;
	__u64 lost;
};

/* Or-ed to @nr: it is of the 32-bit table of x86_64. */
#define UTRACE_REC_IA32		0x20000000

/*
 * In the place of @nr: no number of a call.  The exit of sigreturn has it, of
 * either table: what its registers say is of the code that was interrupted.
 */
#define UTRACE_REC_NO_CALL	0x1fffffff

struct utrace_rec_sys_enter {
	struct utrace_rec head;
	__u32 nr;
	__u32 reserved;
	__u64 args[6];
};

/* utrace_rec_sys_exit.flags */
#define UTRACE_REC_UNPAIRED	0x01	/* the entry was not seen */

struct utrace_rec_sys_exit {
	struct utrace_rec head;
	__u32 nr;
	__u32 flags;
	__s64 ret;
	__u64 args[6];
};

struct utrace_rec_fork {
	struct utrace_rec head;
	__s32 child_pid;
	__s32 child_tid;
	__u64 flags;			/* CLONE_*, the exit signal in the low byte */
};

/* utrace_rec_exit.flags */
#define UTRACE_REC_HIDDEN	0x01	/* the task was hidden: @code is 0 */

struct utrace_rec_exit {
	struct utrace_rec head;
	__s32 code;			/* as of wait(2) */
	__u32 flags;
};

struct utrace_rec_signal {
	struct utrace_rec head;
	__u8 info[48];			/* begin of the siginfo_t, the rest is 0 */
	__u64 handler;			/* sa_handler; SIG_DFL, SIG_IGN */
	__u64 flags;			/* sa_flags */
};

struct utrace_rec_jobctl {
	struct utrace_rec head;
	__s32 type;			/* CLD_STOPPED or CLD_CONTINUED */
	__s32 notify;			/* what the parent is told, or 0 */
};

/* Which events are recorded, bits of utrace_ioc_events.events. */
#define UTRACE_F_EVENT(type)	(1ULL << UTRACE_REC_##type)
#define UTRACE_F_EVENTS_ALL	(UTRACE_F_EVENT(SYS_ENTER) |		\
				 UTRACE_F_EVENT(SYS_EXIT) |		\
				 UTRACE_F_EVENT(FORK) |			\
				 UTRACE_F_EVENT(EXEC) |			\
				 UTRACE_F_EVENT(EXIT) |			\
				 UTRACE_F_EVENT(SIGNAL) |		\
				 UTRACE_F_EVENT(JOBCTL))

/* What is captured of system calls, bits of utrace_ioc_events.capture. */
#define UTRACE_F_STRINGS	0x01	/* strings, argv */
#define UTRACE_F_BUFFERS	0x02	/* memory and iovecs */
#define UTRACE_F_SOCKETS	0x04	/* struct sockaddr */
#define UTRACE_F_FILES		0x08	/* the paths behind descriptors */
#define UTRACE_F_STACK		0x10	/* return addresses by frame pointers */
#define UTRACE_F_RAW_STACK	0x20	/* registers and the top of the stack */
#define UTRACE_F_CAPTURE_ALL	0x3f

/* utrace_ioc_attach.scope */
enum utrace_scope {
	UTRACE_F_THREAD,	/* the task of a pidfd */
	UTRACE_F_PROCESS,	/* its process, and threads to come */
	UTRACE_F_TREE,		/* and all descendants, those alive too */
	UTRACE_F_SYSTEM,	/* every user task but those of the caller */
};

/* utrace_ioc_setup.clock */
enum utrace_clock {
	UTRACE_F_MONOTONIC,
	UTRACE_F_REALTIME,
	UTRACE_F_BOOTTIME,
};

/**
 * struct utrace_ioc_info - what the kernel can do and the session has done
 * @version: UTRACE_IOC_VERSION_NOW of the kernel
 * @reserved: 0
 * @events: UTRACE_F_EVENTS_ALL of the kernel
 * @capture: UTRACE_F_CAPTURE_ALL of the kernel
 * @ring_size: bytes; 0: not made yet
 * @records: how many there were, lost ones included
 * @lost: of these
 * @hidden: how often a task was hidden, each with a UTRACE_REC_DETACHED (since 2)
 * @uncaptured: sum of what UTRACE_ITEM_MISSING says (since 2)
 * @missed: events that did not come to the session, as there was no memory for a task
 *	under system scope (since 2)
 */
struct utrace_ioc_info {
	__u32 version;
	__u32 reserved;
	__u64 events;
	__u64 capture;
	__u64 ring_size;
	__u64 records;
	__u64 lost;
	__u64 hidden;
	__u64 uncaptured;
	__u64 missed;
};

/**
 * struct utrace_ioc_setup - what has to be said before the first attach
 * @ring_size: bytes, a power of 2 from 64 KiB to 64 MiB; 0: 1 MiB, more takes
 *	CAP_SYS_RESOURCE
 * @clock: enum utrace_clock
 * @flags: 0
 */
struct utrace_ioc_setup {
	__u64 ring_size;
	__u32 clock;
	__u32 flags;
};

/**
 * struct utrace_ioc_attach - attach to tasks
 * @fd: a pidfd; -1 for the system
 * @scope: enum utrace_scope
 * @flags: 0
 * @id: out: what to detach
 */
struct utrace_ioc_attach {
	__s32 fd;
	__u32 scope;
	__u32 flags;
	__u32 id;
};

/**
 * struct utrace_ioc_events - what is recorded, of all targets
 * @events: UTRACE_F_EVENT() bits
 * @capture: UTRACE_F_STRINGS and the like
 * @calls: pointer to __u32 numbers of the only system calls that are recorded,
 *	or-ed with UTRACE_REC_IA32 for the 32-bit table; 0xffffffff stands for
 *	all that are in no table
 * @ncalls: how many; 0: all calls, and @calls is 0
 * @reserved: 0
 */
struct utrace_ioc_events {
	__u64 events;
	__u64 capture;
	__u64 calls;
	__u32 ncalls;
	__u32 reserved;
};

/* Bytes of each structure when it was first published; less is EINVAL. */
#define UTRACE_IOC_INFO_SIZE_VER0	48
#define UTRACE_IOC_SETUP_SIZE_VER0	16
#define UTRACE_IOC_ATTACH_SIZE_VER0	16
#define UTRACE_IOC_DETACH_SIZE_VER0	4
#define UTRACE_IOC_EVENTS_SIZE_VER0	32

#define UTRACE_IOC_INFO		_IOR(0xBC, 0x00, struct utrace_ioc_info)
#define UTRACE_IOC_SETUP	_IOW(0xBC, 0x01, struct utrace_ioc_setup)
#define UTRACE_IOC_ATTACH	_IOWR(0xBC, 0x02, struct utrace_ioc_attach)
#define UTRACE_IOC_DETACH	_IOW(0xBC, 0x03, __u32)
#define UTRACE_IOC_EVENTS	_IOW(0xBC, 0x04, struct utrace_ioc_events)

#endif /* _UAPI_LINUX_UTRACE_H */
