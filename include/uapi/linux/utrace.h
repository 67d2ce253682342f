/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - tracing through /dev/utrace
 *
 * An open file of the device is a session.  Commands attach it to targets and
 * choose the events that are recorded; the records come from read(2), or from
 * rings that are mapped.  The session ends when its last descriptor is closed.
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
#define UTRACE_IOC_VERSION_NOW	5

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

/* Types of records. */
enum utrace_rec_type {
	UTRACE_REC_PAD,		/* no record; to be skipped in a mapped ring */
	UTRACE_REC_LOST,	/* struct utrace_rec_lost */
	UTRACE_REC_SYS_ENTER,	/* struct utrace_rec_sys_enter, items */
	UTRACE_REC_SYS_EXIT,	/* struct utrace_rec_sys_exit, items */
	UTRACE_REC_FORK,	/* struct utrace_rec_fork */
	UTRACE_REC_EXEC,	/* struct utrace_rec_exec, EXE, ARGV, CWD, CREDS */
	UTRACE_REC_EXIT,	/* struct utrace_rec_exit */
	UTRACE_REC_SIGNAL,	/* struct utrace_rec_signal */
	UTRACE_REC_JOBCTL,	/* struct utrace_rec_jobctl */
	UTRACE_REC_HIDDEN,	/* struct utrace_rec: the task is hidden now */
	UTRACE_REC_TARGET_END,	/* struct utrace_rec_target_end */
	UTRACE_REC_SYS_CALL,	/* struct utrace_rec_sys_call, items */
	UTRACE_REC_TYPES
};

/* utrace_rec.flags */
#define UTRACE_F_TRUNCATED	0x0001	/* an item is not complete */
#define UTRACE_F_FAULTED	0x0002	/* memory of an item could not be read */
#define UTRACE_F_INCOMPLETE	0x0004	/* items had no room or no memory */
#define UTRACE_F_UNPAIRED	0x0008	/* the session has not seen the entry */
#define UTRACE_F_HIDDEN		0x0010	/* of a hidden task: values are 0 */
#define UTRACE_F_IN_FLIGHT	0x0020	/* the call began before the record */

/**
 * struct utrace_rec - header of a record
 * @size: size of the record in bytes, with this header and the items; a
 *	multiple of 8
 * @type: enum utrace_rec_type
 * @items: offset in bytes from this header to the first struct utrace_item, 0
 *	if the record has no items
 * @time: when the event was recorded, in ns of CLOCK_MONOTONIC.  Records of one
 *	task have times that grow
 * @task: the task, by a number that no other task gets until the next boot: the
 *	inode number of a pidfd of the thread.  0 if the record is about no task
 * @pid: id of the process of the task in the pid namespace of the opener of the
 *	session, 0 if the process has none there
 * @tid: id of the task, as @pid
 * @number: the task's own number of the record, from 1, modulo 2^32.  Records
 *	that are lost have numbers too
 * @target: id of the target that the record was made for, from
 *	UTRACE_IOC_ATTACH
 * @settings: the settings by which the record was made, from UTRACE_IOC_EVENTS,
 *	or 0 before the first UTRACE_IOC_EVENTS
 * @cpu: the CPU that the task was on
 * @flags: UTRACE_F_ bits
 *
 * All other structures of records begin with this header.
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

/*
 * Before the next record of @head.cpu there was no room for @lost records of
 * @head.target, or of several targets if that is 0.
 */
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

/*
 * The task makes a system call, and made it at @began: head.time unless the
 * record has UTRACE_F_IN_FLIGHT, 0 if that is not known.
 */
struct utrace_rec_sys_enter {
	struct utrace_rec head;
	__u32 nr;
	__u32 reserved;
	__u64 began;
	__u64 args[6];
};

/* A system call of the task is over; @ret is its result. */
struct utrace_rec_sys_exit {
	struct utrace_rec head;
	__u32 nr;
	__u32 reserved;
	__s64 ret;
};

/*
 * A whole system call, from @began to head.time.  Its items are those of the
 * entry and then those of the exit.
 */
struct utrace_rec_sys_call {
	struct utrace_rec head;
	__u32 nr;
	__u32 reserved;
	__s64 ret;
	__u64 began;
	__u64 args[6];
};

/*
 * The task has created a thread or a process.  @child_task and the ids are as
 * in the header; the low byte of @flags is the exit signal.
 */
struct utrace_rec_fork {
	struct utrace_rec head;
	__u64 child_task;
	__s32 child_pid;
	__s32 child_tid;
	__u64 flags;			/* CLONE_* */
};

