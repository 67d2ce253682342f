/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - tracing through /dev/utrace
 *
 * An open file of the device is a session.  Ioctls attach it to targets and
 * choose the events that are recorded; the records come from read(2), or from
 * rings that are mapped.  The session ends when its last descriptor and its
 * last mapping are gone.  Documentation/trace/utrace/dev.rst explains the
 * device from the beginning and has an example.
 *
 * What holds for all that is in this file:
 *
 * Layout.  Numbers have the byte order of the machine.  Each member is at a
 * multiple of its own size, and the size of a structure with a 64-bit member is
 * a multiple of 8: 32-bit and 64-bit programs have the same structures and
 * ioctl numbers.  A pointer is a __u64 that has the address in its lower bits
 * and zeros above, (__u64)(uintptr_t)pointer in C.  A buffer of records has to
 * be at a multiple of 8 if the program reads members in place; the kernel takes
 * any address.
 *
 * What a program passes.  A bit, a number of an enumeration or a size that is
 * not described here is EINVAL, and so is a member that is said to be 0 and is
 * not.  So whatever the kernel refuses now may get a meaning later, and
 * UTRACE_IOC_INFO tells which events and captures there are.
 *
 * Arguments of ioctls grow at their end.  The number of an ioctl has the size
 * of the program's structure; type and number alone say which ioctl it is.
 * Members that a program lacks are 0 for the kernel.  Members that the kernel
 * lacks must be 0, else E2BIG; where the kernel writes the structure, they are
 * 0 afterwards.  A structure of more than 4096 bytes is E2BIG, one that is
 * smaller than the first version is EINVAL.  The kernel does not look at
 * members that it only writes.
 *
 * Arrays that the kernel fills in have elements that grow in the same way, see
 * struct utrace_rows.
 *
 * What a program gets.  Members that are said to be 0 may get a meaning later,
 * so a program ignores them, and bits of flags that it does not know.  Records
 * and items may grow before what follows them: &utrace_rec.size,
 * &utrace_rec.items and &utrace_item.len tell where that is, sizeof does not.
 * A kind of item that is not known is to be skipped.  Types of records that are
 * added later come only if a program asks for them.
 */
#ifndef _UAPI_LINUX_UTRACE_H
#define _UAPI_LINUX_UTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * enum utrace_item_kind - what an item has
 * @UTRACE_ITEM_STRING: a string that an argument points to, without its NUL
 * @UTRACE_ITEM_BYTES: memory that an argument points to; of an array of struct
 *	iovec, the memory that its first 8 entries point to, joined
 * @UTRACE_ITEM_SOCKADDR: struct sockaddr of some family, as the program has it
 * @UTRACE_ITEM_FILE: the path of the file that an argument is the descriptor
 *	of, or what the kernel has in its place, such as "socket:[INODE]"
 * @UTRACE_ITEM_ARGV: strings, each with its NUL.  Of an argument: the strings
 *	of the array that it points to.  Without an argument: the memory that
 *	/proc/PID/cmdline shows, which the program may have written to
 * @UTRACE_ITEM_EXE: path of the program of the task
 * @UTRACE_ITEM_CWD: path of the working directory
 * @UTRACE_ITEM_CREDS: struct utrace_item_creds
 * @UTRACE_ITEM_STACK: __u64 addresses of code, 32 at most: the instruction
 *	pointer, then return addresses by frame pointers, innermost first
 * @UTRACE_ITEM_RAW_STACK: struct utrace_item_raw_stack, then memory; never
 *	complete, so it has %UTRACE_ITEM_TRUNCATED or %UTRACE_ITEM_FAULTED
 * @UTRACE_ITEM_MISSING: no data; @utrace_item.whole items or more are not
 *	there, since they found no room or no memory
 *
 * Paths are seen from the root directory of the task, and have no NUL.  An item
 * has %UTRACE_ITEM_SIZE bytes of data at most, unless
 * &utrace_ioc_events.string_size or @utrace_ioc_events.buffer_size allow more.
 * All items of an entry, an exit or an EXEC have 2032 bytes with their headers;
 * if longer items are allowed, all items of a record have 15 KiB.  A later
 * version may have more.
 */
enum utrace_item_kind {
	UTRACE_ITEM_STRING = 1,
	UTRACE_ITEM_BYTES,
	UTRACE_ITEM_SOCKADDR,
	UTRACE_ITEM_FILE,
	UTRACE_ITEM_ARGV,
	UTRACE_ITEM_EXE,
	UTRACE_ITEM_CWD,
	UTRACE_ITEM_CREDS,
	UTRACE_ITEM_STACK,
	UTRACE_ITEM_RAW_STACK,
	UTRACE_ITEM_MISSING,
};

/* utrace_item.flags */
#define UTRACE_ITEM_TRUNCATED	0x01	/* there was more than there is room */
#define UTRACE_ITEM_FAULTED	0x02	/* memory behind @len is not readable */

/* utrace_item.arg of an item that belongs to no argument. */
#define UTRACE_ITEM_NO_ARG	0xff

