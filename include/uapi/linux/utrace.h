/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - tracing through /dev/utrace
 *
 * An open file of the device is a session.  Ioctls attach it to tasks and
 * select the events; read(2) and mmap(2) return the records.  The reference,
 * with all rules and errors, is Documentation/userspace-api/utrace.rst.
 *
 * Layout: members are at multiples of their own size, and 32-bit and 64-bit
 * programs have the same structures.  A pointer is a __u64.  Arguments of
 * ioctls and elements of arrays grow at their end: new members are 0 for old
 * programs, and must be 0 for old kernels (E2BIG).  Unknown bits and values are
 * EINVAL.  A later kernel may add members to the end of a record's structure.
 * Items then begin later: use &utrace_rec.size and &utrace_rec.items, not
 * sizeof.  struct utrace_rec never changes.  The data of items grow, use
 * &utrace_item.len.  Structures that are members of others, struct utrace_item,
 * utrace_branch and utrace_map_tail never grow.  Skip unknown kinds of items.
 * New types of records come only if asked for.  Other enumerations that the
 * kernel writes may get new values: treat an unknown one as "not specified".
 *
 * Names: a bit of a member flags has an F in its name, as UTRACE_REC_F_HIDDEN.
 */
#ifndef _UAPI_LINUX_UTRACE_H
#define _UAPI_LINUX_UTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * enum utrace_item_kind - kinds of items
 * @UTRACE_ITEM_STRING: string that an argument points to, without NUL
 * @UTRACE_ITEM_BYTES: memory that an argument, or a struct iovec, points to
 * @UTRACE_ITEM_SOCKADDR: struct sockaddr
 * @UTRACE_ITEM_FILE: path of the file of a descriptor
 * @UTRACE_ITEM_ARGV: strings, each with its NUL
 * @UTRACE_ITEM_EXE: path of the program of the task
 * @UTRACE_ITEM_CWD: path of the working directory
 * @UTRACE_ITEM_CREDS: struct utrace_item_creds
 * @UTRACE_ITEM_STACK: __u64 addresses of code, innermost first
 * @UTRACE_ITEM_RAW_STACK: struct utrace_item_raw_stack, then memory
 * @UTRACE_ITEM_MISSING: no data; &utrace_item.whole items or more are missing
 * @UTRACE_ITEM_STRUCT: one structure or more, in the layout of the call's ABI;
 *	items for the memory that they point to follow
 * @UTRACE_ITEM_ARGS: __u32 words: arguments that a call of the 32-bit table
 *	takes from memory, as socketcall() does
 */
enum utrace_item_kind {
	UTRACE_ITEM_STRING = 1,
	UTRACE_ITEM_BYTES = 2,
	UTRACE_ITEM_SOCKADDR = 3,
	UTRACE_ITEM_FILE = 4,
	UTRACE_ITEM_ARGV = 5,
	UTRACE_ITEM_EXE = 6,
	UTRACE_ITEM_CWD = 7,
	UTRACE_ITEM_CREDS = 8,
	UTRACE_ITEM_STACK = 9,
	UTRACE_ITEM_RAW_STACK = 10,
	UTRACE_ITEM_MISSING = 11,
	UTRACE_ITEM_STRUCT = 12,
	UTRACE_ITEM_ARGS = 13,
};

/* utrace_item.flags */
#define UTRACE_ITEM_F_TRUNCATED	0x01	/* @data is not whole */
#define UTRACE_ITEM_F_FAULTED	0x02	/* memory after @len is not readable */
#define UTRACE_ITEM_F_OUT		0x04	/* captured at the end of the call */
#define UTRACE_ITEM_F_OPEN		0x08	/* the end of the array is not readable */

/* utrace_item.arg of an item that belongs to no argument. */
#define UTRACE_ITEM_NO_ARG	0xff