/*
 * The task runs a new program.  execve() of a thread that is not the leader of
 * its process gives the thread the leader's @task and @tid; @old_task and
 * @old_tid are those from before, which earlier records have.
 */
struct utrace_rec_exec {
	struct utrace_rec head;
	__u64 old_task;
	__s32 old_tid;
	__u32 reserved;
};

/* The task exits; @code is 0 if the record has UTRACE_F_HIDDEN. */
struct utrace_rec_exit {
	struct utrace_rec head;
	__s32 code;			/* status as of wait(2) */
	__u32 reserved;
};

/* The task takes a signal. */
struct utrace_rec_signal {
	struct utrace_rec head;
	__u8 info[128];			/* siginfo_t */
	__u64 handler;			/* sa_handler */
	__u64 flags;			/* sa_flags */
};

/* Job control stops or continues the process of the task. */
struct utrace_rec_jobctl {
	struct utrace_rec head;
	__s32 type;			/* CLD_STOPPED or CLD_CONTINUED */
	__s32 notify;			/* what the parent is told, or 0 */
};

/* utrace_rec_target_end.why */
enum utrace_end {
	UTRACE_END_NOT,		/* the target has not ended */
	UTRACE_END_EXITED,	/* all tasks of the target have exited */
	UTRACE_END_DETACHED,	/* UTRACE_IOC_DETACH */
};

/*
 * The target @head.target is over, and no record of it follows but those of
 * tasks that are on their way out of an event.  @lost records of it were lost
 * in all.
 */
struct utrace_rec_target_end {
	struct utrace_rec head;
	__u32 why;			/* enum utrace_end */
	__u32 reserved;
	__u64 lost;
};

/*
 * utrace_ioc_events.events: the events that are recorded.  SYS_CALL stands for
 * SYS_ENTER and SYS_EXIT in one record, and excludes both.  LOST, HIDDEN and
 * TARGET_END are always recorded.
 */
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
	UTRACE_SCOPE_CGROUP,	/* the tasks in a cgroup and those below it */
	UTRACE_SCOPE_EXE,	/* the tasks that run an executable file */
};

/* utrace_ioc_setup.full: what happens to a record that finds no room. */
enum utrace_full {
	UTRACE_FULL_DEFAULT,	/* STOP, and DROP where STOP is not possible */
	UTRACE_FULL_STOP,	/* the task waits for the reader */
	UTRACE_FULL_DROP,	/* the record is lost, and counted */
};

/**
 * struct utrace_ioc_info - abilities of the kernel, and counts of the session
 * @version: UTRACE_IOC_VERSION_NOW of the kernel
 * @cpus: number of rings; 0 if the session has none yet
 * @events: UTRACE_REC_BIT() bits that the kernel has
 * @capture: UTRACE_CAPTURE_ALL of the kernel
 * @ring_size: size of each ring in bytes, a power of 2; 0 if the session has
 *	none yet
 * @records: number of records so far, without those that were lost
 * @lost: number of records that were lost
 * @hidden: how often a task became hidden; each time there was a
 *	UTRACE_REC_HIDDEN
 * @uncaptured: sum of the numbers in UTRACE_ITEM_MISSING
 * @missed: number of events under system scope that the session was not told
 *	of, since the kernel had no memory for their tasks
 * @parked: number of records that are held back with their tasks now, since
 *	they found no room
 * @waits: how often a task had to wait for the reader
 * @targets: number of targets that have not ended
 * @reserved: 0
 */
struct utrace_ioc_info {
	__u32 version;
	__u32 cpus;
	__u64 events;
	__u64 capture;
	__u64 ring_size;
	__u64 records;
	__u64 lost;
	__u64 hidden;
	__u64 uncaptured;
	__u64 missed;
	__u64 parked;
	__u64 waits;
	__u32 targets;
	__u32 reserved;
};

/**
 * struct utrace_ioc_setup - settings that are made before the first attach
 * @ring_size: size of all rings together in bytes, from 64 KiB to 64 MiB; 0
 *	stands for 1 MiB.  Each CPU gets an equal part, rounded down to a power
 *	of 2, but no less than UTRACE_RING_MIN.  More than 1 MiB needs
 *	CAP_SYS_RESOURCE
 * @delay: a reader that waits is woken so many ns after a record at the latest,
 *	and at once when a ring is half full; 0 stands for 10 ms, 1 s is the
 *	most
 * @full: enum utrace_full
 * @flags: 0
 */
struct utrace_ioc_setup {
	__u64 ring_size;
	__u64 delay;
	__u32 full;
	__u32 flags;
};

