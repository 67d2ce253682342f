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
 * struct utrace_branch - a branch, or an event between two branches
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
 * enum utrace_branch_type - types of records
 * @UTRACE_BRANCH: a branch
 * @UTRACE_BRANCH_TASK: the next records are about another task: @from has its
 *	id, and the id of its process in the upper half; @to has the inode
 *	number of its pidfd
 * @UTRACE_BRANCH_START: the recording of the task begins, at address @to
 * @UTRACE_BRANCH_END: the task exits, at address @from
 * @UTRACE_BRANCH_LOST: @from records of the task were lost here
 * @UTRACE_BRANCH_HIDDEN: the consumer may not trace the task any longer
 * @UTRACE_BRANCH_GAP: an unknown number of records is missing here
 */
enum utrace_branch_type {
	UTRACE_BRANCH = 0,
	UTRACE_BRANCH_TASK = 1,
	UTRACE_BRANCH_START = 2,
	UTRACE_BRANCH_END = 3,
	UTRACE_BRANCH_LOST = 4,
	UTRACE_BRANCH_HIDDEN = 5,
	UTRACE_BRANCH_GAP = 6,
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
	UTRACE_BR_UNKNOWN = 0,
	UTRACE_BR_COND = 1,
	UTRACE_BR_UNCOND = 2,
	UTRACE_BR_IND = 3,
	UTRACE_BR_CALL = 4,
	UTRACE_BR_IND_CALL = 5,
	UTRACE_BR_RET = 6,
	UTRACE_BR_SYSCALL = 7,
	UTRACE_BR_SYSRET = 8,
};

/**
 * enum utrace_branch_loss - why records are missing
 * @UTRACE_LOSS_UNKNOWN: not known
 * @UTRACE_LOSS_FULL: LOST: the ring was full, or there was no memory for it
 * @UTRACE_LOSS_OVERWRITTEN: LOST: newer records have overwritten them
 * @UTRACE_LOSS_OFF: GAP: recording was off for a time
 * @UTRACE_LOSS_HARDWARE: GAP: the memory of the processor was full
 * @UTRACE_LOSS_EDGE: GAP: an entry into the kernel or an exit was not recorded
 */
enum utrace_branch_loss {
	UTRACE_LOSS_UNKNOWN = 0,
	UTRACE_LOSS_FULL = 1,
	UTRACE_LOSS_OVERWRITTEN = 2,
	UTRACE_LOSS_OFF = 3,
	UTRACE_LOSS_HARDWARE = 4,
	UTRACE_LOSS_EDGE = 5,
};

/* The ids in @from of a %UTRACE_BRANCH_TASK. */
#define UTRACE_BRANCH_TID(from)		((__s32)((from) & 0xffffffff))
#define UTRACE_BRANCH_PID(from)		((__s32)((from) >> 32))

#define UTRACE_BRANCH_LOSS(info)	UTRACE_BRANCH_KIND(info)

/* Pseudo-addresses represent the kernel.  This last page never has code. */
#define UTRACE_PC_BASE		0xfffffffffffff000ULL
#define UTRACE_PC_KERNEL	(UTRACE_PC_BASE | 0x00)	/* nothing is known */
#define UTRACE_PC_ASYNC		(UTRACE_PC_BASE | 0x02)	/* no instruction */
#define UTRACE_PC_SYSCALL	(UTRACE_PC_BASE | 0x10)
#define UTRACE_PC_SIGNAL	(UTRACE_PC_BASE | 0x20)	/* a handler begins */
#define UTRACE_PC_SIGRETURN	(UTRACE_PC_BASE | 0x21)
#define UTRACE_PC_EXEC		(UTRACE_PC_BASE | 0x22)	/* a program begins */
#define UTRACE_PC_EXCEPTION(vector)	(UTRACE_PC_BASE + 0x100 + (vector))

/* Levels: branches in user mode, in the kernel, or both. */
#define UTRACE_LEVEL_USER	0x1
#define UTRACE_LEVEL_KERNEL	0x2

/**
 * enum utrace_branch_source - sources of branches
 * @UTRACE_BRANCH_SOURCE_ANY: any source that fits, except EMULATED
 * @UTRACE_BRANCH_SOURCE_STEP: single steps of threads
 * @UTRACE_BRANCH_SOURCE_INTEL: CPUs: the branch trace store of Intel's processors
 * @UTRACE_BRANCH_SOURCE_EMULATED: CPUs: branches that were never taken, for tests
 */
enum utrace_branch_source {
	UTRACE_BRANCH_SOURCE_ANY = 0,
	UTRACE_BRANCH_SOURCE_STEP = 1,
	UTRACE_BRANCH_SOURCE_INTEL = 2,
	UTRACE_BRANCH_SOURCE_EMULATED = 3,
};

/* The bit of a source, as UTRACE_BRANCH_SOURCE_BIT(STEP). */
#define UTRACE_BRANCH_SOURCE_BIT(source)	(1U << UTRACE_BRANCH_SOURCE_##source)

/* utrace_ioc_branches.flags */
#define UTRACE_BRANCHES_F_MAPPED	0x01	/* the program maps the ring */

/**
 * struct utrace_ioc_branches - %UTRACE_IOC_BRANCHES: make a consumer
 * @where: tasks, by %UTRACE_SCOPE_THREAD, _PROCESS or _TREE; or a CPU
 * @capacity: number of records that the ring has room for; 0: 65536
 * @full: enum utrace_full
 * @levels: %UTRACE_LEVEL_USER, %UTRACE_LEVEL_KERNEL or both; 0: user
 * @source: enum utrace_branch_source
 * @flags: %UTRACE_BRANCHES_F_MAPPED, only for tasks and without OVERWRITE
 *
 * The ioctl returns a descriptor.
 */
struct utrace_ioc_branches {
	struct utrace_where where;
	__u64 capacity;
	__u32 full;
	__u32 levels;
	__u32 source;
	__u32 flags;
};

#define UTRACE_IOC_BRANCHES_SIZE_VER0	48
#define UTRACE_IOC_BRANCHES	_IOWR(0xBC, 0x0B, struct utrace_ioc_branches)

/**
 * struct utrace_ioc_branch_info - %UTRACE_IOC_BRANCH_INFO: state of a consumer
 * @capacity: number of records that the ring has room for
 * @map_size: bytes of the area of %UTRACE_MAP_RINGS, or 0
 * @tails_size: bytes of the area of %UTRACE_MAP_TAILS, or 0
 * @written: records ever written to the ring
 * @overwritten: of these, records that were overwritten before they were read
 * @lost: records that were lost for lack of room or memory
 * @gaps: number of %UTRACE_BRANCH_GAP
 * @source: enum utrace_branch_source, but not ANY
 * @levels: as in struct utrace_ioc_branches, but not 0
 * @full: enum utrace_full, but not DEFAULT
 * @waiting: number of threads that wait for room
 *
 * The kernel writes all members and reads none.
 */
struct utrace_ioc_branch_info {
	__u64 capacity;
	__u64 map_size;
	__u64 tails_size;
	__u64 written;
	__u64 overwritten;
	__u64 lost;
	__u64 gaps;
	__u32 source;
	__u32 levels;
	__u32 full;
	__u32 waiting;
};

#define UTRACE_IOC_BRANCH_INFO_SIZE_VER0	72
#define UTRACE_IOC_BRANCH_INFO	_IOWR(0xBC, 0x0C, struct utrace_ioc_branch_info)

#endif /* _UAPI_LINUX_UTRACE_BRANCH_H */