/**
 * struct utrace_item - data that was captured with an event
 * @kind: enum utrace_item_kind
 * @arg: number of the argument, or %UTRACE_ITEM_NO_ARG
 * @flags: %UTRACE_ITEM_F_TRUNCATED, %UTRACE_ITEM_F_FAULTED, %UTRACE_ITEM_F_OUT,
 *	%UTRACE_ITEM_F_OPEN
 * @len: bytes of @data, without padding
 * @whole: bytes that @data would have in full, or @len if not known
 * @parent: how many items before this one the item is that contains the pointer
 *	to the memory; 0: the argument is the pointer
 * @field: if @parent is not 0, offset of the pointer in an element of that item
 * @index: if @parent is not 0, number of that element, or the descriptor in a set
 *	of select() whose file this is; for UTRACE_ITEM_ARGV, the number of
 *	strings, 65536 at most; for entries of a directory, their number
 * @data: the bytes, padded with zeros to a multiple of 8
 */
struct utrace_item {
	__u8 kind;
	__u8 arg;
	__u16 flags;
	__u32 len;
	__u64 whole;
	__u16 parent;
	__u16 field;
	__u32 index;
	__u8 data[];
};

/**
 * struct utrace_item_creds - user and group ids, and capabilities, of a task
 * @uid: real user id, as all ids in the user namespace of the opener
 * @gid: real group id
 * @euid: effective user id
 * @egid: effective group id
 * @suid: saved user id
 * @sgid: saved group id
 * @fsuid: user id for file systems
 * @fsgid: group id for file systems
 * @cap_effective: effective capabilities in the user namespace of the task
 */
struct utrace_item_creds {
	__u32 uid, gid, euid, egid, suid, sgid, fsuid, fsgid;
	__u64 cap_effective;
};

/**
 * struct utrace_item_raw_stack - registers, before a copy of the memory at @sp
 * @size: bytes from here to the memory
 * @reserved: 0
 * @ip: instruction pointer
 * @sp: stack pointer
 * @bp: frame pointer
 */
struct utrace_item_raw_stack {
	__u32 size;
	__u32 reserved;
	__u64 ip, sp, bp;
};

/**
 * enum utrace_rec_type - types of records
 * @UTRACE_REC_PAD: no record: bytes of a mapped ring that readers skip
 * @UTRACE_REC_LOST: struct utrace_rec_lost
 * @UTRACE_REC_SYS_ENTER: struct utrace_rec_sys_enter, then items
 * @UTRACE_REC_SYS_EXIT: struct utrace_rec_sys_exit, then items
 * @UTRACE_REC_FORK: struct utrace_rec_fork
 * @UTRACE_REC_EXEC: struct utrace_rec_exec, then items
 * @UTRACE_REC_EXIT: struct utrace_rec_exit
 * @UTRACE_REC_SIGNAL: struct utrace_rec_signal
 * @UTRACE_REC_JOBCTL: struct utrace_rec_jobctl
 * @UTRACE_REC_HIDDEN: struct utrace_rec: the task is hidden from here on
 * @UTRACE_REC_TARGET_END: struct utrace_rec_target_end
 * @UTRACE_REC_SYS_CALL: struct utrace_rec_sys_call, then items
 * @UTRACE_REC_MARKER: struct utrace_rec_marker
 * @UTRACE_REC_USER_EVENT: struct utrace_rec_user_event
 */
enum utrace_rec_type {
	UTRACE_REC_PAD = 0,
	UTRACE_REC_LOST = 1,
	UTRACE_REC_SYS_ENTER = 2,
	UTRACE_REC_SYS_EXIT = 3,
	UTRACE_REC_FORK = 4,
	UTRACE_REC_EXEC = 5,
	UTRACE_REC_EXIT = 6,
	UTRACE_REC_SIGNAL = 7,
	UTRACE_REC_JOBCTL = 8,
	UTRACE_REC_HIDDEN = 9,
	UTRACE_REC_TARGET_END = 10,
	UTRACE_REC_SYS_CALL = 11,
	UTRACE_REC_MARKER = 12,
	UTRACE_REC_USER_EVENT = 13,
};

