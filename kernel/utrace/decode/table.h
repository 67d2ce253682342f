/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the arguments of system calls
 *
 * There is one row per call, generated when the kernel is built: names and
 * numbers come from the kernel's tables of system calls, types of arguments
 * from args.tbl, the structures that arguments point to from tables/.  A
 * call whose arguments depend on a command, as those of fcntl() do, has
 * additional rows, one for each command.  The code that captures arguments and
 * the code that prints them use only these tables to interpret an argument.
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
 * @UTRACE_ARG_NONE: there is no such argument, or a command does not use it
 * @UTRACE_ARG_HEX: a number that is printed in base 16
 * @UTRACE_ARG_ADDR: a pointer to memory that is not captured
 * @UTRACE_ARG_INT: a signed number of 32 bits
 * @UTRACE_ARG_LONG: a signed number
 * @UTRACE_ARG_SIZE: an unsigned number
 * @UTRACE_ARG_OCTAL: the permissions of a file
 * @UTRACE_ARG_FD: a file descriptor; if @len is not 0, of a context without a path
 * @UTRACE_ARG_DFD: a file descriptor or AT_FDCWD
 * @UTRACE_ARG_SIGNAL: the number of a signal
 * @UTRACE_ARG_PATH: pointer to a string that names a file
 * @UTRACE_ARG_STRING: pointer to a string that names no file
 * @UTRACE_ARG_IN: pointer to memory that the call reads; utrace_arg.len gives
 *	its size
 * @UTRACE_ARG_OUT: pointer to memory that the call writes; it is captured at
 *	the exit
 * @UTRACE_ARG_SOCKADDR: pointer to a struct sockaddr that the call reads
 * @UTRACE_ARG_OUT_SOCKADDR: pointer to a struct sockaddr that the call writes;
 *	@len names the argument that points to an int with its length
 * @UTRACE_ARG_ARGV: pointer to an array of pointers to strings, ended by NULL
 * @UTRACE_ARG_FLAGS: a number whose bits or values have names; @len is enum
 *	utrace_flag_set, see flags.c
 * @UTRACE_ARG_STRUCT: pointer to one or more structures; @len is the index of
 *	&struct utrace_memory
 * @UTRACE_ARG_UPPER: in the 32-bit table, the upper half of the argument before
 *	it; if @len is not 0, this is the lower half and the other one the upper.
 *	In the native table it means nothing
 * @UTRACE_ARG_ID: a user or a group
 * @UTRACE_ARG_PID: a process, a thread or a group of processes
 * @UTRACE_ARG_MODE: the type and the permissions of a file
 * @UTRACE_ARG_DEV: the number of a device, after the mode of a file that is one
 * @UTRACE_ARG_HOOK: a number that a function of the command prints; @len is the
 *	number of the function in the command
 * @UTRACE_ARG_NAMES: a result with names, which follow it; as UTRACE_ARG_FLAGS
 * @UTRACE_ARG_TYPES: number of types
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
	UTRACE_ARG_SOCKADDR,
	UTRACE_ARG_OUT_SOCKADDR,
	UTRACE_ARG_ARGV,
	UTRACE_ARG_FLAGS,
	UTRACE_ARG_STRUCT,
	UTRACE_ARG_UPPER,
	UTRACE_ARG_ID,
	UTRACE_ARG_PID,
	UTRACE_ARG_MODE,
	UTRACE_ARG_DEV,
	UTRACE_ARG_HOOK,
	UTRACE_ARG_NAMES,
	UTRACE_ARG_TYPES
};

/*
 * utrace_arg.len for memory: the number of an argument, or UTRACE_LEN_RESULT,
 * and the binary logarithm of the maximum length that the call takes, or 0.
 */
#define UTRACE_LEN_ARG		0x007
#define UTRACE_LEN_MOST		0x0f8
#define UTRACE_LEN_MOST_SHIFT	3
#define UTRACE_LEN_RESULT	6	/* result of the call, in bytes */
#define UTRACE_LEN_TEXT		0x100	/* a NUL at its end is not printed */
#define UTRACE_LEN_QUERY	0x200	/* a size of 0 asks for the length */
#define UTRACE_LEN_FIXED	0x400	/* other bits: length in bytes */

/*
 * Value of utrace_arg.len for a string that is not cut.  A larger value is the
 * number of bytes of the string that the call reads.
 */
