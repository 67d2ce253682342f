/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * utrace - words and markers in the memory of processes
 *
 * UTRACE_IOC_WORDS on an open /dev/utrace gives a descriptor through which words
 * and markers of a process are armed.  Any number of descriptors may arm one word, and
 * programs may change other bits or other counts of the same word at any time.
 * What is said in <linux/utrace.h> about layout, arguments and what programs pass
 * holds here, too.  Documentation/trace/utrace/markers.rst explains the interface
 * from the beginning.
 */
#ifndef _UAPI_LINUX_UTRACE_MARKER_H
#define _UAPI_LINUX_UTRACE_MARKER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct utrace_ioc_words - %UTRACE_IOC_WORDS: make a descriptor for words
 * @pidfd: pidfd of the process; with %UTRACE_SCOPE_SYSTEM -1
 * @scope: %UTRACE_SCOPE_PROCESS, or %UTRACE_SCOPE_TREE: a child of fork(2) keeps
 *	the words that are armed, else it starts without them; or
 *	%UTRACE_SCOPE_SYSTEM: all processes.  Hits of the process that has made the
 *	descriptor, and of the one that reads the session, are neither recorded nor
 *	counted
 * @target: id of a target of this session, for which the hits of markers are
 *	recorded; 0: they are only counted.  With %UTRACE_SCOPE_SYSTEM a target of that
 *	scope
 * @reserved: 0
 *
 * The ioctl returns the descriptor, which has O_CLOEXEC.  With its last copy all
 * that it has armed is taken back.  Memory that processes share, by vfork(2) or
 * clone(2), has one set of words; execve(2) leaves them behind.
 *
 * A descriptor of the system takes markers, which are armed wherever their file is
 * mapped; neither words, which are somewhere else in each process, nor user_events,
 * which ftrace enables in all processes.
 *
 * poll(2) tells POLLIN when the state of a word may have changed since the last
 * %UTRACE_IOC_WORD_LIST, and POLLHUP when all tasks have ended.
 *
 * Errors: EBADF - @pidfd is no pidfd.  EINVAL - there is no such scope,
 * @reserved is not 0, or @pidfd of the system is not -1.  ENOENT - there is no such
 * @target, or it is not one of the system.  ESRCH - the process is gone.  EPERM - the
 * caller or the opener of the device may not trace the process, or the system.
 * EUSERS, ENOSPC, EINTR - see %UTRACE_IOC_ATTACH.  EMFILE, ENFILE - there is no room for
 * a descriptor.  ENOMEM - there is no memory.
 */
struct utrace_ioc_words {
	__s32 pidfd;
	__u32 scope;
	__u32 target;
	__u32 reserved;
};

#define UTRACE_IOC_WORDS_SIZE_VER0	16
#define UTRACE_IOC_WORDS	_IOWR(0xBC, 0x12, struct utrace_ioc_words)

/**
 * enum utrace_word_kind - what is changed
 * @UTRACE_WORD_BIT32: a bit of a word of 32 bits, which is set
 * @UTRACE_WORD_BIT64: a bit of a word of 64 bits, which is set
 * @UTRACE_WORD_COUNT16: a count in the low 15 bits of a word of 16 bits, as the
 *	semaphore of an SDT marker is: each descriptor adds 1
 * @UTRACE_WORD_COUNT32: likewise, in the low 31 bits of a word of 32 bits
 * @UTRACE_WORD_MARKER: in %UTRACE_IOC_WORD_LIST only: a marker that has failed in a
 *	process
 *
 * The kernel changes the 32 bits around it by a compare-and-exchange.
 */
enum utrace_word_kind {
	UTRACE_WORD_BIT32,
	UTRACE_WORD_BIT64,
	UTRACE_WORD_COUNT16,
	UTRACE_WORD_COUNT32,
	UTRACE_WORD_MARKER,
};

/**
 * enum utrace_word_state - how far a word has come
 * @UTRACE_WORD_ARMED: the memory has it
 * @UTRACE_WORD_PENDING: a thread writes it before it runs user code again; while
 *	MADV_DONTNEED, %UFFDIO_MOVE or truncate(2) takes the page away, not before the
 *	end of that call
 * @UTRACE_WORD_FAILED: the word cannot be written.  Tried again when memory is
 *	mapped there, or the word is armed again
 * @UTRACE_WORD_LEAVING: it is taken back, and the memory still has it; written as
 *	%UTRACE_WORD_PENDING
 */
enum utrace_word_state {
	UTRACE_WORD_ARMED,
	UTRACE_WORD_PENDING,
	UTRACE_WORD_FAILED,
	UTRACE_WORD_LEAVING,
};