/* utrace_rec.flags */
#define UTRACE_REC_F_TRUNCATED	0x0001	/* an item has UTRACE_ITEM_F_TRUNCATED */
#define UTRACE_REC_F_FAULTED	0x0002	/* an item has UTRACE_ITEM_F_FAULTED */
#define UTRACE_REC_F_INCOMPLETE	0x0004	/* there is a UTRACE_ITEM_MISSING */
#define UTRACE_REC_F_UNPAIRED	0x0008	/* SYS_EXIT: without an entry */
#define UTRACE_REC_F_HIDDEN		0x0010	/* EXIT: of a hidden task, code is 0 */
#define UTRACE_REC_F_IN_FLIGHT	0x0020	/* SYS_ENTER: of a call begun before */
#define UTRACE_REC_F_UNNUMBERED	0x0040	/* written for the task by another one */

/**
 * struct utrace_rec - header of a record
 * @size: bytes of the record, with header and items: a multiple of 8
 * @type: enum utrace_rec_type
 * @items: offset of the first struct utrace_item; 0: there is none
 * @time: time of the event, in ns of CLOCK_MONOTONIC
 * @task: inode number of a pidfd of the thread; 0: the record is about no task
 * @pid: id of the process in the pid namespace of the opener, or 0
 * @tid: id of the task, as @pid
 * @number: counts the records about the task, from 1, modulo 2^32; 0 without a task
 *	and with %UTRACE_REC_F_UNNUMBERED
 * @target: id of the target, from %UTRACE_IOC_ATTACH
 * @settings: number of the settings, from %UTRACE_IOC_EVENTS, or 0
 * @cpu: the CPU that the record was written on
 * @flags: %UTRACE_REC_F_* bits
 */
struct utrace_rec {
	__u32 size;
	__u16 type;
	__u16 items;
	__u64 time;
	__u64 task;
	__s32 pid;
	__s32 tid;
	__u32 number;
	__u32 target;
	__u32 settings;
	__u16 cpu;
	__u16 flags;
};

/**
 * struct utrace_rec_lost - records were lost here
 * @head: header; @head.target is 0 for records of several targets
 * @lost: number of records for which CPU @head.cpu had no room
 */
struct utrace_rec_lost {
	struct utrace_rec head;
	__u64 lost;
};

/*
 * Numbers of calls, in records, lists and counts.  Those of the 32-bit table
 * (asm/unistd_32.h) are or-ed with this bit.  x32 has the bit of asm/unistd_x32.h.
 */
#define UTRACE_NR_IA32		0x20000000

/*
 * No call.  In records: the exit of a sigreturn, or a number that a program has
 * passed with the bit UTRACE_NR_IA32 or with this value.  In lists and counts:
 * all numbers that are in no table.
 */
#define UTRACE_NR_NONE		0x1fffffff

/**
 * struct utrace_rec_sys_enter - the task makes a system call
 * @head: header, with %UTRACE_REC_F_IN_FLIGHT if it is later than the entry
 * @nr: number of the call, see %UTRACE_NR_IA32 and %UTRACE_NR_NONE
 * @asked: number that the program has passed if @nr is %UTRACE_NR_NONE
 * @began: when the call was made, in ns; 0: not known
 * @args: arguments, as in the registers
 */
struct utrace_rec_sys_enter {
	struct utrace_rec head;
	__u32 nr;
	__u32 asked;
	__u64 began;
	__u64 args[6];
};

/**
 * struct utrace_rec_sys_exit - a system call of the task ends
 * @head: header, with %UTRACE_REC_F_UNPAIRED if no entry was reported
 * @nr: as in struct utrace_rec_sys_enter
 * @asked: as in struct utrace_rec_sys_enter, but for a sigreturn
 * @ret: result of the call; from -4095 to -1: a negative errno
 */
struct utrace_rec_sys_exit {
	struct utrace_rec head;
	__u32 nr;
	__u32 asked;
	__s64 ret;
};

/**
 * struct utrace_rec_sys_call - entry and exit of a system call, written at its
 *	end
 * @head: header; items of the entry and then of the exit follow
 * @nr: as in struct utrace_rec_sys_enter
 * @asked: as in struct utrace_rec_sys_enter
 * @ret: as in struct utrace_rec_sys_exit
 * @began: when the call was made, in ns; 0: not known
 * @args: as in struct utrace_rec_sys_enter
 */