/**
 * struct utrace_item - something that was captured with an event
 * @kind: enum utrace_item_kind; never 0
 * @arg: number of the argument of the system call, from 0 to 5, or
 *	%UTRACE_ITEM_NO_ARG
 * @flags: %UTRACE_ITEM_TRUNCATED and %UTRACE_ITEM_FAULTED; 0: the data is
 *	complete
 * @reserved: 0
 * @len: size of @data in bytes, without the padding behind it; may be 0
 * @reserved2: 0
 * @whole: the size in bytes that @data would have in full, as far as that is
 *	known, and @len or more.  A string or a stack that is not complete has
 *	@len here.  For %UTRACE_ITEM_MISSING a number of items
 * @data: the bytes; zeros follow up to a multiple of 8, then the next item or
 *	the end of the record
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

/**
 * struct utrace_item_creds - user and group ids, and capabilities, of a task
 * @uid: real user id, as all ids here in the user namespace of the opener of
 *	the session; an id that has no number there is the overflow id (65534)
 * @gid: real group id
 * @euid: effective user id
 * @egid: effective group id
 * @suid: saved user id
 * @sgid: saved group id
 * @fsuid: user id for file systems
 * @fsgid: group id for file systems
 * @cap_effective: effective capabilities, bit n for capability n of
 *	linux/capability.h, in the user namespace of the task
 */
struct utrace_item_creds {
	__u32 uid, gid, euid, egid, suid, sgid, fsuid, fsgid;
	__u64 cap_effective;
};

/**
 * struct utrace_item_raw_stack - registers; the memory from @sp on follows
 * @ip: instruction pointer
 * @sp: stack pointer
 * @bp: frame pointer
 */
struct utrace_item_raw_stack {
	__u64 ip, sp, bp;
};

/**
 * enum utrace_rec_type - types of records
 * @UTRACE_REC_PAD: no record: bytes of a mapped ring to be skipped.  Of the
 *	header only @utrace_rec.size and @utrace_rec.type are there; 8 bytes or
 *	more.  read(2) does not give it
 * @UTRACE_REC_LOST: struct utrace_rec_lost
 * @UTRACE_REC_SYS_ENTER: struct utrace_rec_sys_enter, then items
 * @UTRACE_REC_SYS_EXIT: struct utrace_rec_sys_exit, then items
 * @UTRACE_REC_FORK: struct utrace_rec_fork
 * @UTRACE_REC_EXEC: struct utrace_rec_exec, then always the items EXE, ARGV,
 *	CWD and CREDS, as far as there is room
 * @UTRACE_REC_EXIT: struct utrace_rec_exit
 * @UTRACE_REC_SIGNAL: struct utrace_rec_signal
 * @UTRACE_REC_JOBCTL: struct utrace_rec_jobctl
 * @UTRACE_REC_HIDDEN: struct utrace_rec: from here on nothing of the task is
 *	recorded but its EXIT, until the session may see the task again
 * @UTRACE_REC_TARGET_END: struct utrace_rec_target_end
 * @UTRACE_REC_SYS_CALL: struct utrace_rec_sys_call, then items
 * @UTRACE_REC_MARKER: struct utrace_rec_marker
 * @UTRACE_REC_USER_EVENT: struct utrace_rec_user_event
 * @UTRACE_REC_TYPES: number of types in this version of the file
 *
 * LOST, HIDDEN and TARGET_END come unasked, PAD is in mapped rings, MARKER and
 * USER_EVENT come of what was armed by %UTRACE_IOC_MARKER_ARM and
 * %UTRACE_IOC_USER_EVENT_ARM, and all others come if &utrace_ioc_events.events has
 * their bit.
 */
enum utrace_rec_type {
	UTRACE_REC_PAD,
	UTRACE_REC_LOST,
	UTRACE_REC_SYS_ENTER,
	UTRACE_REC_SYS_EXIT,
	UTRACE_REC_FORK,
	UTRACE_REC_EXEC,
	UTRACE_REC_EXIT,
	UTRACE_REC_SIGNAL,
	UTRACE_REC_JOBCTL,
	UTRACE_REC_HIDDEN,
	UTRACE_REC_TARGET_END,
	UTRACE_REC_SYS_CALL,
	UTRACE_REC_MARKER,
	UTRACE_REC_USER_EVENT,
	UTRACE_REC_TYPES
};

/* utrace_rec.flags */
#define UTRACE_F_TRUNCATED	0x0001	/* an item has UTRACE_ITEM_TRUNCATED */
#define UTRACE_F_FAULTED	0x0002	/* an item has UTRACE_ITEM_FAULTED */
#define UTRACE_F_INCOMPLETE	0x0004	/* there is a UTRACE_ITEM_MISSING */
#define UTRACE_F_UNPAIRED	0x0008	/* SYS_EXIT: the entry was not seen */
#define UTRACE_F_HIDDEN		0x0010	/* EXIT: of a hidden task, code is 0 */
#define UTRACE_F_IN_FLIGHT	0x0020	/* SYS_ENTER: of a call begun before */

