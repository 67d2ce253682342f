/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - tracing through /dev/utrace
 *
 * An open file of the device is a session.  Commands attach it to tasks and
 * choose the events that are recorded; read(2) returns the records.  The
 * session ends when its last descriptor is closed.
 *
 * Structures of commands may grow at their end.  The kernel takes missing
 * members for 0, and refuses members that it does not know with E2BIG unless
 * they are 0.  Documentation/trace/utrace/dev.rst explains the device.
 */
#ifndef _UAPI_LINUX_UTRACE_H
#define _UAPI_LINUX_UTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Version of the interface; grows with each addition to this file. */
#define UTRACE_IOC_VERSION_NOW	3

/* utrace_item.kind: what an item has. */
enum utrace_item_kind {
	UTRACE_ITEM_STRING = 1,	/* text, without its NUL */
	UTRACE_ITEM_BYTES,	/* memory */
	UTRACE_ITEM_SOCKADDR,	/* struct sockaddr of some family */
	UTRACE_ITEM_FILE,	/* path of a file, or "socket:[INODE]" */
	UTRACE_ITEM_ARGV,	/* strings, each with its NUL */
	UTRACE_ITEM_EXE,	/* path of the program of the task */
	UTRACE_ITEM_CWD,	/* path of the working directory */
	UTRACE_ITEM_CREDS,	/* struct utrace_item_creds */
	UTRACE_ITEM_STACK,	/* __u64 return addresses, innermost first */
	UTRACE_ITEM_RAW_STACK,	/* struct utrace_item_raw_stack, then memory */
	UTRACE_ITEM_MAPPING,	/* struct utrace_item_mapping, then the path */
	UTRACE_ITEM_MISSING,	/* no data; see @whole */
};

/* utrace_item.flags */
#define UTRACE_ITEM_TRUNCATED	0x01	/* the data is not complete */
#define UTRACE_ITEM_FAULTED	0x02	/* not all memory could be read */

/* utrace_item.arg of an item that belongs to no argument. */
#define UTRACE_ITEM_NO_ARG	0xff

/**
 * struct utrace_item - something that was captured with an event
 * @kind: enum utrace_item_kind
 * @arg: number of the argument of the system call, from 0, or
 *	UTRACE_ITEM_NO_ARG
 * @flags: UTRACE_ITEM_TRUNCATED and UTRACE_ITEM_FAULTED
 * @reserved: 0
 * @len: size of @data in bytes, without the padding behind it
 * @reserved2: 0
 * @whole: the size that @data would have in full, if known, else @len.  For
 *	UTRACE_ITEM_MISSING the record lacks this number of items or more
 * @data: the bytes; padding follows up to a multiple of 8, then the next item
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

/* Ids are those of the user namespace of the opener of the session. */
struct utrace_item_creds {
	__u32 uid, gid, euid, egid, suid, sgid, fsuid, fsgid;
	__u64 cap_effective;
};

/* Registers of the task; the memory from @sp on follows. */
struct utrace_item_raw_stack {
	__u64 ip, sp, bp;
};

/* A mapping of memory; the path of its file follows, if it has a file. */
struct utrace_item_mapping {
	__u64 start, end, pgoff;	/* addresses; bytes into the file */
	__u32 prot;			/* PROT_* */
	__u32 build_id_len;		/* 0: none was found in memory */
	__u8 build_id[24];
};

/*
 * Types of records.  read(2) returns whole records in the order of their
 * numbers.
 */
