/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the arguments of system calls
 *
 * There is one row per call, generated when the kernel is built: names and
 * numbers come from the kernel's tables of system calls, types of arguments
 * from args.tbl.  The code that captures arguments and the code that prints
 * them use only this table to interpret an argument.
 */
#ifndef _KERNEL_UTRACE_DECODE_TABLE_H
#define _KERNEL_UTRACE_DECODE_TABLE_H

#include <linux/types.h>

#include <asm/unistd.h>

/* An x32 call uses the native table and has this bit in its number. */
#ifdef __X32_SYSCALL_BIT
#define UTRACE_X32_BIT		__X32_SYSCALL_BIT
#else
#define UTRACE_X32_BIT		0
#endif

#define UTRACE_CALL_ARGS	6

/**
 * enum utrace_arg_type - the type of an argument of a system call
 * @UTRACE_ARG_NONE: there is no such argument
 * @UTRACE_ARG_HEX: a number that is printed in base 16
 * @UTRACE_ARG_ADDR: a pointer to memory that is not captured
 * @UTRACE_ARG_INT: a signed number of 32 bits
 * @UTRACE_ARG_LONG: a signed number of the ABI's word
 * @UTRACE_ARG_SIZE: an unsigned number of the ABI's word
 * @UTRACE_ARG_OCTAL: the mode of a file
 * @UTRACE_ARG_FD: a file descriptor
 * @UTRACE_ARG_DFD: a file descriptor or AT_FDCWD
 * @UTRACE_ARG_SIGNAL: the number of a signal
 * @UTRACE_ARG_PATH: pointer to a string that names a file
 * @UTRACE_ARG_STRING: pointer to a string that names no file
 * @UTRACE_ARG_IN: pointer to memory that the call reads; utrace_arg.len gives
 *	its size
 * @UTRACE_ARG_OUT: pointer to memory that the call writes; it is captured at
 *	the exit
 * @UTRACE_ARG_IN_IOVEC: pointer to an array of struct iovec for memory that the
 *	call reads
 * @UTRACE_ARG_OUT_IOVEC: pointer to an array of struct iovec for memory that
 *	the call writes
 * @UTRACE_ARG_SOCKADDR: pointer to a struct sockaddr that the call reads
 * @UTRACE_ARG_OUT_SOCKADDR: pointer to a struct sockaddr that the call writes;
 *	@len names the argument that points to an int with its length
 * @UTRACE_ARG_ARGV: pointer to an array of pointers to strings, ended by NULL
 * @UTRACE_ARG_FLAGS: a number whose bits or values have names; @len is enum
 *	utrace_flag_set, see flags.c
 */
enum utrace_arg_type {
	UTRACE_ARG_NONE,
	UTRACE_ARG_HEX,
	UTRACE_ARG_ADDR,
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

/* Values of utrace_arg.len for memory, besides the number of an argument. */
#define UTRACE_LEN_RESULT	6	/* result of the call, in bytes */
#define UTRACE_LEN_FIXED	0x80	/* other bits: length in bytes */

/**
 * struct utrace_arg - one argument
 * @type: enum utrace_arg_type
 * @len: for memory, the argument that contains its length, or a UTRACE_LEN_
 *	value; for iovecs, the argument that contains their number; for
 *	sockaddrs, the argument that contains their length; for
 *	UTRACE_ARG_FLAGS, enum utrace_flag_set
 */
struct utrace_arg {
	u8 type;
	u8 len;
};

/**
 * struct utrace_call - one system call
 * @name: name in the kernel's table; NULL: no call has this number
 * @name_len: length of @name
 * @nargs: number of arguments; 0 if @known is not set
 * @known: args.tbl has a line for the call
 * @result: type of the result of a call that did not fail; one of enum
 *	utrace_arg_type that needs no length
 * @arg: types of the arguments
 */
struct utrace_call {
	const char *name;
	u8 name_len;
	u8 nargs;
	bool known;
	u8 result;
	struct utrace_arg arg[UTRACE_CALL_ARGS];
};

const struct utrace_call *utrace_call_of(unsigned int nr);
int utrace_call_nr(const char *name, bool ia32);

#endif /* _KERNEL_UTRACE_DECODE_TABLE_H */