/**
 * struct utrace_rec - header of a record
 * @size: size of the record in bytes, with this header and the items: a
 *	multiple of 8.  The next record follows.  No record is larger than a
 *	ring, nor than %UTRACE_RING_MIN in this version
 * @type: enum utrace_rec_type
 * @items: offset in bytes from this header to the first struct utrace_item, a
 *	multiple of 8; the items go on to the end of the record.  0: there are
 *	none
 * @time: when the event was recorded, in ns of CLOCK_MONOTONIC outside of time
 *	namespaces.  Grows from record to record of a task, if need be by 1
 *	where the clock stands still: then it is later than the clock.  A LOST
 *	has the time of the record behind it
 * @task: the task, by a number that no other task gets until the next boot: the
 *	inode number of a pidfd of the thread.  0: the record is about no task,
 *	as LOST and TARGET_END
 * @pid: id of the process of the task in the pid namespace of the opener of the
 *	session; 0: the process has none there, or there is no task
 * @tid: id of the task, as @pid
 * @number: the task's own number of the record: 1, 2 and so on, modulo 2^32,
 *	for all records of the session.  A record that is lost has its number,
 *	too, so that a gap tells of it, unless the kernel has no memory for the
 *	task at all.  0 if there is no task, or %UTRACE_IOC_IN_FLIGHT has
 *	written the record
 * @target: id of the target that the record was made for, from
 *	%UTRACE_IOC_ATTACH.  If several targets of the session have the task,
 *	the record is there once, for one of them
 * @settings: the settings by which the record was made, from
 *	%UTRACE_IOC_EVENTS; 0: there were none yet, or there is no task
 * @cpu: the CPU that the record was written on, by the task; 0 for TARGET_END
 * @flags: %UTRACE_F_* bits
 *
 * All other structures of records begin with this header.  execve(2) of a
 * thread that is not the leader of its process gives it the leader's @task and
 * @tid, while its @number goes on; struct utrace_rec_exec tells.
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
 * struct utrace_rec_lost - records were lost at this place
 * @head: @head.target is their target, or 0 for those of several targets
 * @lost: number of the records, 1 or more, for which CPU @head.cpu had no room
 *	since the record of this CPU that comes before
 *
 * Comes before the next record of the CPU that finds room.  So what is lost
 * after the last record of a CPU is told by &utrace_rec_target_end.lost only.
 */
struct utrace_rec_lost {
	struct utrace_rec head;
	__u64 lost;
};

/*
 * Numbers of system calls are those of the table that the call was made by:
 * asm/unistd_64.h, or asm/unistd_32.h or-ed with this bit.  x32 has the bit of
 * asm/unistd_x32.h.
 */
#define UTRACE_REC_IA32		0x20000000

/*
 * The value of @nr where there is no number: at the exit of a sigreturn, whose
 * registers are those of the code that the signal interrupted, and where the
 * program asked for a number with the bit of UTRACE_REC_IA32 or for this value,
 * which no table has.  The member @asked has the number then.
 */
#define UTRACE_REC_NO_CALL	0x1fffffff

/**
 * struct utrace_rec_sys_enter - the task makes a system call
 * @head: header; has %UTRACE_F_IN_FLIGHT if the record is later than the entry:
 *	%UTRACE_IOC_IN_FLIGHT asks for it, or the session records whole calls,
 *	and something else happens in this one
 * @nr: number of the call, see %UTRACE_REC_IA32 and %UTRACE_REC_NO_CALL; any
 *	number that a program asks for, also one that is in no table
 * @asked: if @nr is %UTRACE_REC_NO_CALL the number that the program asked for,
 *	which may have any bit set; else 0
 * @began: when the call was made, in ns as @head.time, which it is equal to
 *	without %UTRACE_F_IN_FLIGHT; 0: not known
 * @args: arguments as the registers have them, the upper half cleared for a
 *	call of the 32-bit table; those that the call does not take have any
 *	value
 */
struct utrace_rec_sys_enter {
	struct utrace_rec head;
	__u32 nr;
	__u32 asked;
	__u64 began;
	__u64 args[6];
};

/**
 * struct utrace_rec_sys_exit - a system call of the task is over
 * @head: header; has %UTRACE_F_UNPAIRED if no entry was reported: the session
 *	does not ask for entries, or was attached during the call
 * @nr: number of the call, as in struct utrace_rec_sys_enter
 * @asked: as in struct utrace_rec_sys_enter; of a sigreturn that of the code that
 *	the signal interrupted, which is no number that was asked for
 * @ret: result of the call; from -4095 to -1: a negative errno, where -512 to
 *	-516 say that a signal has interrupted the call, and that the kernel is
 *	about to make it again or to turn this into EINTR
 */
struct utrace_rec_sys_exit {
	struct utrace_rec head;
	__u32 nr;
	__u32 asked;
	__s64 ret;
};

/**
 * struct utrace_rec_sys_call - a whole system call of the task, at its end
 * @head: header.  Its items are those of the entry, then those of the exit:
 *	there may be a UTRACE_ITEM_MISSING at the end of each part
 * @nr: number of the call, as in struct utrace_rec_sys_enter
 * @asked: as in struct utrace_rec_sys_enter
 * @ret: result of the call, as in struct utrace_rec_sys_exit
 * @began: when the call was made, in ns of CLOCK_MONOTONIC; 0: not known.
 *	@head.time - @began is how long it took
 * @args: arguments at the entry, as in struct utrace_rec_sys_enter
 *
 * If something else of the task is recorded in the call, a SYS_ENTER with
 * %UTRACE_F_IN_FLIGHT comes before that, and a SYS_EXIT at the end of the call,
 * if it has one.  The call that a task is in when it is attached is a SYS_EXIT
 * alone.
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
 * @head: header, of the task that creates
 * @child_task: the child, as @head.task
 * @child_pid: id of its process, as @head.pid
 * @child_tid: its id, as @head.tid
 * @flags: %CLONE_* bits of linux/sched.h, those of clone3(2) too; the low byte is
 *	the signal that the child sends at its end
 */