enum utrace_rec_type {
	UTRACE_REC_PAD,		/* no record; to be skipped */
	UTRACE_REC_LOST,	/* struct utrace_rec_lost */
	UTRACE_REC_SYS_ENTER,	/* struct utrace_rec_sys_enter, items */
	UTRACE_REC_SYS_EXIT,	/* struct utrace_rec_sys_exit, items */
	UTRACE_REC_FORK,	/* struct utrace_rec_fork */
	UTRACE_REC_EXEC,	/* items: EXE, ARGV, CWD, CREDS */
	UTRACE_REC_EXIT,	/* struct utrace_rec_exit */
	UTRACE_REC_SIGNAL,	/* struct utrace_rec_signal */
	UTRACE_REC_JOBCTL,	/* struct utrace_rec_jobctl */
	UTRACE_REC_DETACHED,	/* the task has become hidden */
	UTRACE_REC_TYPES
};

/**
 * struct utrace_rec - header of a record
 * @size: size of the record in bytes, with this header and the items; a
 *	multiple of 8
 * @type: enum utrace_rec_type
 * @items: offset in bytes from this header to the first struct utrace_item, 0
 *	if the record has no items
 * @seq: number of the record, from 1.  Lost records have numbers too; a
 *	UTRACE_REC_LOST has the number of the last of them
 * @time: time of the event in ns, by the clock of the session
 * @pid: id of the process of the task in the pid namespace of the opener of the
 *	session, 0 if the process has none there.  0 in a UTRACE_REC_LOST
 * @tid: id of the task, as @pid
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

/* There was no room for @lost records before this one. */
struct utrace_rec_lost {
	struct utrace_rec head;
	__u64 lost;
};

/* Or-ed to @nr if the number is one of the 32-bit table of x86_64. */
#define UTRACE_REC_IA32		0x20000000

/*
 * The value of @nr where there is no number: at the exit of a sigreturn, whose
 * registers are those of the code that the signal interrupted, and where the
 * program asked for a number with the bit of UTRACE_REC_IA32.
 */
#define UTRACE_REC_NO_CALL	0x1fffffff

/* The task makes a system call. */
struct utrace_rec_sys_enter {
	struct utrace_rec head;
	__u32 nr;
	__u32 reserved;
	__u64 args[6];
};

/* utrace_rec_sys_exit.flags */
#define UTRACE_REC_UNPAIRED	0x01	/* the session has not seen the entry */

/* A system call of the task is over; @ret is its result. */
struct utrace_rec_sys_exit {
	struct utrace_rec head;
	__u32 nr;
	__u32 flags;
	__s64 ret;
	__u64 args[6];
};

/*
 * The task has created a thread or a process.  Ids are as in the header; the
 * low byte of @flags is the exit signal.
 */
struct utrace_rec_fork {
	struct utrace_rec head;
	__s32 child_pid;
	__s32 child_tid;
	__u64 flags;			/* CLONE_* */
};

/* utrace_rec_exit.flags */
#define UTRACE_REC_HIDDEN	0x01	/* the task is hidden, and @code is 0 */

/* The task exits. */
struct utrace_rec_exit {
	struct utrace_rec head;
	__s32 code;			/* status as of wait(2) */
	__u32 flags;
};

/* The task takes a signal. */
struct utrace_rec_signal {
	struct utrace_rec head;
	__u8 info[48];			/* siginfo_t without its padding */
	__u64 handler;			/* sa_handler */
	__u64 flags;			/* sa_flags */
};

/* Job control stops or continues the process of the task. */
struct utrace_rec_jobctl {
	struct utrace_rec head;
	__s32 type;			/* CLD_STOPPED or CLD_CONTINUED */
	__s32 notify;			/* what the parent is told, or 0 */
};

/* utrace_ioc_events.events: the events that are recorded. */
#define UTRACE_REC_BIT(type)	(1ULL << UTRACE_REC_##type)
#define UTRACE_REC_ALL		(UTRACE_REC_BIT(SYS_ENTER) |		\
				 UTRACE_REC_BIT(SYS_EXIT) |		\
				 UTRACE_REC_BIT(FORK) |			\
				 UTRACE_REC_BIT(EXEC) |			\
				 UTRACE_REC_BIT(EXIT) |			\
				 UTRACE_REC_BIT(SIGNAL) |		\
				 UTRACE_REC_BIT(JOBCTL))

