/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - what the kernel and its test program say to each other
 *
 * Included by both, so it must do without any other header.
 */
#ifndef _UTRACE_TESTS_USER_PROTO_H
#define _UTRACE_TESTS_USER_PROTO_H

/*
 * A channel is a pair of pipes, and one task of the program serves it.  The
 * first task has channel 0, a clone gets the one that its command names.
 * Channel n reads commands from descriptor 2 * n and answers on 2 * n + 1.
 */
#define USER_CHANNELS		4

/* What a task answers unasked when it starts to serve its channel. */
#define USER_HELLO		0x75747261

/**
 * enum user_op - what a task of the test program can be told to do
 * @USER_SYSCALL: make system call @nr with @arg, answer its result
 * @USER_INT80: the same by the 32-bit entry
 * @USER_CLONE: clone with flags @arg[0], the child serves channel @arg[1]
 * @USER_EXEC: execute user_area.path
 * @USER_HANDLE: install the counting handler for signal @arg[0] with the
 *	SA_* flags @arg[1]
 * @USER_SPIN: stay in user mode until user_area.go is set
 * @USER_REPEAT: make system call @nr again and again until user_area.go is
 *	set or it was made @arg[0] times, answer how often
 * @USER_FAULT: write to address 0
 * @USER_TRAP: execute a breakpoint instruction
 */
enum user_op {
	USER_SYSCALL,
	USER_INT80,
	USER_CLONE,
	USER_EXEC,
	USER_HANDLE,
	USER_SPIN,
	USER_REPEAT,
	USER_FAULT,
	USER_TRAP,
};

struct user_command {
	unsigned long op;
	unsigned long nr;
	unsigned long arg[6];
};

/**
 * struct user_reply - the answer to a command
 * @result: of the command, or %USER_HELLO
 * @area: where struct user_area is in the task that answers
 * @tid: its id
 */
struct user_reply {
	long result;
	unsigned long area;
	long tid;
};

/**
 * struct user_area - memory of the program that the kernel reads and writes
 * @go: ends %USER_SPIN and %USER_REPEAT
 * @turns: of the loop that is running, so that the kernel can see it run
 * @handled: how often the handler was called
 * @signo: with which signal the last time
 * @path: of the program itself
 * @scratch: for arguments of system calls
 */
struct user_area {
	unsigned long go;
	unsigned long turns;
	unsigned long handled;
	unsigned long signo;
	char path[64];
	char scratch[256];
};

#endif /* _UTRACE_TESTS_USER_PROTO_H */