struct utrace_rec_sys_call {
	struct utrace_rec head;
	__u32 nr;
	__u32 asked;
	__s64 ret;
	__u64 began;
	__u64 args[6];
};

/**
 * struct utrace_rec_fork - the task has created a thread or a process
 * @head: header, about the task that creates
 * @child_task: the child, as @head.task
 * @child_pid: id of its process, as @head.pid
 * @child_tid: its id, as @head.tid
 * @flags: %CLONE_* bits
 * @exit_signal: number of the signal that the parent gets at the child's end,
 *	or 0
 * @reserved: 0
 */
struct utrace_rec_fork {
	struct utrace_rec head;
	__u64 child_task;
	__s32 child_pid;
	__s32 child_tid;
	__u64 flags;
	__s32 exit_signal;
	__u32 reserved;
};

/**
 * struct utrace_rec_exec - the task runs a new program
 * @head: header, with the ids after the execve(2)
 * @old_task: @head.task of the records before
 * @old_tid: @head.tid of the records before
 * @reserved: 0
 */
struct utrace_rec_exec {
	struct utrace_rec head;
	__u64 old_task;
	__s32 old_tid;
	__u32 reserved;
};

/**
 * struct utrace_rec_exit - the task exits
 * @head: header
 * @code: status of this thread in the form of wait(2)
 * @exec_tid: id of the thread whose execve(2) ends this leader; else 0
 */
struct utrace_rec_exit {
	struct utrace_rec head;
	__s32 code;
	__s32 exec_tid;
};

/**
 * struct utrace_rec_signal - the task takes a signal
 * @head: header
 * @info: siginfo_t of a 64-bit program
 * @handler: sa_handler of sigaction(2), 0 for SIG_DFL
 * @flags: sa_flags
 */
struct utrace_rec_signal {
	struct utrace_rec head;
	__u8 info[128];
	__u64 handler;
	__u64 flags;
};

/**
 * struct utrace_rec_jobctl - the process of the task stops or continues
 * @head: header
 * @type: CLD_STOPPED or CLD_CONTINUED of waitid(2)
 * @notify: what this task reports to the parent, as @type; 0: nothing
 * @signal: number of the signal that stops the process, or 0
 * @reserved: 0
 */
struct utrace_rec_jobctl {
	struct utrace_rec head;
	__s32 type;
	__s32 notify;
	__s32 signal;
	__u32 reserved;
};

/**
 * enum utrace_end - why a target has ended
 * @UTRACE_END_EXITED: all its tasks have exited
 * @UTRACE_END_DETACHED: %UTRACE_IOC_DETACH
 */
enum utrace_end {
	UTRACE_END_EXITED = 1,
	UTRACE_END_DETACHED = 2,
};

/**
 * struct utrace_rec_target_end - a target has ended
 * @head: header, with the id of the target; about no task
 * @why: enum utrace_end
 * @reserved: 0
 * @lost: number of records of the target that were lost in all
 */
struct utrace_rec_target_end {
	struct utrace_rec head;
	__u32 why;
	__u32 reserved;
	__u64 lost;
};

/**
 * struct utrace_rec_marker - a task has hit a marker
 * @head: header
 * @cookie: see struct utrace_ioc_arm
 * @ip: address of the marker, or of the function that returns
 * @nargs: number of arguments
 * @args_offset: offset of the arguments in the record: an array of __u64, sign- or
 *	zero-extended
 * @faulted: bit n: argument n could not be read, and is 0
 */
struct utrace_rec_marker {
	struct utrace_rec head;
	__u64 cookie;
	__u64 ip;
	__u16 nargs;
	__u16 args_offset;
	__u32 faulted;
};

/* Maximum number of bytes of a write that are recorded. */
#define UTRACE_USER_EVENT_MAX	1024

