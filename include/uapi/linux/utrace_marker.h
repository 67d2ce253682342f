/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - words, markers and user_events of processes
 *
 * UTRACE_IOC_ARM arms words, markers and user_events for a target of
 * /dev/utrace.  The kernel changes armed words in the memory of the target's
 * processes, and records their hits of markers and their writes of user_events.
 * Layout and growth are those of <linux/utrace.h>.  The reference, with all
 * rules and errors, is Documentation/userspace-api/utrace.rst.
 */
#ifndef _UAPI_LINUX_UTRACE_MARKER_H
#define _UAPI_LINUX_UTRACE_MARKER_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/utrace.h>

/**
 * enum utrace_arm_type - what is armed
 * @UTRACE_ARM_WORD: struct utrace_word
 * @UTRACE_ARM_MARKER: struct utrace_marker
 * @UTRACE_ARM_USER_EVENT: struct utrace_user_event
 */
enum utrace_arm_type {
	UTRACE_ARM_WORD = 1,
	UTRACE_ARM_MARKER = 2,
	UTRACE_ARM_USER_EVENT = 3,
};

/* The bit of a type, as UTRACE_ARM_BIT(MARKER). */
#define UTRACE_ARM_BIT(type)	(1U << UTRACE_ARM_##type)

/* utrace_ioc_arm.flags */
#define UTRACE_ARM_F_COUNT	0x01	/* hits are counted, not recorded */
#define UTRACE_ARM_F_HISTOGRAM	0x02	/* hits are counted by an argument */

/**
 * enum utrace_arm_state - state of an armed word
 * @UTRACE_ARM_STATE_ARMED: the word is written
 * @UTRACE_ARM_STATE_PENDING: a thread writes it before it runs user code again
 * @UTRACE_ARM_STATE_FAILED: the word cannot be written now
 * @UTRACE_ARM_STATE_LEAVING: it was disarmed, and is not yet removed from
 *	memory
 */
enum utrace_arm_state {
	UTRACE_ARM_STATE_ARMED = 1,
	UTRACE_ARM_STATE_PENDING = 2,
	UTRACE_ARM_STATE_FAILED = 3,
	UTRACE_ARM_STATE_LEAVING = 4,
};

/**
 * struct utrace_ioc_arm - %UTRACE_IOC_ARM: arm a word, marker or user_event
 * @target: id of a target: a process, a tree or, for markers, the system
 * @type: enum utrace_arm_type
 * @flags: %UTRACE_ARM_F_COUNT, %UTRACE_ARM_F_HISTOGRAM
 * @id: the kernel writes the id of what is armed, 1 or more
 * @cookie: any number; the kernel copies it to records, lists and counts
 * @spec: pointer to the structure of @type
 * @spec_size: bytes of that structure, which grows as arguments of ioctls do
 * @state: the kernel writes enum utrace_arm_state
 * @error: the kernel writes the errno of %UTRACE_ARM_STATE_FAILED
 * @reserved: 0
 */
struct utrace_ioc_arm {
	__u32 target;
	__u32 type;
	__u32 flags;
	__u32 id;
	__u64 cookie;
	__u64 spec;
	__u32 spec_size;
	__u32 state;
	__s32 error;
	__u32 reserved;
};

/**
 * enum utrace_word_kind - how a word is changed
 * @UTRACE_WORD_BIT32: a bit of a 32-bit word is set
 * @UTRACE_WORD_BIT64: a bit of a 64-bit word is set
 * @UTRACE_WORD_COUNT16: each target adds 1 to the low 15 bits of a 16-bit word
 * @UTRACE_WORD_COUNT32: each target adds 1 to the low 31 bits of a 32-bit word
 */
enum utrace_word_kind {
	UTRACE_WORD_BIT32 = 1,
	UTRACE_WORD_BIT64 = 2,
	UTRACE_WORD_COUNT16 = 3,
	UTRACE_WORD_COUNT32 = 4,
};