struct utrace_rec_fork {
	struct utrace_rec head;
	__u64 child_task;
	__s32 child_pid;
	__s32 child_tid;
	__u64 flags;
};

/**
 * struct utrace_rec_exec - the task runs a new program
 * @head: header, with the ids from now on
 * @old_task: @head.task of the records of the task before this one
 * @old_tid: @head.tid of these records
 * @reserved: 0
 *
 * Old and new are different if a thread that is not the leader of its process
 * calls execve(2).  All other threads of the process have exited before; see
 * &utrace_rec_exit.exec_tid.
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
 * @code: status of this thread in the form of wait(2); 0 if @head.flags has
 *	%UTRACE_F_HIDDEN
 * @exec_tid: @head.tid of a thread of the process, if the task exits because that
 *	thread calls execve(2) and the task is the leader, whose @head.task and
 *	@head.tid the thread gets; else 0.  If the call fails after that, the
 *	thread is killed and no EXEC comes
 *
 * The last record of the task, but for a JOBCTL if a stop of its process is
 * complete without it.
 */
struct utrace_rec_exit {
	struct utrace_rec head;
	__s32 code;
	__s32 exec_tid;
};

/**
 * struct utrace_rec_signal - the task takes a signal
 * @head: header
 * @info: siginfo_t of a 64-bit program, whatever the task is.  Ids in it are
 *	those that the task sees
 * @handler: sa_handler of sigaction(2), 0 for SIG_DFL
 * @flags: sa_flags
 *
 * A signal that is ignored has no record, by the program or by default, and
 * neither has SIGKILL.
 */
struct utrace_rec_signal {
	struct utrace_rec head;
	__u8 info[128];
	__u64 handler;
	__u64 flags;
};

/**
 * struct utrace_rec_jobctl - the process of the task stops or continues
 * @head: header; each thread that takes part in a stop has one record of it
 * @type: CLD_STOPPED or CLD_CONTINUED of waitid(2)
 * @notify: what the parent is told by this task, in the same way; 0: nothing
 * @signal: number of the signal that stops the process; 0 with CLD_CONTINUED, or
 *	if it is not known
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
 * enum utrace_end - why a target is over
 * @UTRACE_END_NOT: it is not; no record has this
 * @UTRACE_END_EXITED: all its tasks have exited, and are zombies soon, for which a
 *	parent may have to wait; only threads, processes and trees end in this way
 * @UTRACE_END_DETACHED: %UTRACE_IOC_DETACH
 */
enum utrace_end {
	UTRACE_END_NOT,
	UTRACE_END_EXITED,
	UTRACE_END_DETACHED,
};

/**
 * struct utrace_rec_target_end - a target is over
 * @head: header, with the id of the target; about no task
 * @why: enum utrace_end
 * @reserved: 0
 * @lost: number of records of the target that were lost in all
 *
 * Comes once for each target, if that is over before the session.  After
 * %UTRACE_END_EXITED no record of the target follows; after
 * %UTRACE_END_DETACHED there may be those of tasks that were in the midst of an
 * event.
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
 * @id: see struct utrace_ioc_marker of <linux/utrace_marker.h>
 * @ip: address of the marker; of a function that returns, its address
 * @nargs: number of elements of @args
 * @faulted: bit n: argument n is in memory that was not there, and is 0 here
 * @args: the arguments, extended to 64 bits by their signs
 *
 * The record has as many @args as the marker, and ends with them.
 */
struct utrace_rec_marker {
	struct utrace_rec head;
	__u64 id;
	__u64 ip;
	__u32 nargs;
	__u32 faulted;
	__u64 args[];
};

/* Bytes of what a program has written that a record has at most. */
#define UTRACE_USER_EVENT_MAX	1024

/**
 * struct utrace_rec_user_event - a task has written a user_event
 * @head: header
 * @id: see struct utrace_ioc_user_event of <linux/utrace_marker.h>
 * @size: bytes that the task has written, without the index of the event
 * @copied: bytes of them that follow, at most %UTRACE_USER_EVENT_MAX
 * @data: what the task has written
 */
struct utrace_rec_user_event {
	struct utrace_rec head;
	__u64 id;
	__u32 size;
	__u32 copied;
	__u8 data[];
};

/* utrace_ioc_events.events: the bit of a type, as UTRACE_REC_BIT(FORK). */
#define UTRACE_REC_BIT(type)	(1ULL << UTRACE_REC_##type)

/*
 * utrace_ioc_events.capture: what is captured with system calls.  A stack is
 * captured at the entry.
 */
#define UTRACE_CAPTURE_STRINGS	0x01	/* strings and paths, argv */
#define UTRACE_CAPTURE_BUFFERS	0x02	/* memory, also by struct iovec */
#define UTRACE_CAPTURE_SOCKETS	0x04	/* struct sockaddr */
#define UTRACE_CAPTURE_FILES	0x08	/* the paths behind descriptors */
#define UTRACE_CAPTURE_STACK	0x10	/* UTRACE_ITEM_STACK */
#define UTRACE_CAPTURE_RAW_STACK 0x20	/* UTRACE_ITEM_RAW_STACK */