/**
 * struct utrace_ioc_word - %UTRACE_IOC_WORD_ARM, %UTRACE_IOC_WORD_DISARM
 * @addr: address of the word, a multiple of its size
 * @kind: enum utrace_word_kind
 * @bit: number of the bit, the lowest being 0; 0 for counts
 * @state: not read; ARM writes enum utrace_word_state
 * @error: not read; ARM writes the reason of %UTRACE_WORD_FAILED, an errno
 *
 * The ioctls wait for nothing that the process does.  After ARM, no instruction of a
 * program in this memory is executed without the new value, unless the state is
 * %UTRACE_WORD_FAILED, or the page is just being taken away.  A page that is not in
 * memory is read in by the thread that writes the word, if possible; @error tells why
 * not:
 *
 * EFAULT - nothing is mapped there, or the page is behind the end of a file.  EACCES -
 * the mapping is read-only.
 * EOPNOTSUPP - the mapping is shared.  EBUSY - the range belongs to
 * userfaultfd(2), and the page is not there.  ERANGE - the count would leave its
 * range.  EAGAIN - the program changes the word without a pause.
 *
 * DISARM takes back what this descriptor has armed, in children, too.  A word that is armed
 * or disarmed while %UTRACE_IOC_WORD_LIST makes its list may be there twice, or not at all.
 *
 * Errors: EINVAL - there is no such kind or bit, or @addr is not aligned.
 * EEXIST - this descriptor has armed the word already, and that has not failed.
 * ENOENT, of DISARM - it has not.  EPERM - the caller or the opener of the device
 * may not trace the process any more.  ESRCH - the process is gone.  ENOSPC - the
 * descriptor has too many words.  EOPNOTSUPP - the descriptor is one of the system.
 * EAGAIN, of ARM - the process executes another program just now.  EINTR - the caller
 * is killed.  ENOMEM.
 */
struct utrace_ioc_word {
	__u64 addr;
	__u32 kind;
	__u32 bit;
	__u32 state;
	__s32 error;
};

#define UTRACE_IOC_WORD_ARM_SIZE_VER0		24
#define UTRACE_IOC_WORD_DISARM_SIZE_VER0	24
#define UTRACE_IOC_WORD_ARM	_IOWR(0xBC, 0x13, struct utrace_ioc_word)
#define UTRACE_IOC_WORD_DISARM	_IOWR(0xBC, 0x14, struct utrace_ioc_word)

/**
 * struct utrace_word_status - a word of one process, in %UTRACE_IOC_WORD_LIST
 * @addr: see struct utrace_ioc_word; of %UTRACE_WORD_MARKER the id of the marker
 * @kind: likewise
 * @bit: likewise
 * @state: likewise
 * @error: likewise
 * @pid: the process, in the pid namespace of the opener; 0: not visible there, or
 *	a child that does not run yet
 * @reserved: 0
 */
struct utrace_word_status {
	__u64 addr;
	__u32 kind;
	__u32 bit;
	__u32 state;
	__s32 error;
	__s32 pid;
	__u32 reserved;
};

/**
 * struct utrace_ioc_word_list - %UTRACE_IOC_WORD_LIST: the words of a descriptor, and
 * the markers that could not be armed in a process of its tree
 * @status: pointer to @n elements of struct utrace_word_status, not looked at if
 *	@n is 0
 * @n: number of elements; the kernel writes how many it has filled in
 * @total: not read; the kernel writes how many there are
 *
 * Errors: EFAULT - @status.  ENOMEM.
 */
struct utrace_ioc_word_list {
	__u64 status;
	__u32 n;
	__u32 total;
};

#define UTRACE_IOC_WORD_LIST_SIZE_VER0		16
#define UTRACE_IOC_WORD_LIST	_IOWR(0xBC, 0x15, struct utrace_ioc_word_list)

/* Arguments that a marker has at most, as in sys/sdt.h. */
#define UTRACE_MARKER_ARGS	12

/**
 * enum utrace_marker_arg_kind - where the argument of a marker is
 * @UTRACE_MARKER_CONST: it is @disp
 * @UTRACE_MARKER_REG: it is in register @reg
 * @UTRACE_MARKER_MEM: it is in memory, at @disp + @reg + @index * @scale
 */
enum utrace_marker_arg_kind {
	UTRACE_MARKER_CONST,
	UTRACE_MARKER_REG,
	UTRACE_MARKER_MEM,
};

/* In &utrace_marker_arg.reg and .index: there is none. */
#define UTRACE_MARKER_NO_REG	0xff

