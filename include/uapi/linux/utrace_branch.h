/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - the branches that tasks take
 *
 * UTRACE_IOC_BRANCHES on an open /dev/utrace gives a descriptor from which the
 * branches of a task are read: a consumer.  Any number of consumers may have one
 * task; each has its own ring and gets the records that it asked for, whatever
 * the others ask for.  What is said in <linux/utrace.h> about layout, arguments
 * and what programs pass holds here, too.
 * Documentation/trace/utrace/bts.rst explains the interface from the beginning.
 */
#ifndef _UAPI_LINUX_UTRACE_BRANCH_H
#define _UAPI_LINUX_UTRACE_BRANCH_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/utrace.h>

/**
 * struct utrace_branch - a branch, or what else is told between two of them
 * @from: address of the instruction that branches; or see the types below
 * @to: address of the instruction that is executed next; likewise
 * @info: bits 0 to 3: enum utrace_branch_type; bit 4: the processor has
 *	predicted the branch, if the source can tell; bits 8 to 15: enum
 *	utrace_branch_kind; all others 0
 *
 * Programs of 32 bits have the same records.  A record of the branch trace store
 * of a processor is a record of this form already, so its bits are where the
 * processor has them.
 */
struct utrace_branch {
	__u64 from;
	__u64 to;
	__u64 info;
};

/**
 * enum utrace_branch_type - what a record is about
 * @UTRACE_BRANCH: a branch
 * @UTRACE_BRANCH_TASK: the records after this one are of another task: @from has
 *	its pid in the lower half and that of its process in the upper half, both
 *	in the pid namespace of the opener; @to has the inode number of its
 *	pidfd
 * @UTRACE_BRANCH_START: the recording of the task begins, at address @to, which is
 *	%UTRACE_PC_KERNEL if CPUs record the task
 * @UTRACE_BRANCH_END: the task exits; @from is the address of the last
 *	instruction; likewise.  If the task has not returned from a system call, the
 *	record before is that of the call
 * @UTRACE_BRANCH_LOST: @from records of the task were lost here, since the ring
 *	was full or there was no memory.  With nothing after it, these records
 *	may be of any tasks that have ended while the ring was full; before
 *	%UTRACE_BRANCH_TASK in %UTRACE_BRANCHES_LAST, they were of any tasks and
 *	have made room for others.  Bits 8 to 15 of @info have the cause, enum
 *	utrace_branch_loss
 * @UTRACE_BRANCH_HIDDEN: the opener of the device, or the process that made the
 *	consumer, may not trace the task any more.  The recording begins anew
 *	(%UTRACE_BRANCH_START) when the task executes a program that they may
 *	trace, if not before
 * @UTRACE_BRANCH_GAP: records are missing here, nobody knows how many.  Bits 8
 *	to 15 of @info have the cause, enum utrace_branch_loss
 */
enum utrace_branch_type {
	UTRACE_BRANCH,
	UTRACE_BRANCH_TASK,
	UTRACE_BRANCH_START,
	UTRACE_BRANCH_END,
	UTRACE_BRANCH_LOST,
	UTRACE_BRANCH_HIDDEN,
	UTRACE_BRANCH_GAP,
};

#define UTRACE_BRANCH_TYPE(info)	((info) & 0xf)
#define UTRACE_BRANCH_PREDICTED		0x10
#define UTRACE_BRANCH_KIND_SHIFT	8
#define UTRACE_BRANCH_KIND(info)	(((info) >> UTRACE_BRANCH_KIND_SHIFT) & 0xff)

/**
 * enum utrace_branch_kind - the kind of the instruction
 * @UTRACE_BR_UNKNOWN: the source cannot tell; perhaps not a branch, but the
 *	task has gone on there
 * @UTRACE_BR_COND: a conditional jump
 * @UTRACE_BR_UNCOND: a jump to an address in the instruction
 * @UTRACE_BR_IND: a jump to an address in a register or in memory
 * @UTRACE_BR_CALL: a call of an address in the instruction
 * @UTRACE_BR_IND_CALL: a call of an address in a register or in memory
 * @UTRACE_BR_RET: a return
 * @UTRACE_BR_SYSCALL: a system call; @to is %UTRACE_PC_SYSCALL
 * @UTRACE_BR_SYSRET: the return from it; @from is a pseudo-address
 *
 * The numbers are those of PERF_BR_ in <linux/perf_event.h>.
 */
enum utrace_branch_kind {
	UTRACE_BR_UNKNOWN,
	UTRACE_BR_COND,
	UTRACE_BR_UNCOND,
	UTRACE_BR_IND,
	UTRACE_BR_CALL,
	UTRACE_BR_IND_CALL,
	UTRACE_BR_RET,
	UTRACE_BR_SYSCALL,
	UTRACE_BR_SYSRET,
};