/**
 * struct utrace_word - %UTRACE_ARM_WORD: a word in memory
 * @addr: address of the word, a multiple of its size
 * @kind: enum utrace_word_kind
 * @bit: number of the bit, the lowest being 0; 0 for counts
 */
struct utrace_word {
	__u64 addr;
	__u32 kind;
	__u32 bit;
};

/* Maximum number of arguments of a marker, as in sys/sdt.h. */
#define UTRACE_MARKER_ARGS	12

/**
 * enum utrace_marker_arg_kind - where the argument of a marker is
 * @UTRACE_ARG_CONST: the argument is @disp
 * @UTRACE_ARG_REG: it is in register @reg
 * @UTRACE_ARG_MEM: it is in memory, at @disp + @reg + @index * @scale
 */
enum utrace_marker_arg_kind {
	UTRACE_ARG_CONST = 1,
	UTRACE_ARG_REG = 2,
	UTRACE_ARG_MEM = 3,
};

/* In &utrace_marker_arg.reg and .index: there is none. */
#define UTRACE_ARG_NO_REG	0xff

/**
 * struct utrace_marker_arg - an argument of a marker
 * @size: bytes, 1, 2, 4 or 8; negative if the argument is signed
 * @kind: enum utrace_marker_arg_kind
 * @reg: number of a register as in <asm/perf_regs.h>, or %UTRACE_ARG_NO_REG
 * @index: as @reg
 * @scale: 1, 2, 4 or 8; 0 without @index
 * @reserved: 0
 * @disp: a number, see @kind
 */
struct utrace_marker_arg {
	__s8 size;
	__u8 kind;
	__u8 reg;
	__u8 index;
	__u8 scale;
	__u8 reserved[3];
	__s64 disp;
};

/* utrace_marker.flags */
#define UTRACE_MARKER_F_RETURN	0x01	/* a hit is the return of the function */

/**
 * struct utrace_marker - %UTRACE_ARM_MARKER: a marker
 * @fd: the executable file or library
 * @flags: %UTRACE_MARKER_F_RETURN
 * @offset: offset of the instruction in the file
 * @semaphore: offset of the semaphore in the file; 0: there is none
 * @nargs: number of elements of @args that are used
 * @reserved: 0
 * @args: the arguments
 */
struct utrace_marker {
	__s32 fd;
	__u32 flags;
	__u64 offset;
	__u64 semaphore;
	__u32 nargs;
	__u32 reserved;
	struct utrace_marker_arg args[UTRACE_MARKER_ARGS];
};

/**
 * struct utrace_user_event - %UTRACE_ARM_USER_EVENT: a user_event
 * @name: pointer to the name, without fields, with NUL at most 512 bytes
 * @flags: 0
 * @reserved: 0
 */