/* Size in bytes of the smallest ring of a CPU. */
#define UTRACE_RING_MIN		16384

/*
 * Mapped rings.  mmap(2) of a session that has rings, with one of these
 * offsets and the size below, shares them with the program:
 *
 * UTRACE_MAP_RINGS, with PROT_READ: struct utrace_stream, struct utrace_ring
 * for each CPU, all that padded to whole pages, then the data of the rings,
 * utrace_ioc_info.ring_size bytes for each CPU.
 *
 * UTRACE_MAP_TAILS, with PROT_READ | PROT_WRITE: struct utrace_ring_tail for
 * each CPU, padded to whole pages.
 *
 * From the first mmap(2) of UTRACE_MAP_TAILS on, read(2) gives only records
 * that had no room in the rings.  Documentation/trace/utrace/dev.rst has the
 * rules of a reader, and an example.
 */
#define UTRACE_MAP_RINGS	0x00000000
#define UTRACE_MAP_TAILS	0x80000000

/**
 * struct utrace_stream - what the kernel tells of all rings; 64 bytes
 * @parked: number of records that had no room in the rings, for read(2)
 * @reserved: 0
 */
struct utrace_stream {
	__u64 parked;
	__u64 reserved[7];
};

/**
 * struct utrace_ring - what the kernel tells of one ring; 64 bytes
 * @head: bytes ever written, padding included; a record begins at @head modulo
 *	the size of the ring
 * @last: time of the last record in ns
 * @open: a record is being written; its time is @last or later
 * @reserved: 0
 * @reserved2: 0
 */
struct utrace_ring {
	__u64 head;
	__u64 last;
	__u32 open;
	__u32 reserved;
	__u64 reserved2[5];
};

/**
 * struct utrace_ring_tail - what the program tells of one ring; 64 bytes
 * @tail: bytes ever read, padding included
 * @reserved: 0
 */
struct utrace_ring_tail {
	__u64 tail;
	__u64 reserved[7];
};

/**
 * struct utrace_ioc_attach - attach the session to tasks
 * @fd: a pidfd; for UTRACE_SCOPE_CGROUP the folder of a cgroup, for
 *	UTRACE_SCOPE_EXE an executable file, for UTRACE_SCOPE_SYSTEM -1
 * @scope: enum utrace_scope
 * @flags: 0
 * @id: 0; the kernel writes the id of the target
 */
struct utrace_ioc_attach {
	__s32 fd;
	__u32 scope;
	__u32 flags;
	__u32 id;
};

/**
 * struct utrace_ioc_events - choose what is recorded
 * @events: UTRACE_REC_BIT() bits
 * @capture: bits from UTRACE_CAPTURE_STRINGS to UTRACE_CAPTURE_RAW_STACK
 * @calls: pointer to the __u32 numbers of the system calls that are recorded,
 *	or-ed with UTRACE_REC_IA32 for those of the 32-bit table; 0xffffffff
 *	stands for all numbers that are in no table
 * @ncalls: number of elements of @calls; 0 for all system calls, and @calls is
 *	0 then
 * @target: id of the target that this is for; 0 for all targets, and for those
 *	that are attached later
 * @settings: 0; the kernel writes the number that the records made by these
 *	settings have in utrace_rec.settings
 * @count: UTRACE_COUNT_ bits: count calls, for UTRACE_IOC_COUNTS, whether they
 *	are recorded or not
 */
struct utrace_ioc_events {
	__u64 events;
	__u64 capture;
	__u64 calls;
	__u32 ncalls;
	__u32 target;
	__u32 settings;
	__u32 count;
};

/* utrace_ioc_events.count */
#define UTRACE_COUNT_CALLS	0x01	/* count, with durations and errors */
#define UTRACE_COUNT_CPU	0x02	/* and the CPU time, which costs more */
#define UTRACE_COUNT_ALL	0x03

/*
 * Durations are sorted by their logarithm: entry n has those below 2^n ns that
 * are in no entry before it, the last entry those of 2^30 ns and more.
 */
#define UTRACE_COUNT_DURATIONS	32

/* Errors of a call that are told apart by their errno. */
#define UTRACE_COUNT_ERRORS	7