/**
 * enum utrace_branch_loss - why records are missing
 * @UTRACE_LOSS_UNKNOWN: the source does not tell
 * @UTRACE_LOSS_FULL: %UTRACE_BRANCH_LOST: the ring was full, or there was no
 *	memory for it
 * @UTRACE_LOSS_OVERWRITTEN: %UTRACE_BRANCH_LOST: newer records have taken their
 *	place, before they were read
 * @UTRACE_LOSS_OFF: %UTRACE_BRANCH_GAP: nothing was recorded for a time
 * @UTRACE_LOSS_HARDWARE: %UTRACE_BRANCH_GAP: the memory that the processor
 *	writes to was full
 * @UTRACE_LOSS_EDGE: %UTRACE_BRANCH_GAP: the processor has not recorded a way
 *	into the kernel or out of it
 */
enum utrace_branch_loss {
	UTRACE_LOSS_UNKNOWN,
	UTRACE_LOSS_FULL,
	UTRACE_LOSS_OVERWRITTEN,
	UTRACE_LOSS_OFF,
	UTRACE_LOSS_HARDWARE,
	UTRACE_LOSS_EDGE,
};

#define UTRACE_BRANCH_LOSS(info)	UTRACE_BRANCH_KIND(info)

/*
 * Pseudo-addresses stand for the kernel: what has been called there, or why it
 * was entered.  No code is ever in this last page.
 */
#define UTRACE_PC_BASE		0xfffffffffffff000ULL
#define UTRACE_PC_KERNEL	(UTRACE_PC_BASE | 0x00)	/* nothing is known */
#define UTRACE_PC_ASYNC		(UTRACE_PC_BASE | 0x02)	/* no instruction */
#define UTRACE_PC_SYSCALL	(UTRACE_PC_BASE | 0x10)
#define UTRACE_PC_SIGNAL	(UTRACE_PC_BASE | 0x20)	/* a handler begins */
#define UTRACE_PC_SIGRETURN	(UTRACE_PC_BASE | 0x21)
#define UTRACE_PC_EXEC		(UTRACE_PC_BASE | 0x22)	/* a program begins */
#define UTRACE_PC_EXCEPTION(vector)	(UTRACE_PC_BASE | 0x80 | (vector))

/**
 * enum utrace_branch_mode - what a consumer keeps
 * @UTRACE_BRANCHES_ALL: all records, in order; the task waits for the reader, or
 *	records are lost
 * @UTRACE_BRANCHES_LAST: the last records
 */
enum utrace_branch_mode {
	UTRACE_BRANCHES_ALL,
	UTRACE_BRANCHES_LAST,
};

/*
 * Levels of a consumer, which say what of the program it gets: all branches in
 * user mode, in which the kernel is one place; all branches in the kernel, in
 * which user mode is one place; or both.
 */
#define UTRACE_BRANCHES_USER	0x1
#define UTRACE_BRANCHES_KERNEL	0x2

/**
 * enum utrace_branch_source - what makes the records
 * @UTRACE_BRANCH_SOURCE_ANY: what there is for what the consumer wants, but not
 *	EMULATED.  For tasks that is STEP, unless a consumer wants the kernel, too,
 *	and there is a source of CPUs
 * @UTRACE_BRANCH_SOURCE_STEP: single steps of threads.  All branches in user mode
 *	are there; of the kernel, the ways into it and back only, with
 *	pseudo-addresses
 * @UTRACE_BRANCH_SOURCE_INTEL: the branch trace store of processors of Intel, for
 *	CPUs (CONFIG_UTRACE_BTS_INTEL); never run on one yet
 * @UTRACE_BRANCH_SOURCE_EMULATED: branches of CPUs that were never taken, for
 *	tests (CONFIG_UTRACE_BTS_EMULATED)
 *
 * INTEL and EMULATED are sources of CPUs: they record what runs on a CPU, and any
 * thread wherever it runs.
 */
enum utrace_branch_source {
	UTRACE_BRANCH_SOURCE_ANY,
	UTRACE_BRANCH_SOURCE_STEP,
	UTRACE_BRANCH_SOURCE_INTEL,
	UTRACE_BRANCH_SOURCE_EMULATED,
};

/* utrace_ioc_branches.flags */
#define UTRACE_BRANCHES_MAPPED	0x01	/* the program maps the ring */