/**
 * enum utrace_scope - what a &struct utrace_where stands for
 * @UTRACE_SCOPE_THREAD: the task of a pidfd; of a pidfd without PIDFD_THREAD,
 *	the leader of the process
 * @UTRACE_SCOPE_PROCESS: the process of a pidfd, with threads to come
 * @UTRACE_SCOPE_TREE: that process with its descendants and those to come
 * @UTRACE_SCOPE_SYSTEM: all user tasks
 * @UTRACE_SCOPE_CGROUP: the tasks in a cgroup of version 2 and those below it,
 *	as long as they are there
 * @UTRACE_SCOPE_EXE: the tasks that run an executable file, as long as they do
 * @UTRACE_SCOPE_CPU: what runs on a CPU, whatever task it is
 *
 * SYSTEM, CGROUP and EXE leave out the process that attaches, never end, and
 * cannot wait for the reader (%UTRACE_FULL_STOP).
 */
enum utrace_scope {
	UTRACE_SCOPE_THREAD = 1,
	UTRACE_SCOPE_PROCESS,
	UTRACE_SCOPE_TREE,
	UTRACE_SCOPE_SYSTEM,
	UTRACE_SCOPE_CGROUP,
	UTRACE_SCOPE_EXE,
	UTRACE_SCOPE_CPU,
};

/* The bit of a scope, as UTRACE_SCOPE_BIT(TREE). */
#define UTRACE_SCOPE_BIT(scope)	(1U << UTRACE_SCOPE_##scope)

/**
 * struct utrace_where - the tasks, or the CPU, that an ioctl is about
 * @scope: enum utrace_scope; never 0
 * @fd: a pidfd for %UTRACE_SCOPE_THREAD, _PROCESS and _TREE; for
 *	%UTRACE_SCOPE_CGROUP the folder of a cgroup, for %UTRACE_SCOPE_EXE an
 *	executable file, both also O_PATH; else -1.  It may be closed
 *	afterwards
 * @cpu: number of a CPU for %UTRACE_SCOPE_CPU; else 0
 * @flags: 0
 */
struct utrace_where {
	__u32 scope;
	__s32 fd;
	__u32 cpu;
	__u32 flags;
};

/**
 * struct utrace_rows - an array that the kernel fills in
 * @at: pointer to @n elements; not looked at if @n is 0
 * @n: number of elements; the kernel writes how many it has filled in
 * @size: bytes of an element as the program knows it.  If the kernel knows less,
 *	it clears the rest; if it knows more, it leaves that out.  Less than the
 *	first version is EINVAL, more than 4096 is E2BIG
 * @total: not read; the kernel writes how many elements there are
 * @reserved: 0
 *
 * After an error no member is changed, but elements may be.
 */
struct utrace_rows {
	__u64 at;
	__u32 n;
	__u32 size;
	__u32 total;
	__u32 reserved;
};

/**
 * enum utrace_full - what happens to a record that finds no room
 * @UTRACE_FULL_DEFAULT: STOP for threads, processes and trees, and DROP for the
 *	other scopes
 * @UTRACE_FULL_STOP: the task waits for the reader, and the record is not lost;
 *	ATTACH of the other scopes is EOPNOTSUPP
 * @UTRACE_FULL_DROP: the record is lost, and counted
 */
enum utrace_full {
	UTRACE_FULL_DEFAULT,
	UTRACE_FULL_STOP,
	UTRACE_FULL_DROP,
};

/**
 * struct utrace_ioc_info - %UTRACE_IOC_INFO: the kernel, and the session so far
 * @events: UTRACE_REC_BIT() bits that the kernel has
 * @capture: UTRACE_CAPTURE_ bits that the kernel has
 * @scopes: UTRACE_SCOPE_BIT() bits of what %UTRACE_IOC_ATTACH takes
 * @count: UTRACE_COUNT_ bits that the kernel has
 * @targets: number of targets that have not ended
 * @rings: number of rings, one for each CPU that there may be; 0 if the session
 *	has none yet, and so are the next three
 * @ring_size: size of each ring in bytes, a power of 2
 * @map_size: bytes of the area of %UTRACE_MAP_RINGS; 0 without
 *	%UTRACE_SETUP_MAPPED
 * @tails_size: bytes of the area of %UTRACE_MAP_TAILS; likewise
 * @records: number of records so far, without those that were lost, and without
 *	PAD, LOST and TARGET_END
 * @lost: number of records that were lost
 * @hidden: how often a task became hidden; each time there was a
 *	UTRACE_REC_HIDDEN
 * @uncaptured: sum of the numbers in UTRACE_ITEM_MISSING
 * @missed: number of events under the scopes SYSTEM, CGROUP and EXE that the
 *	session was not told of, since the kernel had no memory for their tasks
 * @parked: number of records that wait for read(2) now, with their tasks, since
 *	they found no room; a TARGET_END that waits is one of them
 * @waits: how often a task had to wait for the reader
 *
 * The kernel writes all members and reads none.  Counts go on while they are
 * read, and never back, but for @parked and @targets.  The call waits while
 * another thread attaches or detaches.
 */