/**
 * struct utrace_marker_arg - an argument of a marker
 * @size: bytes, 1, 2, 4 or 8; negative if the argument has a sign
 * @kind: enum utrace_marker_arg_kind
 * @reg: number of a register as in <asm/perf_regs.h>, or %UTRACE_MARKER_NO_REG
 * @index: likewise
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

/* Flags of a marker. */
#define UTRACE_MARKER_RETURN	0x1	/* a hit is the return of the function */
#define UTRACE_MARKER_COUNT	0x2	/* hits are counted, and not recorded */
#define UTRACE_MARKER_HISTOGRAM	0x4	/* hits are sorted by an argument, not recorded */

/**
 * struct utrace_ioc_marker - %UTRACE_IOC_MARKER_ARM: arm a marker
 * @fd: the executable file or library
 * @flags: %UTRACE_MARKER_ bits
 * @offset: offset of the instruction in the file
 * @semaphore: offset of the semaphore in the file; 0: there is none.  It is raised in
 *	the processes that are traced, whatever other users of the marker have given
 * @id: any number, which records of hits have
 * @nargs: number of elements of @args that are used; with %UTRACE_MARKER_HISTOGRAM 1
 * @reserved: 0
 * @args: the arguments
 *
 * The marker is a breakpoint in the process, in programs that the process executes,
 * and with %UTRACE_SCOPE_TREE in its descendants, wherever the file is mapped now or
 * later.  While it is there the semaphore is raised by one.  Each hit is a
 * UTRACE_REC_MARKER of the target.  %UTRACE_IOC_MARKER_DISARM has @fd, @flags and
 * @offset of what was armed.  DISARM waits for hits that are being told: no hit makes a
 * record, or is counted, after that; records that were made before may be left to read.
 *
 * A descriptor of the system arms the marker in all processes.  ARM and DISARM wait for
 * the mmap_lock of each process that has the file mapped, and forks wait for them.  A
 * process is passed over in which the breakpoint cannot be, for want of memory or due to
 * the value of the semaphore.
 *
 * Errors: EBADF - @fd.  EINVAL - a flag, an offset or an argument does not make
 * sense.  EBUSY - the process has other text there, or the breakpoint of a debugger.
 * EFAULT - the process cannot read the instruction: it has mapped a part of it, or the file
 * has been truncated.
 * EEXIST - this descriptor has the marker already.  ENOENT, of DISARM - it has not.
 * EOPNOTSUPP - this machine has no uprobes, or there can be no breakpoint.  EIO -
 * the file cannot have breakpoints, or is one of FUSE, whose server may never bring the
 * pages, and the caller lacks CAP_SYS_ADMIN.  ERANGE - the semaphore is negative in the
 * memory of the process.  ENOSPC - the descriptor has 1024 markers.  EUSERS - the user
 * has as many markers as the sysctl user.max_utrace_sites says, or the owner of a user
 * namespace around, or there is no memory to count them.
 * EPERM, ESRCH, EINTR, ENOMEM - see %UTRACE_IOC_WORD_ARM.
 */
struct utrace_ioc_marker {
	__s32 fd;
	__u32 flags;
	__u64 offset;
	__u64 semaphore;
	__u64 id;
	__u32 nargs;
	__u32 reserved;
	struct utrace_marker_arg args[UTRACE_MARKER_ARGS];
};

#define UTRACE_IOC_MARKER_ARM_SIZE_VER0		232
#define UTRACE_IOC_MARKER_DISARM_SIZE_VER0	232
#define UTRACE_IOC_MARKER_ARM	_IOWR(0xBC, 0x16, struct utrace_ioc_marker)
#define UTRACE_IOC_MARKER_DISARM _IOWR(0xBC, 0x17, struct utrace_ioc_marker)

/**
 * struct utrace_marker_count - how often a marker was hit or a user_event written
 * @id: see struct utrace_ioc_marker
 * @hits: hits since the marker was armed, in all processes
 * @missed: of %UTRACE_MARKER_RETURN: returns that were not seen, since the thread awaited 64
 *	others already, or there was no memory.  If hits make records, each counts as one
 *	that was lost, too
 */
struct utrace_marker_count {
	__u64 id;
	__u64 hits;
	__u64 missed;
};

/**
 * struct utrace_ioc_marker_counts - %UTRACE_IOC_MARKER_COUNTS
 * @counts: pointer to @n elements of struct utrace_marker_count, not looked at if
 *	@n is 0
 * @n: number of elements; the kernel writes how many it has filled in, in the order
 *	in which the markers were armed
 * @total: not read; the kernel writes how many there are
 *
 * Hits of a task that the caller and the opener of the device may not trace are not
 * counted, nor those of a marker that is disarmed.
 *
 * Errors: EFAULT - @counts.  ENOMEM.
 */
struct utrace_ioc_marker_counts {
	__u64 counts;
	__u32 n;
	__u32 total;
};