/**
 * struct utrace_ioc_branches - %UTRACE_IOC_BRANCHES: make a consumer
 * @where: the tasks, by %UTRACE_SCOPE_THREAD, _PROCESS or _TREE; or a CPU
 * @mode: enum utrace_branch_mode
 * @full: enum utrace_full: what happens if there is no room for a record of
 *	%UTRACE_BRANCHES_ALL; else 0
 * @records: number of records that the ring has room for, rounded up to a power
 *	of 2, 512 or, of a CPU, 2048 at least; 0: 65536
 * @levels: %UTRACE_BRANCHES_USER, %UTRACE_BRANCHES_KERNEL or both; 0: user.  The
 *	kernel's need CAP_PERFMON
 * @source: enum utrace_branch_source.  A source of CPUs needs CAP_PERFMON, of the
 *	opener of the device as well
 * @flags: %UTRACE_BRANCHES_MAPPED: the program reads the ring in memory, see
 *	%UTRACE_MAP_RINGS, and read(2) is EINVAL.  Only for tasks and
 *	%UTRACE_BRANCHES_ALL
 * @reserved: 0
 *
 * A task that a source of CPUs records can wait for the reader where the consumer
 * wants user mode only, else @full is %UTRACE_FULL_DROP or 0.  Its last records are
 * given to read(2), but poll(2) may tell of them later.
 *
 * A consumer of a CPU needs CAP_PERFMON and the initial pid namespace, for which
 * its records say which task goes on (UTRACE_BRANCH_TASK); kernel threads do, too,
 * and the idle task, whose pid and inode number are 0.  What a CPU has recorded
 * last is given to read(2), but not told by poll(2).  No task waits for its
 * reader, so @full is %UTRACE_FULL_DROP there, or 0, and @records at most 2^20.  It
 * ends when the CPU goes offline.
 *
 * The ioctl returns the descriptor of the consumer, which has O_CLOEXEC.
 *
 * read(2) gives whole records, waits for the first one unless the descriptor has
 * O_NONBLOCK, and gives 0 when all tasks have ended and nothing is left.  The
 * descriptor can be polled.  A consumer ends with its last descriptor.
 *
 * read(2) fails with EINVAL if there is no room for a record, with EAGAIN and
 * EINTR as usual, and with EFAULT if the memory cannot be written: then no
 * record is lost.  EAGAIN stands also for another reader that is in a read.
 * EPERM, of a CPU - kernel.utrace.unprivileged is 0 now, and
 * the caller or the opener of the device has no CAP_SYS_PTRACE.
 *
 * A program that maps the ring calls poll(2) before long after it has taken
 * records: that lets tasks go on that wait for room.  The end is POLLHUP without
 * POLLIN.  After close(2) no task waits any more, and records without room are
 * lost.
 *
 * Errors: EBADF - @where.fd is no pidfd.  EINVAL - there is no such scope, mode,
 * policy, level, source or flag, a member that is 0 is not, too many records are
 * wanted, or a task cannot wait.
 * ESRCH - the task is gone.  EPERM - the caller or the opener of the device may
 * not trace the task, or has no CAP_PERFMON.  EDEADLK - the caller would
 * wait for itself.  EOPNOTSUPP - the machine cannot do it.  ENODEV - the CPU is
 * not online.  EBUSY - the source is used by somebody else.  EIO - the CPU does not
 * record as it should.  EUSERS, ENOSPC, EINTR - see %UTRACE_IOC_ATTACH.  EMFILE,
 * ENFILE - there is no room for a descriptor.  ENOMEM - there is no memory.
 */
struct utrace_ioc_branches {
	struct utrace_where where;
	__u64 records;
	__u32 mode;
	__u32 full;
	__u32 levels;
	__u32 source;
	__u32 flags;
	__u32 reserved;
};

#define UTRACE_IOC_BRANCHES_SIZE_VER0	48
#define UTRACE_IOC_BRANCHES	_IOWR(0xBC, 0x0B, struct utrace_ioc_branches)

/**
 * struct utrace_ioc_branch_info - %UTRACE_IOC_BRANCH_INFO, of a consumer
 * @records: number of records that the ring has room for
 * @map_size: bytes of the area of %UTRACE_MAP_RINGS; 0 without
 *	%UTRACE_BRANCHES_MAPPED
 * @tails_size: bytes of the area of %UTRACE_MAP_TAILS; likewise
 * @written: records ever written to it
 * @overwritten: of these, records that made room for others before they were read
 * @lost: records that were lost since there was no room, or no memory; those of a
 *	thread that makes single steps are counted when the stream tells of them
 * @gaps: number of %UTRACE_BRANCH_GAP
 * @source: enum utrace_branch_source, but not ANY
 * @levels: as in struct utrace_ioc_branches, but not 0
 * @mode: likewise
 * @waiting: number of threads that wait for room
 *
 * The kernel writes all members and reads none.
 */
struct utrace_ioc_branch_info {
	__u64 records;
	__u64 map_size;
	__u64 tails_size;
	__u64 written;
	__u64 overwritten;
	__u64 lost;
	__u64 gaps;
	__u32 source;
	__u32 levels;
	__u32 mode;
	__u32 waiting;
};

#define UTRACE_IOC_BRANCH_INFO_SIZE_VER0	72
#define UTRACE_IOC_BRANCH_INFO	_IOWR(0xBC, 0x0C, struct utrace_ioc_branch_info)

#endif /* _UAPI_LINUX_UTRACE_BRANCH_H */