struct utrace_ioc_info {
	__u64 events;
	__u64 capture;
	__u32 scopes;
	__u32 count;
	__u32 targets;
	__u32 rings;
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
#define UTRACE_SETUP_MAPPED	0x01	/* the program maps the rings */

/**
 * struct utrace_ioc_setup - %UTRACE_IOC_SETUP: make the rings
 * @ring_size: size of all rings together in bytes, from 64 KiB to 64 MiB, any
 *	number between; 0 stands for 1 MiB.  Each CPU gets an equal part,
 *	rounded down to a power of 2, but no less than %UTRACE_RING_MIN.  More
 *	than 1 MiB needs CAP_SYS_RESOURCE in the initial user namespace
 * @delay: a reader that waits is woken so many ns after a record at the latest,
 *	rounded down to ticks of the kernel, of which it is one at least; and at
 *	once when a ring is half full or a record finds no room.  0 stands for
 *	10 ms, 1 s is the most
 * @full: enum utrace_full
 * @flags: %UTRACE_SETUP_MAPPED: the program reads the rings in memory, and
 *	read(2) gives only what is in no ring: records that had no room, and
 *	TARGET_END
 *
 * May be called once, before the first ATTACH; an ATTACH of a session without
 * rings, also one that fails, makes them as if all members were 0.
 *
 * Errors: EBUSY - there are rings.  EINVAL - a member has a value that is not
 * described here.  ENOMEM - no memory, or more than RLIMIT_MEMLOCK of the
 * caller without CAP_IPC_LOCK.  EPERM - more than 1 MiB.
 */
struct utrace_ioc_setup {
	__u64 ring_size;
	__u64 delay;
	__u32 full;
	__u32 flags;
};

/* Size in bytes of the smallest ring of a CPU. */
#define UTRACE_RING_MIN		32768

/*
 * read(2) gives whole records, as many as there are and fit, in the order of
 * time.  It waits for the first one, also in a session that has no target yet,
 * unless the file has O_NONBLOCK.  0 is the end: there were targets, all are
 * over, and all records are read.  A buffer of utrace_ioc_info.ring_size bytes
 * has room for any record of any version, one of UTRACE_RING_MIN bytes for any
 * of this version.  Errors: EAGAIN - O_NONBLOCK, and there is nothing to give
 * now, or another reader is at work.  EFAULT - the buffer cannot be written;
 * the record is not taken.  EINTR - a signal has a handler.  EINVAL - the next
 * record does not fit, or the size is 0.
 *
 * poll(2) has POLLIN if there are records, though read(2) may be EAGAIN until
 * the clock has gone on, and POLLHUP once all targets are over: the end is
 * POLLHUP without POLLIN.
 *
 * open(2) is EPERM without CAP_SYS_PTRACE in the initial user namespace, unless
 * the sysctl kernel.utrace.unprivileged is 1, and ENOMEM.  O_RDONLY suffices
 * for all but UTRACE_MAP_TAILS.
 */

/*
 * Mapped rings.  mmap(2) of a session with %UTRACE_SETUP_MAPPED, or of a consumer
 * of branches with %UTRACE_BRANCHES_MAPPED, at one of these offsets and of the
 * size that INFO has, shares memory with the program:
 *
 * UTRACE_MAP_RINGS, utrace_ioc_info.map_size bytes, with PROT_READ: struct
 * utrace_map, then struct utrace_map_ring for each ring, then the data of the
 * rings.
 *
 * UTRACE_MAP_TAILS, utrace_ioc_info.tails_size bytes, with PROT_READ | PROT_WRITE:
 * struct utrace_map_tail for each ring.
 *
 * Both are MAP_SHARED and of the whole area.  fork(2) does not copy them; they
 * stay after close(2), and so does the session or the consumer.
 * Documentation/trace/utrace/dev.rst has the rules of a reader.
 *
 * Errors: EACCES - the tails, and the file was opened O_RDONLY.  EINVAL -
 * another offset or size, MAP_PRIVATE, tails without PROT_WRITE, or rings that
 * are not to be mapped.  ENOMEM.  ENXIO - there are no rings yet.  EPERM -
 * PROT_EXEC, or the rings with PROT_WRITE; mprotect(2) to these is EACCES.
 */
#define UTRACE_MAP_RINGS	0x00000000
#define UTRACE_MAP_TAILS	0x10000000

/**
 * struct utrace_map - where what is in the area of %UTRACE_MAP_RINGS; 64 bytes
 * @header_size: bytes from here to the first struct utrace_map_ring
 * @ring_stride: bytes from one struct utrace_map_ring to the next
 * @rings: number of rings
 * @unit: bytes that @utrace_map_ring.head and @utrace_map_tail.tail count in: 1
 *	for a session, 24 for branches
 * @data_offset: bytes from here to the data of the first ring
 * @data_size: bytes of the data of each ring; that of the next one follows
 * @parked: number of records that are in no ring and wait for read(2)
 * @reserved: 0
 *
 * All members but @parked are constant.
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
 * struct utrace_map_ring - what the kernel tells of one ring; 64 bytes
 * @head: units ever written, padding included; a record is at @head modulo the
 *	size of the ring.  A record does not wrap: a PAD comes before it
 * @last: time of the last record in ns; 0: there was none, or branches
 * @open: 1: a record is being written, and its time is @last or later; else 0
 * @reserved: 0
 * @lost: records that were lost, and that no record in the ring tells of:
 *	branches of tasks that have ended while the ring was full; else 0
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
 * struct utrace_map_tail - what the program tells of one ring; 64 bytes
 * @tail: units ever read, padding included; the kernel reuses the memory before
 *	it.  A number that makes no sense has records overwritten or lost
 * @reserved: 0; the kernel does not look at it
 */
struct utrace_map_tail {
	__u64 tail;
	__u64 reserved[7];
};

/**
 * struct utrace_ioc_attach - %UTRACE_IOC_ATTACH: attach the session to tasks
 * @where: the tasks, by a scope other than %UTRACE_SCOPE_CPU
 * @flags: 0
 * @id: not read; the kernel writes the id of the target, 1 or more, which no
 *	other target of the session gets
 *
 * Records come by the settings of the session, see &utrace_ioc_events.target.
 * Events that begin after the return are recorded.  The call that a task is in
 * has no entry.
 *
 * Errors: EBADF - @where.fd is not such a descriptor.  EDEADLK - the target
 * would wait for the reader of the session, which is one of its tasks.  EEXIST -
 * the session has this target in this scope.  EINVAL - a member has a value that
 * is not described here; a cgroup of version 1; no regular file.  ENOENT - the
 * cgroup was removed.  ENOMEM.  ENOSPC - the session has 1024 targets, or a task
 * too many engines.  EOPNOTSUPP - a scope that cannot wait, and
 * %UTRACE_FULL_STOP; or this kernel has no such scope.  EPERM - the caller or
 * the opener may not trace a task, or it is a kernel thread.  ESRCH - the task
 * is gone.  EUSERS - the user has too many engines.
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
 *
 * Does not wait for tasks that are in the midst of an event.  Those that wait
 * for the reader on behalf of this target go on.
 *
 * Errors: EINVAL - @flags.  ENOENT - there is no such target, or no more.
 */
struct utrace_ioc_detach {
	__u32 id;
	__u32 flags;
};

/**
 * struct utrace_ioc_events - %UTRACE_IOC_EVENTS: choose what is recorded
 * @events: UTRACE_REC_BIT() bits of what &utrace_ioc_info.events has; 0:
 *	nothing.  SYS_CALL excludes SYS_ENTER and SYS_EXIT
 * @capture: bits from %UTRACE_CAPTURE_STRINGS to %UTRACE_CAPTURE_RAW_STACK; 0:
 *	nothing
 * @calls: pointer to the __u32 numbers of the system calls that are recorded
 *	and counted, or-ed with %UTRACE_REC_IA32 for those of the 32-bit table;
 *	0xffffffff stands for all numbers that are in no table.  Their order is
 *	of no matter, nor is a number that is there twice
 * @ncalls: number of elements of @calls, 4096 at most; 0 for all system calls,
 *	and @calls is 0 then
 * @target: id of the target that this is for; 0 for all targets, and for those
 *	that are attached later
 * @settings: not read; the kernel writes the number that the records made by
 *	these settings have in &utrace_rec.settings: one more than at the last
 *	call, from 1
 * @count: %UTRACE_COUNT_* bits: count calls, for %UTRACE_IOC_COUNTS, whether they
 *	are recorded or not; 0: count none.  What is counted stays
 * @string_size: bytes of data that an item may have if it is a string, the
 *	strings of an array or a path: %UTRACE_ITEM_STRING, _FILE, _ARGV, _EXE
 *	and _CWD.  %UTRACE_ITEM_SIZE_MAX at most, in which any path is whole; 0
 *	stands for %UTRACE_ITEM_SIZE
 * @buffer_size: likewise for memory that calls read and write,
 *	%UTRACE_ITEM_BYTES
 *
 * Replaces all former settings of the targets.  A session that has not called
 * it records nothing.  A record of before the call may come after it, with its
 * older number; an exit whose entry was reported is recorded, too.
 *
 * Errors: EFAULT - @calls.  EINVAL - a member has a value that is not described
 * here, a number of @calls is outside its table, or the kernel has no 32-bit
 * table.  ENOENT - no such @target.  ENOMEM.  ESRCH - @target has ended.  After
 * an error all targets have their former settings, as far as there is memory;
 * but where the argument cannot be written (EFAULT) the new ones hold.
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
#define UTRACE_ITEM_SIZE	496
#define UTRACE_ITEM_SIZE_MAX	4096

/* utrace_ioc_events.count; CPU alone is EINVAL. */
#define UTRACE_COUNT_CALLS	0x01	/* count, with durations and errors */
#define UTRACE_COUNT_CPU	0x02	/* and the CPU time, which costs more */

/*
 * Durations are sorted by their logarithm: entry n has those below 2^n ns that
 * are in no entry before it, the last entry those of 2^30 ns and more.
 */
#define UTRACE_COUNT_DURATIONS	32

/* Errors of a call that are told apart by their errno. */
#define UTRACE_COUNT_ERRORS	7

/**
 * struct utrace_call_count - counts of one system call of one task
 * @task: the task, see &utrace_rec.task; 0: the sum over
 *	&utrace_ioc_counts.merged dead tasks, and @pid, @tid and @comm are 0
 * @pid: see &utrace_rec.pid
 * @tid: see &utrace_rec.tid
 * @comm: name of the task, or its last name if it is dead, with a NUL
 * @nr: number of the call, see %UTRACE_REC_IA32; %UTRACE_REC_NO_CALL stands for
 *	all that are no call
 * @alive: 1: the task is there, if only as a zombie; else 0
 * @calls: calls that are over, 1 or more
 * @errors: calls among @calls that returned an error
 * @total: sum of the durations, in ns
 * @min: shortest duration, in ns
 * @max: longest duration, in ns
 * @cpu: CPU time used in the calls of @cpu_calls, in ns
 * @cpu_calls: calls among @calls whose CPU time was measured
 * @durations: number of calls by duration
 * @errno_calls: number of errors by errno; entry i belongs to entry i of @err
 * @errno_other: errors with an errno that found no room in @err
 * @err: errno in the order of the first error with it; 0: not used, nor are the
 *	entries behind it
 * @reserved: 0
 *
 * A number of 32 bits that has reached its maximum stays there.  The numbers of
 * a task that goes on may be of slightly different moments.
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
 * struct utrace_ioc_counts - %UTRACE_IOC_COUNTS: read what was counted
 * @rows: elements of struct utrace_call_count.  Fewer are filled in than there
 *	is room for if there are no more
 * @task: where to go on: 0 at first, then what the kernel has written in @task
 *	and @place.  Any value is taken; one that the kernel has not written
 *	leaves rows out
 * @place: see @task
 * @reserved: 0
 * @lost: not read; the kernel writes the number of calls that were not counted,
 *	for want of room or memory
 * @merged: not read; the kernel writes the number of dead tasks whose counts
 *	were added up to make room, in the rows with &utrace_call_count.task 0
 *
 * No row comes twice; rows that are created during the call may be missing.  A
 * program that finds another number in @merged than at the first piece begins
 * anew, or its rows may lack some of these tasks.  Counts go on, and are kept
 * until the session ends.
 *
 * Errors: EFAULT - @rows.  EINVAL - a member that is 0 is not, or the elements
 * are too small.  ENOMEM.
 */
struct utrace_ioc_counts {
	struct utrace_rows rows;
	__u64 task;
	__u32 place;
	__u32 reserved;
	__u64 lost;
	__u64 merged;
};

/**
 * struct utrace_ioc_in_flight - %UTRACE_IOC_IN_FLIGHT: tell which system calls
 *	tasks are blocked in
 * @target: id of a target; 0 for all but those of the system, of cgroups and of
 *	executables
 * @flags: 0
 * @written: not read; the kernel writes the number of records that it has
 *	written
 * @lost: not read; the kernel writes the number of records that found no room.
 *	These are counted as all others that were lost, and told by
 *	UTRACE_REC_LOST
 * @busy: not read; the kernel writes the number of tasks that were left out
 *	since they execute another program just now
 * @reserved: 0
 *
 * Writes a UTRACE_REC_SYS_ENTER with UTRACE_F_IN_FLIGHT for each task that is
 * blocked in a call now.  The task is neither woken nor stopped.  The record
 * comes before that of the exit of the call, and before all later records of
 * the task, as far as CLOCK_MONOTONIC tells them apart.  It differs from those
 * that the task writes itself:
 *
 * * &utrace_rec.number is 0: it is not one of the task's own records
 * * &utrace_rec.cpu is the CPU of the process that made this ioctl
 * * &utrace_rec_sys_enter.began is 0 unless the session has SYS_CALL records
 *   and has seen the entry
 * * nothing is captured
 *
 * Left out are tasks that run or are stopped, by job control, ptrace or an
 * engine; calls that the session does not record, or records without SYS_ENTER
 * and SYS_CALL; hidden tasks; a call whose entry the session was not told of,
 * if it has an earlier record of the task.  If the call ends later, its
 * SYS_EXIT or SYS_CALL comes as usual.
 *
 * Errors: EINVAL - @flags or @reserved is not 0.  ENOENT - no such @target.
 * ENOMEM.  EOPNOTSUPP - a target of the system, of a cgroup or an executable.
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
#define UTRACE_IOC_INFO_SIZE_VER0	112
#define UTRACE_IOC_SETUP_SIZE_VER0	24
#define UTRACE_IOC_ATTACH_SIZE_VER0	24
#define UTRACE_IOC_DETACH_SIZE_VER0	8
#define UTRACE_IOC_EVENTS_SIZE_VER0	48
#define UTRACE_IOC_COUNTS_SIZE_VER0	56
#define UTRACE_IOC_IN_FLIGHT_SIZE_VER0	24
#define UTRACE_CALL_COUNT_SIZE_VER0	272

/*
 * The ioctls.  Each returns 0, or -1 with one of the errors of its structure or
 * of these: E2BIG and EINVAL - the size of the argument, see above.  EFAULT -
 * the argument cannot be read or written; an ATTACH is undone then.  EINTR -
 * the caller is killed.  ENOTTY - there is no such ioctl.
 */
#define UTRACE_IOC_INFO		_IOWR(0xBC, 0x00, struct utrace_ioc_info)
#define UTRACE_IOC_SETUP	_IOWR(0xBC, 0x01, struct utrace_ioc_setup)
#define UTRACE_IOC_ATTACH	_IOWR(0xBC, 0x02, struct utrace_ioc_attach)
#define UTRACE_IOC_DETACH	_IOWR(0xBC, 0x03, struct utrace_ioc_detach)
#define UTRACE_IOC_EVENTS	_IOWR(0xBC, 0x04, struct utrace_ioc_events)
#define UTRACE_IOC_COUNTS	_IOWR(0xBC, 0x05, struct utrace_ioc_counts)
#define UTRACE_IOC_IN_FLIGHT	_IOWR(0xBC, 0x06, struct utrace_ioc_in_flight)

#endif /* _UAPI_LINUX_UTRACE_H */