/**
 * struct utrace_call_count - counts of one system call of one task
 * @task: the task, see utrace_rec.task
 * @pid: see utrace_rec.pid
 * @tid: see utrace_rec.tid
 * @comm: name of the task, or its last name if it is dead
 * @nr: number of the call; UTRACE_REC_NO_CALL stands for all that are no call
 * @alive: 1: the task is not gone yet, else 0
 * @calls: calls that are over
 * @errors: calls among @calls that returned an error
 * @total: sum of the durations, in ns
 * @min: shortest duration, in ns
 * @max: longest duration, in ns
 * @cpu: CPU time used in the calls of @cpu_calls, in ns
 * @cpu_calls: calls among @calls whose CPU time was measured
 * @durations: number of calls by duration
 * @errno_calls: number of errors by errno; entry i belongs to entry i of @err
 * @errno_other: errors with an errno that found no room in @err
 * @err: errno in the order of the first error with it; 0: not used
 * @reserved: 0
 *
 * A number of 32 bits that has reached its maximum stays there.
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
	__u32 durations[UTRACE_COUNT_DURATIONS];
	__u32 errno_calls[UTRACE_COUNT_ERRORS];
	__u32 errno_other;
	__u16 err[UTRACE_COUNT_ERRORS];
	__u16 reserved;
};

/**
 * struct utrace_ioc_counts - read what was counted
 * @rows: pointer to @n elements of struct utrace_call_count
 * @n: number of elements; the kernel writes how many it has filled in, and
 *	less than there is room for if there are no more
 * @place: where to go on: 0 at first, then what the kernel has written in
 *	@task and @place
 * @task: see @place
 * @lost: the kernel writes the number of calls that were not counted, for want
 *	of room or memory
 * @dropped: the kernel writes the number of dead tasks whose counts were
 *	removed to make room
 */
struct utrace_ioc_counts {
	__u64 rows;
	__u32 n;
	__u32 place;
	__u64 task;
	__u64 lost;
	__u64 dropped;
};

/* Sizes of the structures in version 4; a smaller argument is EINVAL. */
#define UTRACE_IOC_INFO_SIZE_VER0	96
#define UTRACE_IOC_SETUP_SIZE_VER0	24
#define UTRACE_IOC_ATTACH_SIZE_VER0	16
#define UTRACE_IOC_DETACH_SIZE_VER0	4
#define UTRACE_IOC_EVENTS_SIZE_VER0	40
#define UTRACE_IOC_COUNTS_SIZE_VER0	40

#define UTRACE_IOC_INFO		_IOR(0xBC, 0x00, struct utrace_ioc_info)
#define UTRACE_IOC_SETUP	_IOW(0xBC, 0x01, struct utrace_ioc_setup)
#define UTRACE_IOC_ATTACH	_IOWR(0xBC, 0x02, struct utrace_ioc_attach)
#define UTRACE_IOC_DETACH	_IOW(0xBC, 0x03, __u32)
#define UTRACE_IOC_EVENTS	_IOWR(0xBC, 0x04, struct utrace_ioc_events)

#define UTRACE_IOC_COUNTS	_IOWR(0xBC, 0x05, struct utrace_ioc_counts)

/**
 * struct utrace_ioc_in_flight - tell which system calls tasks are blocked in
 * @target: id of a target; 0 for all but those of the system, of cgroups and of
 *	executables
 * @flags: 0
 * @told: 0; the kernel writes the number of records that it has written
 * @lost: 0; the kernel writes the number of records that found no room.  These
 *	are counted as all others that were lost, and told by UTRACE_REC_LOST
 *
 * Writes a UTRACE_REC_SYS_ENTER with UTRACE_F_IN_FLIGHT for each task that is
 * blocked in a call now.  The task is neither woken nor stopped.  The record
 * comes before that of the exit of the call, and before all later records of
 * the task, as far as CLOCK_MONOTONIC tells them apart.  It differs from those
 * that the task writes itself:
 *
 * * utrace_rec.number is 0: it is not one of the task's own records
 * * utrace_rec.cpu is the CPU of the process that made this ioctl
 * * @began is 0 unless the session has SYS_CALL records and has seen the entry
 * * nothing is captured
 *
 * Left out are tasks that run or are stopped, by job control, ptrace or an
 * engine; calls that the session does not record, or records without SYS_ENTER
 * and SYS_CALL; hidden tasks; a call whose entry the session was not told of,
 * if it has an earlier record of the task.  If the call ends later, its
 * SYS_EXIT or SYS_CALL comes as usual.
 */
struct utrace_ioc_in_flight {
	__u32 target;
	__u32 flags;
	__u32 told;
	__u32 lost;
};

#define UTRACE_IOC_IN_FLIGHT_SIZE_VER0	16

#define UTRACE_IOC_IN_FLIGHT	_IOWR(0xBC, 0x06, struct utrace_ioc_in_flight)

#endif /* _UAPI_LINUX_UTRACE_H */