#define UTRACE_LEN_NAME		1

/*
 * Value of utrace_arg.len for a number that counts pages of 4 KiB: the shift
 * that makes bytes of it.
 */
#define UTRACE_LEN_PAGES	12

/**
 * struct utrace_arg - one argument
 * @type: enum utrace_arg_type
 * @len: for memory, the argument that contains its length, and UTRACE_LEN_
 *	bits; for strings, see UTRACE_LEN_NAME; for sockaddrs, the argument
 *	that contains their length; for UTRACE_ARG_FLAGS, enum utrace_flag_set;
 *	for UTRACE_ARG_STRUCT, the index in utrace_memories[]; for a number,
 *	its bytes if they are not those of the ABI's word, or UTRACE_LEN_PAGES
 */
struct utrace_arg {
	u16 type : 5;
	u16 len : 11;
};

/* The layouts of structures, in the order of the arrays below. */
enum utrace_abi {
	UTRACE_ABI_NATIVE,
	UTRACE_ABI_IA32,
	UTRACE_ABI_X32,
	UTRACE_ABIS
};

/**
 * enum utrace_unit - what the length of memory counts
 * @UTRACE_UNIT_ONE: nothing: there is one structure
 * @UTRACE_UNIT_ELEMENTS: structures
 * @UTRACE_UNIT_BYTES: bytes
 * @UTRACE_UNIT_POINTED: bytes, in an int in the memory that the argument points
 *	to
 * @UTRACE_UNIT_POINTED_ELEMENTS: structures, in such an int; a hook prints them
 *	all
 * @UTRACE_UNIT_FIXED: structures, and the row contains the length
 * @UTRACE_UNIT_AFTER: bytes after one structure
 * @UTRACE_UNIT_PAGES: bytes; there is one structure for each page of them
 * @UTRACE_UNIT_BITS: bits of a set of descriptors; there are as many structures
 *	as have that many
 * @UTRACE_UNIT_RECORDS: bytes of records of different lengths; the structure is
 *	the head of a record and ends with a u16, the bytes of the record
 */
enum utrace_unit {
	UTRACE_UNIT_ONE,
	UTRACE_UNIT_ELEMENTS,
	UTRACE_UNIT_BYTES,
	UTRACE_UNIT_POINTED,
	UTRACE_UNIT_POINTED_ELEMENTS,
	UTRACE_UNIT_FIXED,
	UTRACE_UNIT_AFTER,
	UTRACE_UNIT_PAGES,
	UTRACE_UNIT_BITS,
	UTRACE_UNIT_RECORDS,
};

/* utrace_memory.flags */
#define UTRACE_MEMORY_IN	0x01	/* the call reads it */
#define UTRACE_MEMORY_OUT	0x02	/* the call writes it */
#define UTRACE_MEMORY_ALWAYS	0x04	/* the call writes it even if it fails */
#define UTRACE_MEMORY_INT	0x08	/* the upper half of @arg is ignored */
#define UTRACE_MEMORY_FLAT	0x10	/* follow pointers only at a successful exit */
#define UTRACE_MEMORY_RESTART	0x20	/* written only if a signal interrupts it */
#define UTRACE_MEMORY_ENTRY	0x40	/* printed as it was at the entry */
#define UTRACE_MEMORY_FRAME	0x80	/* it is in the frame of a handler */

/**
 * struct utrace_memory - structures that an argument points to
 * @layout: index of their &struct utrace_layout
 * @flags: UTRACE_MEMORY_ bits
 * @unit: enum utrace_unit, for the value of @arg
 * @arg: the argument that contains the length, or UTRACE_LEN_RESULT; for
 *	UTRACE_UNIT_FIXED, the length
 * @what: the UTRACE_CAPTURE_ bit that asks for them
 * @most: binary logarithm of the largest length that the call takes; 0: any
 * @at: for UTRACE_MEMORY_FRAME, offset from the stack pointer, by ABI; for
 *	UTRACE_UNIT_POINTED, offset of the length from where @arg points to
 */
struct utrace_memory {
	u16 layout;
	u8 flags;
	u8 unit;
	u8 arg;
	u8 what;
	u8 most;
	u16 at[UTRACE_ABIS];
};