/**
 * struct utrace_rec_user_event - a task has written a user_event
 * @head: header
 * @cookie: see struct utrace_ioc_arm
 * @size: bytes that the task has written, without the index of the event
 * @data_size: number of these in the record, at most %UTRACE_USER_EVENT_MAX
 * @data_offset: offset of these in the record
 */
struct utrace_rec_user_event {
	struct utrace_rec head;
	__u64 cookie;
	__u32 size;
	__u16 data_size;
	__u16 data_offset;
};

/* utrace_ioc_events.events: the bit of a type, as UTRACE_REC_BIT(FORK). */
#define UTRACE_REC_BIT(type)	(1ULL << UTRACE_REC_##type)

/* utrace_ioc_events.capture: what is captured with system calls */
#define UTRACE_CAPTURE_STRINGS	0x01	/* strings and paths, argv */
#define UTRACE_CAPTURE_BUFFERS	0x02	/* memory, also by struct iovec */
#define UTRACE_CAPTURE_SOCKETS	0x04	/* struct sockaddr */
#define UTRACE_CAPTURE_FILES	0x08	/* the paths behind descriptors */
#define UTRACE_CAPTURE_STACK	0x10	/* UTRACE_ITEM_STACK */
#define UTRACE_CAPTURE_RAW_STACK 0x20	/* UTRACE_ITEM_RAW_STACK */
#define UTRACE_CAPTURE_STRUCTS	0x40	/* structures, and what they point to */

/**
 * enum utrace_scope - the kinds of &struct utrace_where
 * @UTRACE_SCOPE_THREAD: the task of a pidfd
 * @UTRACE_SCOPE_PROCESS: the process of a pidfd, with future threads
 * @UTRACE_SCOPE_TREE: that process with its present and future descendants
 * @UTRACE_SCOPE_SYSTEM: all user tasks
 * @UTRACE_SCOPE_CGROUP: the tasks in a cgroup of version 2 and below it
 * @UTRACE_SCOPE_EXE: the tasks that run an executable file
 * @UTRACE_SCOPE_CPU: all that runs on a CPU
 */
enum utrace_scope {
	UTRACE_SCOPE_THREAD = 1,
	UTRACE_SCOPE_PROCESS = 2,
	UTRACE_SCOPE_TREE = 3,
	UTRACE_SCOPE_SYSTEM = 4,
	UTRACE_SCOPE_CGROUP = 5,
	UTRACE_SCOPE_EXE = 6,
	UTRACE_SCOPE_CPU = 7,
};

/* The bit of a scope, as UTRACE_SCOPE_BIT(TREE). */
#define UTRACE_SCOPE_BIT(scope)	(1U << UTRACE_SCOPE_##scope)

/**
 * struct utrace_where - the tasks, or the CPU, that an ioctl is about
 * @scope: enum utrace_scope; never 0
 * @fd: pidfd, directory of a cgroup or executable file, by @scope; else -1
 * @cpu: number of a CPU for %UTRACE_SCOPE_CPU; else 0
 * @flags: 0
 * @reserved: 0
 */
struct utrace_where {
	__u32 scope;
	__s32 fd;
	__u32 cpu;
	__u32 flags;
	__u64 reserved;
};

/**
 * struct utrace_rows - an array that the kernel fills in
 * @at: pointer to @n elements
 * @n: number of elements; the kernel writes how many it has filled in
 * @size: bytes of an element as the program knows it, 4096 at most
 * @total: the kernel writes how many elements there are
 * @reserved: 0
 */
struct utrace_rows {
	__u64 at;
	__u32 n;
	__u32 size;
	__u32 total;
	__u32 reserved;
};

/**
 * enum utrace_full - what happens to a record if the ring has no room
 * @UTRACE_FULL_DEFAULT: STOP for threads, processes and trees, else DROP
 * @UTRACE_FULL_STOP: the task waits for the reader
 * @UTRACE_FULL_DROP: the record is lost, and counted
 * @UTRACE_FULL_OVERWRITE: the record replaces the oldest one; only for branches
 */