struct utrace_user_event {
	__u64 name;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct utrace_ioc_disarm - %UTRACE_IOC_DISARM: undo %UTRACE_IOC_ARM
 * @id: id of what was armed
 * @flags: 0
 */
struct utrace_ioc_disarm {
	__u32 id;
	__u32 flags;
};

/**
 * struct utrace_armed - a word, or a marker that has failed, in one process
 * @cookie: see struct utrace_ioc_arm
 * @addr: address of the word; 0 of a marker
 * @id: see struct utrace_ioc_arm
 * @type: enum utrace_arm_type; %UTRACE_ARM_USER_EVENT: a bit of the event
 * @kind: enum utrace_word_kind; 0 of a marker
 * @bit: see struct utrace_word
 * @state: enum utrace_arm_state
 * @error: see struct utrace_ioc_arm
 * @pid: the process, in the pid namespace of the opener, or 0
 * @reserved: 0
 */
struct utrace_armed {
	__u64 cookie;
	__u64 addr;
	__u32 id;
	__u32 type;
	__u32 kind;
	__u32 bit;
	__u32 state;
	__s32 error;
	__s32 pid;
	__u32 reserved;
};

/**
 * enum utrace_list_what - what %UTRACE_IOC_LIST lists
 * @UTRACE_LIST_ARMED: struct utrace_armed of the words of a target, and of the
 *	markers that have failed
 */
enum utrace_list_what {
	UTRACE_LIST_ARMED = 1,
};

/**
 * struct utrace_ioc_list - %UTRACE_IOC_LIST: list what is armed
 * @rows: elements by @what
 * @target: id of the target
 * @what: enum utrace_list_what
 */
struct utrace_ioc_list {
	struct utrace_rows rows;
	__u32 target;
	__u32 what;
};

/**
 * enum utrace_hits_what - what %UTRACE_IOC_HITS reads
 * @UTRACE_HITS_COUNT: struct utrace_hit_count of one, or of all of the target
 * @UTRACE_HITS_HISTOGRAM: __u64 numbers of hits, by enum utrace_bucket
 */
enum utrace_hits_what {
	UTRACE_HITS_COUNT = 1,
	UTRACE_HITS_HISTOGRAM = 2,
};

/**
 * struct utrace_hit_count - how often a marker was hit or a user_event written
 * @cookie: see struct utrace_ioc_arm
 * @hits: hits since it was armed, in all processes
 * @missed: returns of functions that were not seen
 * @id: see struct utrace_ioc_arm
 * @reserved: 0
 */
struct utrace_hit_count {
	__u64 cookie;
	__u64 hits;
	__u64 missed;
	__u32 id;
	__u32 reserved;
};

/**
 * enum utrace_bucket - buckets of a histogram of an argument
 * @UTRACE_BUCKET_UNREADABLE: the value could not be read without waiting
 * @UTRACE_BUCKET_NEGATIVE: it is below 0, and the argument is signed
 * @UTRACE_BUCKET_ZERO: it is 0
 * @UTRACE_BUCKET_POSITIVE: with @UTRACE_BUCKET_POSITIVE + n, bit n is its highest
 * @UTRACE_BUCKETS: number of buckets
 */
enum utrace_bucket {
	UTRACE_BUCKET_UNREADABLE = 0,
	UTRACE_BUCKET_NEGATIVE = 1,
	UTRACE_BUCKET_ZERO = 2,
	UTRACE_BUCKET_POSITIVE = 3,
	UTRACE_BUCKETS = UTRACE_BUCKET_POSITIVE + 64,
};

/**
 * struct utrace_ioc_hits - %UTRACE_IOC_HITS: read what was counted of markers
 * @rows: elements by @what
 * @target: id of the target
 * @id: id of what was armed; 0: all of the target, by %UTRACE_HITS_COUNT only
 * @what: enum utrace_hits_what
 * @reserved: 0
 */
struct utrace_ioc_hits {
	struct utrace_rows rows;
	__u32 target;
	__u32 id;
	__u32 what;
	__u32 reserved;
};

/* Sizes of the first versions of the structures; less is EINVAL. */
#define UTRACE_IOC_ARM_SIZE_VER0	48
#define UTRACE_IOC_DISARM_SIZE_VER0	8
#define UTRACE_IOC_LIST_SIZE_VER0	32
#define UTRACE_IOC_HITS_SIZE_VER0	40
#define UTRACE_WORD_SIZE_VER0		16
#define UTRACE_MARKER_SIZE_VER0		224
#define UTRACE_USER_EVENT_SIZE_VER0	16
#define UTRACE_ARMED_SIZE_VER0		48
#define UTRACE_HIT_COUNT_SIZE_VER0	32

#define UTRACE_IOC_ARM		_IOWR(0xBC, 0x07, struct utrace_ioc_arm)
#define UTRACE_IOC_DISARM	_IOWR(0xBC, 0x08, struct utrace_ioc_disarm)
#define UTRACE_IOC_LIST		_IOWR(0xBC, 0x09, struct utrace_ioc_list)
#define UTRACE_IOC_HITS		_IOWR(0xBC, 0x0A, struct utrace_ioc_hits)

#endif /* _UAPI_LINUX_UTRACE_MARKER_H */
