/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - the protocol between the kernel and its test program
 *
 * Both sides include this file, so it includes no other header.
 */
#ifndef _UTRACE_TESTS_USER_PROTO_H
#define _UTRACE_TESTS_USER_PROTO_H

/*
 * A channel is a pair of pipes that one task of the program serves.  The first
 * task has channel 0, a clone gets the channel that its command names.  Channel
 * n reads commands from descriptor 2 * n and answers on 2 * n + 1.
 */
#define USER_CHANNELS		4

/* The result in the reply that a task sends when it begins to serve. */
#define USER_HELLO		0x75747261

/**
 * enum user_op - commands for a task of the test program
 * @USER_SYSCALL: make system call @nr with @arg, answer its result
 * @USER_INT80: as %USER_SYSCALL, by the 32-bit entry
 * @USER_CLONE: clone with flags @arg[0], the child serves channel @arg[1]
 * @USER_EXEC: execute user_area.path
 * @USER_HANDLE: install the counting handler for signal @arg[0] with the
 *	SA_* flags @arg[1]
 * @USER_SPIN: stay in user mode until user_area.go is set
 * @USER_REPEAT: make system call @nr in a loop until user_area.go is set or
 *	@arg[0] calls were made; answer the number of calls
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
 * @result: the result of the command, or %USER_HELLO
 * @area: address of struct user_area in the task that answers
 * @tid: id of the task that answers
 */
struct user_reply {
	long result;
	unsigned long area;
	long tid;
};

/**
 * struct user_area - memory of the program that the kernel reads and writes
 * @go: ends %USER_SPIN and %USER_REPEAT
 * @turns: counter of the running loop, so that the kernel sees it run
 * @handled: how often the handler was called
 * @signo: the signal of the handler's last call
 * @path: path of the program
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