enum utrace_full {
	UTRACE_FULL_DEFAULT = 0,
	UTRACE_FULL_STOP = 1,
	UTRACE_FULL_DROP = 2,
	UTRACE_FULL_OVERWRITE = 3,
};

/**
 * struct utrace_ioc_info - %UTRACE_IOC_INFO: the kernel, and the session so far
 * @events: UTRACE_REC_BIT() bits that the kernel has
 * @capture: %UTRACE_CAPTURE_* bits that the kernel has
 * @scopes: UTRACE_SCOPE_BIT() bits of what %UTRACE_IOC_ATTACH takes
 * @arm: UTRACE_ARM_BIT() bits of what %UTRACE_IOC_ARM takes
 * @count: %UTRACE_COUNT_* bits that the kernel has
 * @targets: number of targets that have not ended
 * @rings: number of rings, one for each possible CPU; 0: none yet
 * @sources: UTRACE_BRANCH_SOURCE_BIT() bits of what %UTRACE_IOC_BRANCHES takes
 * @ring_size: bytes of each ring, a power of 2
 * @map_size: bytes of the area of %UTRACE_MAP_RINGS, or 0
 * @tails_size: bytes of the area of %UTRACE_MAP_TAILS, or 0
 * @records: number of records so far
 * @lost: number of records that were lost
 * @hidden: number of UTRACE_REC_HIDDEN
 * @uncaptured: sum of the numbers in UTRACE_ITEM_MISSING
 * @missed: number of events not recorded for lack of memory for their tasks
 * @parked: number of records without room that wait for read(2) now
 * @waits: number of times that a task had to wait for the reader
 *
 * The kernel writes all members and reads none.
 */
struct utrace_ioc_info {
	__u64 events;
	__u64 capture;
	__u32 scopes;
	__u32 arm;
	__u32 count;
	__u32 targets;
	__u32 rings;
	__u32 sources;
	__u64 ring_size;
	__u64 map_size;
	__u64 tails_size;
	__u64 records;
	__u64 lost;
	__u64 hidden;
	__u64 uncaptured;
	__u64 missed;
	__u64 parked;
	__u64 waits;
};

/* utrace_ioc_setup.flags */
#define UTRACE_SETUP_F_MAPPED	0x01	/* the program maps the rings */

/**
 * struct utrace_ioc_setup - %UTRACE_IOC_SETUP: make the rings
 * @rings_size: bytes of all rings together, 64 KiB to 64 MiB; 0: 1 MiB
 * @delay: time from a record to the wakeup of a waiting reader, in ns, 1 s at
 *	most; 0: 10 ms
 * @full: enum utrace_full, but not OVERWRITE
 * @flags: %UTRACE_SETUP_F_MAPPED
 */
struct utrace_ioc_setup {
	__u64 rings_size;
	__u64 delay;
	__u32 full;
	__u32 flags;
};

/* Size in bytes of the smallest ring of a CPU. */
#define UTRACE_RING_MIN		32768

/*
 * Offsets for mmap(2) of a session with %UTRACE_SETUP_F_MAPPED, or of a
 * consumer with %UTRACE_BRANCHES_F_MAPPED: struct utrace_map, the struct
 * utrace_map_ring and the data of the rings, read-only; and a writable struct
 * utrace_map_tail for each ring.
 */
#define UTRACE_MAP_RINGS	0x00000000
#define UTRACE_MAP_TAILS	0x10000000

/**
 * struct utrace_map - start of the area of %UTRACE_MAP_RINGS; 64 bytes
 * @header_size: bytes from here to the first struct utrace_map_ring
 * @ring_stride: bytes from one struct utrace_map_ring to the next
 * @rings: number of rings
 * @unit: bytes that heads and tails count in: 1, or 24 for branches
 * @data_offset: bytes from here to the data of the first ring
 * @data_size: bytes of the data of each ring; that of the next one follows
 * @parked: number of records that are in no ring and wait for read(2)
 * @reserved: 0
 */
