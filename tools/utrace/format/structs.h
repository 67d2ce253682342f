/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - structures that arguments of system calls point to, as text
 */
#ifndef UTRACE_FORMAT_STRUCTS_H
#define UTRACE_FORMAT_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "decode/forms.h"
#include "decode/items.h"
#include "decode/table.h"

struct seq_buf;
struct element;

/* How a member is printed; decode/tables/README explains the types. */
enum member_type {
	MEMBER_D,
	MEMBER_U,
	MEMBER_X,
	MEMBER_O,
	MEMBER_FLAGS,
	MEMBER_ADDR,
	MEMBER_FD,
	MEMBER_PID,
	MEMBER_SIGNAL,
	MEMBER_ID,
	MEMBER_DEV,
	MEMBER_MODE,
	MEMBER_TIME,
	MEMBER_STR,
	MEMBER_BYTES,
	MEMBER_CSTR,
	MEMBER_XSTR,
	MEMBER_SIGSET,
	MEMBER_BE16,
	MEMBER_BE32,
	MEMBER_INADDR,
	MEMBER_IN6ADDR,
	MEMBER_ARRAY,
	MEMBER_STRUCT,
	MEMBER_POINTER,
	MEMBER_BYTES_POINTER,
	MEMBER_STRING_POINTER,
	MEMBER_SOCKADDR_POINTER,
	MEMBER_HOOK,
};

/* member.flags */
#define MEMBER_VERBOSE	0x01	/* left out without -v */
#define MEMBER_NONZERO	0x02	/* left out if it is 0 */
#define MEMBER_BARE	0x04	/* without its name */
#define MEMBER_MANY	0x08	/* a pointer to an array of structures */
#define MEMBER_OUT	0x10	/* only in what the call has written */
#define MEMBER_MORE	0x20	/* it and the following ones come with a longer structure */
#define MEMBER_OR_VERBOSE 0x40	/* with -v its test does not count */
#define MEMBER_AFTER	0x80	/* the memory itself is at its offset */
#define MEMBER_DOTS	0x100	/* without -v "..." stands at its place */

/**
 * struct member - a member of a structure
 * @name: its name
 * @name_len: length of @name
 * @type: enum member_type
 * @flags: MEMBER_ bits
 * @test: number of the test that decides whether it is there, from 1, or 0
 * @elements: for MEMBER_ARRAY, enum member_type of the elements
 * @of: the set of names or the structure, by @type or @elements
 * @at: offset by ABI
 * @size: bytes by ABI
 * @element: for MEMBER_ARRAY, bytes of an element by ABI
 * @count_at: for MEMBER_ARRAY and MEMBER_CSTR, offset by ABI of the number of
 *	elements
 * @count_size: bytes of that number by ABI; 0: all elements are there
 * @count_signed: that number has a sign
 * @nsec_at: for MEMBER_TIME, offset of the nanoseconds by ABI, or 0
 * @hook: the function that prints the value, or NULL
 */
struct member {
	const char *name;
	__u8 name_len;
	__u8 type;
	__u16 flags;
	__u8 elements;
	__u16 test;
	__u16 of;
	__u16 at[UTRACE_ABIS];
	__u16 size[UTRACE_ABIS];
	__u16 element[UTRACE_ABIS];
	__u16 count_at[UTRACE_ABIS];
	__u8 count_size[UTRACE_ABIS];
	bool count_signed[UTRACE_ABIS];
	__u16 nsec_at[UTRACE_ABIS];
	void (*hook)(const struct element *element, const struct member *member);
};

/**
 * struct structure - a structure of decode/tables/
 * @name: its name there
 * @first: number of its first member
 * @n: number of its members
 * @brackets: print one like an array of one
 * @part: the hook prints also a part of one
 * @paths: its descriptors count for -P
 * @hook: prints all of it instead of its members, or NULL
 */
struct structure {
	const char *name;
	__u16 first;
	__u16 n;
	bool brackets;
	bool part;
	bool paths;
	void (*hook)(const struct element *element);
};

/**
 * struct element - a structure that is being printed
 * @s: the text is appended here
 * @items: the captured items of the call
 * @args: arguments of the call
 * @item: the item that contains the structure
 * @structure: its kind
 * @layout: the index of its kind
 * @data: its bytes
 * @len: number of bytes, which may be fewer than the structure has
 * @from: number of bytes before @data in the element of @item: this is a
 *	structure in a structure
 * @index: number of the element in @item
 * @address: where the first element of @item was
 * @input: the call only reads it
 * @abi: ABI of the call
 */
struct element {
	struct seq_buf *s;
	const struct utrace_call_items *items;
	const unsigned long *args;
	const struct utrace_item *item;
	const struct structure *structure;
	unsigned int layout;
	const __u8 *data;
	size_t len;
	size_t from;
	unsigned int index;
	__u64 address;
	bool input;
	enum utrace_abi abi;
};

bool structs_print(struct seq_buf *s, const struct utrace_call_items *items,
		   const unsigned long *args, unsigned int arg, const struct utrace_memory *memory,
		   enum utrace_abi abi);

bool structs_have_paths(const struct utrace_memory *memory);
void structs_print_mode(struct seq_buf *s, __u32 mode);

/* For hooks. */
const struct member *element_nth(const struct element *element, unsigned int n);
bool element_is_zero(const struct element *element, const struct member *member);
bool element_is_there(const struct element *element, const struct member *member);
size_t element_of(struct element *element, const struct element *outer,
		  const char *name, const void *data, size_t len);
void element_print_file(const struct element *element, const struct utrace_item *file, int fd);
void element_print_tail(const struct element *element, size_t known);
void element_print_rest(const struct element *element);
void element_print_members(const struct element *element);
void element_print_answer(const struct element *element);
void element_print_start(const struct element *element);
bool element_before(const struct element *element, struct element *before);
void element_print_plain(const struct element *element,
			 const struct member *member);
void structs_print_address(struct seq_buf *s, __u64 address);
void structs_print_network(struct seq_buf *s, const void *data, size_t len,
			   const char *text);
void structs_print_quoted_hex(struct seq_buf *s, const void *data, size_t len);
void structs_print_ifindex(struct seq_buf *s, unsigned int index);
__u64 element_number(const struct element *element, const struct member *member);
const struct member *element_member(const struct element *element,
				    const char *name);
__u64 element_named(const struct element *element, const char *name);
const struct utrace_item *element_child(const struct element *element,
					const struct member *member);
size_t element_size(const struct element *element);
__u64 element_address(const struct element *element);
void element_print(const struct element *element);
void element_print_whole(const struct element *element);
void element_print_array(const struct element *element,
			 const struct member *member);
void element_print_member(const struct element *element,
			  const struct member *member);

#endif /* UTRACE_FORMAT_STRUCTS_H */