/**
 * struct utrace_layout - a structure of programs
 * @size: bytes of the structure by ABI; 0: the ABI has no such structure
 * @pointer: index in utrace_pointers[] of its first pointer
 * @npointers: number of its pointers whose memory is captured
 * @limit_at: offset by ABI of an int that the call writes: the number of bytes
 *	that it has written to the memory of struct iovec; 0: its result is
 */
struct utrace_layout {
	u16 size[UTRACE_ABIS];
	u16 limit_at[UTRACE_ABIS];
	u16 pointer;
	u8 npointers;
};

/**
 * struct utrace_pointer - a pointer in a structure
 * @kind: enum utrace_item_kind of the memory that it points to;
 *	UTRACE_ITEM_FILE: it is no pointer but a descriptor
 * @unit: enum utrace_unit, for the value of the length
 * @limited: at the exit, the number of bytes that the call has written limits
 *	the memory behind this and the following pointers together
 * @layout: index of &struct utrace_layout, for UTRACE_ITEM_STRUCT
 * @count: the length, if no member contains it
 * @at: offset of the pointer by ABI
 * @size: bytes of the pointer by ABI; 0: there is no pointer, the memory is at
 *	@at itself, for example after the structure
 * @count_at: offset of the member that contains the length, by ABI
 * @count_size: bytes of that member by ABI; 0: @count is the length
 */
struct utrace_pointer {
	u8 kind;
	u8 unit;
	bool limited;
	u16 layout;
	u16 count;
	u16 at[UTRACE_ABIS];
	u8 size[UTRACE_ABIS];
	u16 count_at[UTRACE_ABIS];
	u8 count_size[UTRACE_ABIS];
};

/* utrace_unpack.from: this or a higher number is a word of the memory. */
#define UTRACE_UNPACK_WORD	8

/**
 * struct utrace_unpack - how a call takes the arguments of another call
 * @memory: the argument that points to words with arguments
 * @words: number of these words, or 0
 * @from: for each argument of the other call, the argument that is it, or
 *	UTRACE_UNPACK_WORD and the number of the word
 *
 * Calls of the 32-bit table alone: socketcall(), ipc(), mmap() and select().
 */
struct utrace_unpack {
	u8 memory;
	u8 words;
	u8 from[UTRACE_CALL_ARGS];
};

/*
 * Bit of the number of a call that another call stands for.  Only the command
 * makes such numbers: the other bits are utrace_call.unpack.
 */
#define UTRACE_NR_UNPACKED	0x10000000

extern const struct utrace_memory utrace_memories[];
extern const struct utrace_layout utrace_layouts[];
extern const struct utrace_pointer utrace_pointers[];

/**
 * struct utrace_call - one system call
 * @name: name in the kernel's table; NULL: no call has this number
 * @name_len: length of @name
 * @nargs: number of arguments; 0 if @known is not set
 * @known: args.tbl has a line for the call
 * @choice: number of the choice among the rows by command, from 1; 0: there are
 *	no such rows
 * @unpack: number of the other call that this one stands for, from 1; 0: none
 * @takes_in: the UTRACE_CAPTURE_ bits for which something may be captured at
 *	the entry of the call; for a call with rows by command, with any command
 * @takes_out: the same at its exit
 * @result: type of the result of a call that did not fail: one that needs no
 *	length, or UTRACE_ARG_FLAGS
 * @arg: types of the arguments
 */
struct utrace_call {
	const char *name;
	u8 name_len;
	u8 nargs;
	bool known;
	u8 choice;
	u8 unpack;
	u8 takes_in;
	u8 takes_out;
	struct utrace_arg result;
	struct utrace_arg arg[UTRACE_CALL_ARGS];
};

const struct utrace_call *utrace_call_of(unsigned int nr);
const struct utrace_call *utrace_call_by_command(unsigned int nr,
						 const unsigned long args[6]);
const struct utrace_unpack *utrace_unpack_of(const struct utrace_call *call);
const struct utrace_call *utrace_unpack(const struct utrace_call *call,
					const unsigned long args[6],
					const u32 *words,
					unsigned long unpacked[6]);
#ifndef __KERNEL__
u64 utrace_unpacked_by(unsigned int nr);
#endif
enum utrace_abi utrace_abi_of(unsigned int nr);
int utrace_call_nr(const char *name, bool ia32);

#endif /* _KERNEL_UTRACE_DECODE_TABLE_H */
