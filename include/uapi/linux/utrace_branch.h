/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - the branches that tasks take
 *
 * UTRACE_IOC_BRANCHES on an open /dev/utrace returns a descriptor from which the
 * branches of tasks or of a CPU are read: a consumer.  Layout and growth are those
 * of <linux/utrace.h>.  The reference, with all rules and errors, is
 * Documentation/userspace-api/utrace.rst.
 */
#ifndef _UAPI_LINUX_UTRACE_BRANCH_H
#define _UAPI_LINUX_UTRACE_BRANCH_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/utrace.h>

/**
 * struct utrace_branch - a branch, or what is reported between two of them
 * @from: address of the instruction that branches; or by type
 * @to: address of the instruction that is executed next; or by type
 * @info: bits 0 to 3: enum utrace_branch_type; bit 4: predicted; bits 8 to 15:
 *	enum utrace_branch_kind or enum utrace_branch_loss; all others 0
 */
struct utrace_branch {
	__u64 from;
	__u64 to;
	__u64 info;
};

/**
 * enum utrace_branch_type - what a record is about
 * @UTRACE_BRANCH: a branch
 * @UTRACE_BRANCH_TASK: another task: @from has its pid, and that of its process in
 *	the upper half; @to has the inode number of its pidfd
 * @UTRACE_BRANCH_START: the recording of the task begins, at address @to
 * @UTRACE_BRANCH_END: the task exits, at address @from
 * @UTRACE_BRANCH_LOST: @from records of the task were lost here
 * @UTRACE_BRANCH_HIDDEN: the consumer may not trace the task any longer
 * @UTRACE_BRANCH_GAP: an unknown number of records is missing here
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
 * enum utrace_branch_kind - the kind of the instruction, numbered as PERF_BR_*
 * @UTRACE_BR_UNKNOWN: not known; perhaps not a branch
 * @UTRACE_BR_COND: a conditional jump
 * @UTRACE_BR_UNCOND: a jump to an address in the instruction
 * @UTRACE_BR_IND: a jump to an address in a register or in memory
 * @UTRACE_BR_CALL: a call of an address in the instruction
 * @UTRACE_BR_IND_CALL: a call of an address in a register or in memory
 * @UTRACE_BR_RET: a return
 * @UTRACE_BR_SYSCALL: a system call; @to is %UTRACE_PC_SYSCALL
 * @UTRACE_BR_SYSRET: the return from it; @from is a pseudo-address
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
 * @UTRACE_LOSS_UNKNOWN: not known
 * @UTRACE_LOSS_FULL: LOST: the ring was full, or there was no memory for it
 * @UTRACE_LOSS_OVERWRITTEN: LOST: newer records have overwritten them
 * @UTRACE_LOSS_OFF: GAP: nothing was recorded for a time
 * @UTRACE_LOSS_HARDWARE: GAP: the memory of the processor was full
 * @UTRACE_LOSS_EDGE: GAP: a way into the kernel or out of it was not recorded
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

/* Pseudo-addresses stand for the kernel.  No code is ever in this last page. */
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
 * @UTRACE_BRANCHES_ALL: all records; if there is no room, see enum utrace_full
 * @UTRACE_BRANCHES_LAST: the last records
 */
enum utrace_branch_mode {
	UTRACE_BRANCHES_ALL,
	UTRACE_BRANCHES_LAST,
};

/* Levels: branches in user mode, in the kernel, or both. */
#define UTRACE_BRANCHES_USER	0x1
#define UTRACE_BRANCHES_KERNEL	0x2

/**
 * enum utrace_branch_source - what makes the records
 * @UTRACE_BRANCH_SOURCE_ANY: whatever source fits, but not EMULATED
 * @UTRACE_BRANCH_SOURCE_STEP: single steps of threads
 * @UTRACE_BRANCH_SOURCE_INTEL: CPUs: the branch trace store of Intel's processors
 * @UTRACE_BRANCH_SOURCE_EMULATED: CPUs: branches that were never taken, for tests
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
 * @where: tasks, by %UTRACE_SCOPE_THREAD, _PROCESS or _TREE; or a CPU
 * @mode: enum utrace_branch_mode
 * @full: enum utrace_full for %UTRACE_BRANCHES_ALL; else 0
 * @records: number of records that the ring has room for; 0: 65536
 * @levels: %UTRACE_BRANCHES_USER, %UTRACE_BRANCHES_KERNEL or both; 0: user
 * @source: enum utrace_branch_source
 * @flags: %UTRACE_BRANCHES_MAPPED, with %UTRACE_BRANCHES_ALL of tasks only
 * @reserved: 0
 *
 * The ioctl returns a descriptor.
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
 * @map_size: bytes of the area of %UTRACE_MAP_RINGS, or 0
 * @tails_size: bytes of the area of %UTRACE_MAP_TAILS, or 0
 * @written: records ever written to it
 * @overwritten: of these, records that were overwritten before they were read
 * @lost: records that were lost for lack of room or memory
 * @gaps: number of %UTRACE_BRANCH_GAP
 * @source: enum utrace_branch_source, but not ANY
 * @levels: as in struct utrace_ioc_branches, but not 0
 * @mode: enum utrace_branch_mode
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