struct utrace_map {
	__u32 header_size;
	__u32 ring_stride;
	__u32 rings;
	__u32 unit;
	__u64 data_offset;
	__u64 data_size;
	__u64 parked;
	__u64 reserved[3];
};

/**
 * struct utrace_map_ring - what the kernel writes about one ring; 64 bytes
 * @head: units ever written, padding included
 * @last: time of the last record in ns, or 0
 * @open: 1: a record is being written, and its time is @last or later
 * @reserved: 0
 * @lost: lost branches that no record in the ring reports
 * @reserved2: 0
 */
struct utrace_map_ring {
	__u64 head;
	__u64 last;
	__u32 open;
	__u32 reserved;
	__u64 lost;
	__u64 reserved2[4];
};

/**
 * struct utrace_map_tail - what the program writes about one ring; 64 bytes
 * @tail: units ever read, padding included
 * @reserved: 0
 */
struct utrace_map_tail {
	__u64 tail;
	__u64 reserved[7];
};

/**
 * struct utrace_ioc_attach - %UTRACE_IOC_ATTACH: attach the session to tasks
 * @where: the tasks, by a scope other than %UTRACE_SCOPE_CPU
 * @flags: 0
 * @id: the kernel writes the id of the target, 1 or more
 */
struct utrace_ioc_attach {
	struct utrace_where where;
	__u32 flags;
	__u32 id;
};

/**
 * struct utrace_ioc_detach - %UTRACE_IOC_DETACH: end a target
 * @id: id of the target
 * @flags: 0
 */
struct utrace_ioc_detach {
	__u32 id;
	__u32 flags;
};

/**
 * struct utrace_ioc_events - %UTRACE_IOC_EVENTS: choose what is recorded
 * @events: UTRACE_REC_BIT() bits; SYS_CALL excludes SYS_ENTER and SYS_EXIT
 * @capture: %UTRACE_CAPTURE_* bits
 * @calls: pointer to the __u32 numbers of the calls, %UTRACE_NR_NONE among them
 * @ncalls: number of elements of @calls, 4096 at most; 0: all calls
 * @target: id of a target; 0: all targets, present and future
 * @settings: the kernel writes the number that &utrace_rec.settings has
 * @count: %UTRACE_COUNT_* bits
 * @string_size: bytes that strings, paths and structures may have; 0:
 *	%UTRACE_ITEM_SIZE
 * @buffer_size: bytes that %UTRACE_ITEM_BYTES may have; 0: %UTRACE_ITEM_SIZE
 */
struct utrace_ioc_events {
	__u64 events;
	__u64 capture;
	__u64 calls;
	__u32 ncalls;
	__u32 target;
	__u32 settings;
	__u32 count;
	__u32 string_size;
	__u32 buffer_size;
};

/* Bytes of a captured item, without its header: by default, and at most. */
#define UTRACE_ITEM_SIZE	488
#define UTRACE_ITEM_SIZE_MAX	4096

/* utrace_ioc_events.count; CPU alone is EINVAL. */
#define UTRACE_COUNT_CALLS	0x01	/* count, with durations and errors */
#define UTRACE_COUNT_CPU	0x02	/* and the CPU time, which costs more */

/*
 * Entry n counts the durations from 2^(n-1) ns to less than 2^n ns, entry 0
 * those below 1 ns, the last entry those of 2^30 ns and more.
 */
#define UTRACE_CALL_DURATIONS	32

/* Number of different errnos that are counted for a call. */
#define UTRACE_CALL_ERRORS	7

/**
 * struct utrace_call_count - counts of one system call of one task
 * @task: see &utrace_rec.task; 0: the sum over merged dead tasks
 * @pid: see &utrace_rec.pid
 * @tid: see &utrace_rec.tid
 * @comm: name of the task, with a NUL
 * @nr: number of the call; %UTRACE_NR_NONE: sigreturn, and all that are in no
 *	table
 * @alive: 1: the task exists, if only as a zombie; else 0
 * @calls: calls that have ended, 1 or more
 * @errors: calls among @calls that returned an error
 * @total: sum of the durations, in ns
 * @min: shortest duration, in ns
 * @max: longest duration, in ns
 * @cpu: CPU time used in the calls of @cpu_calls, in ns
 * @cpu_calls: calls among @calls whose CPU time was measured
 * @durations: number of calls by duration
 * @errno_calls: number of errors by errno, as in @err
 * @errno_other: errors with an errno that is not in @err
 * @err: errno in the order of the first error; 0: not used
 * @reserved: 0
 */