#define UTRACE_IOC_MARKER_COUNTS_SIZE_VER0	16
#define UTRACE_IOC_MARKER_COUNTS _IOWR(0xBC, 0x18, struct utrace_ioc_marker_counts)

/**
 * enum utrace_marker_bucket - by what a histogram sorts the values of an argument
 * @UTRACE_MARKER_UNREADABLE: the value could not be read without waiting
 * @UTRACE_MARKER_NEGATIVE: it is below 0, and the argument has a sign
 * @UTRACE_MARKER_ZERO: it is 0
 * @UTRACE_MARKER_POSITIVE: bit 0 is its highest bit; with @UTRACE_MARKER_POSITIVE + n
 *	it is bit n
 * @UTRACE_MARKER_BUCKETS: number of buckets
 */
enum utrace_marker_bucket {
	UTRACE_MARKER_UNREADABLE,
	UTRACE_MARKER_NEGATIVE,
	UTRACE_MARKER_ZERO,
	UTRACE_MARKER_POSITIVE,
	UTRACE_MARKER_BUCKETS = UTRACE_MARKER_POSITIVE + 64,
};

/**
 * struct utrace_ioc_marker_histogram - %UTRACE_IOC_MARKER_HISTOGRAM
 * @id: see struct utrace_ioc_marker; of several histograms the first that was armed
 * @buckets: pointer to @n elements of 64 bits: numbers of hits, by enum
 *	utrace_marker_bucket; not looked at if @n is 0
 * @n: number of elements; the kernel writes how many it has filled in
 * @total: not read; the kernel writes %UTRACE_MARKER_BUCKETS
 *
 * The kernel has sorted the hits of a marker that was armed with
 * %UTRACE_MARKER_HISTOGRAM.  Which hits count is said with %UTRACE_IOC_MARKER_COUNTS.
 *
 * Errors: ENOENT - there is no such marker with a histogram.  EFAULT - @buckets.
 */
struct utrace_ioc_marker_histogram {
	__u64 id;
	__u64 buckets;
	__u32 n;
	__u32 total;
};

#define UTRACE_IOC_MARKER_HISTOGRAM_SIZE_VER0	24
#define UTRACE_IOC_MARKER_HISTOGRAM						\
	_IOWR(0xBC, 0x1B, struct utrace_ioc_marker_histogram)

/**
 * struct utrace_ioc_user_event - %UTRACE_IOC_USER_EVENT_ARM: arm a user_event
 * @name: pointer to the name of the event, without fields, with a NUL, at most 512
 *	bytes
 * @id: any number, which records of the event have
 * @flags: 0 or %UTRACE_MARKER_COUNT
 * @reserved: 0
 *
 * The event is enabled in the process, in programs that the process executes, and with
 * %UTRACE_SCOPE_TREE in its descendants, wherever they have registered it or register
 * it later; and in no other process.  Each write of the event is a
 * UTRACE_REC_USER_EVENT of the target.  The bits are words of the descriptor, see
 * %UTRACE_IOC_WORD_LIST, and the writes are in %UTRACE_IOC_MARKER_COUNTS.  A bit in
 * shared memory is shown as failed, with EOPNOTSUPP.
 *
 * %UTRACE_IOC_USER_EVENT_DISARM has the @name of what was armed.  A write that is being
 * told may still be told when it has returned.
 *
 * Errors: EFAULT - @name.  EINVAL - @name is empty or too long, or there is no such
 * flag.  EEXIST - this descriptor has the event already, or a bit of the event as a word
 * or for another event.  ENOENT, of DISARM - it has not.  EUSERS - when the process
 * registered its first event, or the process that it was forked from did, there was no
 * room for one more engine, or no memory, so user_events writes the bits.  ENOSPC - the
 * descriptor has 1024 markers and events.  EOPNOTSUPP - the kernel is built without
 * user_events, or the descriptor is one of the system.  EPERM, ESRCH, EINTR, ENOMEM -
 * see %UTRACE_IOC_WORD_ARM.
 */
struct utrace_ioc_user_event {
	__u64 name;
	__u64 id;
	__u32 flags;
	__u32 reserved;
};

#define UTRACE_IOC_USER_EVENT_ARM_SIZE_VER0	24
#define UTRACE_IOC_USER_EVENT_DISARM_SIZE_VER0	24
#define UTRACE_IOC_USER_EVENT_ARM	_IOWR(0xBC, 0x19, struct utrace_ioc_user_event)
#define UTRACE_IOC_USER_EVENT_DISARM	_IOWR(0xBC, 0x1A, struct utrace_ioc_user_event)

#endif /* _UAPI_LINUX_UTRACE_MARKER_H */
