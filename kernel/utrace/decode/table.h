/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - which argument of which system call is what
 *
 * One row per call, generated when the kernel is built: names and numbers from
 * the kernel's own tables of system calls, arguments from args.tbl.
 * Who captures and who prints arguments both ask here, and nobody else knows.
 */
#ifndef _KERNEL_UTRACE_DECODE_TABLE_H
#define _KERNEL_UTRACE_DECODE_TABLE_H

#include <linux/types.h>

#include <asm/unistd.h>

/* x32 calls share the native table and have this bit in their number. */
#ifdef __X32_SYSCALL_BIT
#define UTRACE_X32_BIT		__X32_SYSCALL_BIT
#else
#define UTRACE_X32_BIT		0
#endif

#define UTRACE_CALL_ARGS	6

/**
 * enum utrace_arg_type - what an argument of a system call is
 * @UTRACE_ARG_NONE: there is no such argument
 * @UTRACE_ARG_HEX: a number best read in base 16, and pointers to whatever is
 *	not captured
 * @UTRACE_ARG_INT: a signed number of 32 bits
 * @UTRACE_ARG_LONG: a signed number of the ABI's word
 * @UTRACE_ARG_SIZE: an unsigned number
 * @UTRACE_ARG_OCTAL: a mode of files
 * @UTRACE_ARG_FD: a file descriptor
 * @UTRACE_ARG_DFD: the same or AT_FDCWD
 * @UTRACE_ARG_SIGNAL: the number of a signal
 * @UTRACE_ARG_PATH: a string that names a file
 * @UTRACE_ARG_STRING: another string
 * @UTRACE_ARG_IN: memory that the call reads, see @len of &struct utrace_arg
 * @UTRACE_ARG_OUT: memory that the call writes, read at its exit
 * @UTRACE_ARG_IN_IOVEC: struct iovec, which the call reads from
 * @UTRACE_ARG_OUT_IOVEC: struct iovec, which the call writes to
 * @UTRACE_ARG_SOCKADDR: struct sockaddr that the call reads
 * @UTRACE_ARG_OUT_SOCKADDR: struct sockaddr that it writes; @len names a
 *	pointer to an int with the length
 * @UTRACE_ARG_ARGV: an array of strings with a NULL behind
 * @UTRACE_ARG_FLAGS: a number whose bits or values have names, the set is
 *	in @len, see flags.c
 */
enum utrace_arg_type {
	UTRACE_ARG_NONE,
	UTRACE_ARG_HEX,
	UTRACE_ARG_INT,
	UTRACE_ARG_LONG,
	UTRACE_ARG_SIZE,
	UTRACE_ARG_OCTAL,
	UTRACE_ARG_FD,
	UTRACE_ARG_DFD,
	UTRACE_ARG_SIGNAL,
	UTRACE_ARG_PATH,
	UTRACE_ARG_STRING,
	UTRACE_ARG_IN,
	UTRACE_ARG_OUT,
	UTRACE_ARG_IN_IOVEC,
	UTRACE_ARG_OUT_IOVEC,
	UTRACE_ARG_SOCKADDR,
	UTRACE_ARG_OUT_SOCKADDR,
	UTRACE_ARG_ARGV,
	UTRACE_ARG_FLAGS,
};

/* utrace_arg::len of memory: an argument by number, or one of these. */
#define UTRACE_LEN_RESULT	6	/* the result of the call */
#define UTRACE_LEN_FIXED	0x80	/* the other bits are the length in bytes */

/**
 * struct utrace_arg - one argument
 * @type: enum utrace_arg_type
 * @len: memory: where its length comes from; iovecs: the argument with their
 *	number; sockaddrs: the argument with their length; FLAGS: enum
 *	utrace_flag_set
 */
struct utrace_arg {
	u8 type;
	u8 len;
};

/**
 * struct utrace_call - one system call
 * @name: as in the kernel's table; NULL: there is no call of this number
 * @nargs: how many arguments it has; 0 too if args.tbl does not
 *	know it, then @known is not set
 * @known: is it in args.tbl?
 * @result: what it returns if it does not fail: enum utrace_arg_type, of
 *	those that need no length
 * @arg: what they are
 */
struct utrace_call {
	const char *name;
	u8 nargs;
	bool known;
	u8 result;
	struct utrace_arg arg[UTRACE_CALL_ARGS];
};

const struct utrace_call *utrace_call_of(unsigned int nr);
int utrace_call_nr(const char *name, bool ia32);

#endif /* _KERNEL_UTRACE_DECODE_TABLE_H */