/* utrace_ioc_events.capture: what is captured with system calls. */
#define UTRACE_CAPTURE_STRINGS	0x01	/* strings, argv */
#define UTRACE_CAPTURE_BUFFERS	0x02	/* memory and iovecs */
#define UTRACE_CAPTURE_SOCKETS	0x04	/* struct sockaddr */
#define UTRACE_CAPTURE_FILES	0x08	/* the paths behind descriptors */
#define UTRACE_CAPTURE_STACK	0x10	/* return addresses by frame pointers */
#define UTRACE_CAPTURE_RAW_STACK 0x20	/* registers and the top of the stack */
#define UTRACE_CAPTURE_ALL	0x3f

/* utrace_ioc_attach.scope */
enum utrace_scope {
	UTRACE_SCOPE_THREAD,	/* the task of a pidfd */
	UTRACE_SCOPE_PROCESS,	/* its process, with threads to come */
	UTRACE_SCOPE_TREE,	/* its process, with all descendants */
	UTRACE_SCOPE_SYSTEM,	/* all user tasks but the caller's */
};

/**
 * struct utrace_ioc_info - abilities of the kernel, and counts of the session
 * @version: UTRACE_IOC_VERSION_NOW of the kernel
 * @reserved: 0
 * @events: UTRACE_REC_ALL of the kernel
 * @capture: UTRACE_CAPTURE_ALL of the kernel
 * @ring_size: size of the ring in bytes, 0 if the session has none yet
 * @records: number of records so far, with those that were lost
 * @lost: number of records that were lost
 * @hidden: how often a task became hidden; each time there was a
 *	UTRACE_REC_DETACHED (since version 2)
 * @uncaptured: sum of the numbers in UTRACE_ITEM_MISSING
 *	(since version 2)
 * @missed: number of events under system scope that the session was not told
 *	of, since the kernel had no memory for their tasks (since version 2)
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
 * struct utrace_ioc_setup - settings that are made before the first attach
 * @ring_size: size of the ring in bytes, a power of 2 from 64 KiB to 64 MiB; 0
 *	stands for 1 MiB.  More than 1 MiB needs CAP_SYS_RESOURCE
 * @clock: CLOCK_MONOTONIC, CLOCK_REALTIME (which is 0) or CLOCK_BOOTTIME of
 *	<time.h> (since version 3).  Without a setup the clock is
 *	CLOCK_MONOTONIC.
 * @flags: 0
 */
struct utrace_ioc_setup {
	__u64 ring_size;
	__s32 clock;
	__u32 flags;
};

/**
 * struct utrace_ioc_attach - attach the session to tasks
 * @fd: a pidfd; -1 for UTRACE_SCOPE_SYSTEM
 * @scope: enum utrace_scope
 * @flags: 0
 * @id: 0; the kernel writes the id for UTRACE_IOC_DETACH
 */
struct utrace_ioc_attach {
	__s32 fd;
	__u32 scope;
	__u32 flags;
	__u32 id;
};

/**
 * struct utrace_ioc_events - choose what is recorded of all targets
 * @events: UTRACE_REC_BIT() bits
 * @capture: bits from UTRACE_CAPTURE_STRINGS to UTRACE_CAPTURE_RAW_STACK
 * @calls: pointer to the __u32 numbers of the system calls that are recorded,
 *	or-ed with UTRACE_REC_IA32 for those of the 32-bit table; 0xffffffff
 *	stands for all numbers that are in no table
 * @ncalls: number of elements of @calls; 0 for all system calls, and @calls is
 *	0 then
 * @reserved: 0
 */
struct utrace_ioc_events {
	__u64 events;
	__u64 capture;
	__u64 calls;
	__u32 ncalls;
	__u32 reserved;
};

/* Sizes of the structures in version 1; a smaller argument is EINVAL. */
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