struct utrace_call_count {
	__u64 task;
	__s32 pid;
	__s32 tid;
	char comm[16];
	__u32 nr;
	__u32 alive;
	__u64 calls;
	__u64 errors;
	__u64 total;
	__u64 min;
	__u64 max;
	__u64 cpu;
	__u64 cpu_calls;
	__u32 durations[UTRACE_CALL_DURATIONS];
	__u32 errno_calls[UTRACE_CALL_ERRORS];
	__u32 errno_other;
	__u16 err[UTRACE_CALL_ERRORS];
	__u16 reserved;
};

/**
 * struct utrace_ioc_counts - %UTRACE_IOC_COUNTS: read what was counted
 * @rows: elements of struct utrace_call_count
 * @cursor: where to continue: 0 at first, then what the kernel has written
 * @cursor_row: as @cursor
 * @reserved: 0
 * @lost: the kernel writes the number of calls that were not counted
 * @merged: the kernel writes the number of dead tasks whose counts were merged
 */
struct utrace_ioc_counts {
	struct utrace_rows rows;
	__u64 cursor;
	__u32 cursor_row;
	__u32 reserved;
	__u64 lost;
	__u64 merged;
};

/**
 * struct utrace_ioc_in_flight - %UTRACE_IOC_IN_FLIGHT: record the system calls
 *	that tasks are blocked in
 * @target: id of a target; 0: all targets of threads, processes and trees
 * @flags: 0
 * @written: the kernel writes the number of records that it has written
 * @lost: the kernel writes the number of records for which there was no room
 * @busy: the kernel writes the number of tasks skipped because they call
 *	execve(2)
 * @reserved: 0
 */
struct utrace_ioc_in_flight {
	__u32 target;
	__u32 flags;
	__u32 written;
	__u32 lost;
	__u32 busy;
	__u32 reserved;
};

/* Sizes of the first versions of the structures; less is EINVAL. */
#define UTRACE_IOC_INFO_SIZE_VER0	120
#define UTRACE_IOC_SETUP_SIZE_VER0	24
#define UTRACE_IOC_ATTACH_SIZE_VER0	32
#define UTRACE_IOC_DETACH_SIZE_VER0	8
#define UTRACE_IOC_EVENTS_SIZE_VER0	48
#define UTRACE_IOC_COUNTS_SIZE_VER0	56
#define UTRACE_IOC_IN_FLIGHT_SIZE_VER0	24
#define UTRACE_CALL_COUNT_SIZE_VER0	272

/*
 * The ioctls.  <linux/utrace_branch.h> and <linux/utrace_marker.h> have 0x07 to
 * 0x0C.  0x10 to 0x14 are reserved for CONTROL, REGS, MEMORY, FILTER and RING.
 */
#define UTRACE_IOC_INFO		_IOWR(0xBC, 0x00, struct utrace_ioc_info)
#define UTRACE_IOC_SETUP	_IOWR(0xBC, 0x01, struct utrace_ioc_setup)
#define UTRACE_IOC_ATTACH	_IOWR(0xBC, 0x02, struct utrace_ioc_attach)
#define UTRACE_IOC_DETACH	_IOWR(0xBC, 0x03, struct utrace_ioc_detach)
#define UTRACE_IOC_EVENTS	_IOWR(0xBC, 0x04, struct utrace_ioc_events)
#define UTRACE_IOC_COUNTS	_IOWR(0xBC, 0x05, struct utrace_ioc_counts)
#define UTRACE_IOC_IN_FLIGHT	_IOWR(0xBC, 0x06, struct utrace_ioc_in_flight)

#endif /* _UAPI_LINUX_UTRACE_H */
