/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what is taken along with an event
 *
 * A capture is a buffer of items, one behind the other, each a header and its
 * bytes.  It is filled in the context of the task whose event it is, before any
 * ring is reserved: reading user memory may fault and sleep.
 */
#ifndef _KERNEL_UTRACE_CAPTURE_H
#define _KERNEL_UTRACE_CAPTURE_H

#include <linux/types.h>

struct pt_regs;
struct utrace_call;

/* Bytes of one item at most, and of all items of one event, headers included. */
#define UTRACE_CAPTURE_ITEM	512
#define UTRACE_CAPTURE_SIZE	2048

/**
 * enum utrace_item_kind - what the bytes of an item are
 * @UTRACE_ITEM_STRING: text, without the NUL behind it
 * @UTRACE_ITEM_BYTES: memory
 * @UTRACE_ITEM_SOCKADDR: a struct sockaddr of some family
 * @UTRACE_ITEM_FILE: the path behind a descriptor, or "socket:[INODE]" and
 *	the like
 * @UTRACE_ITEM_ARGV: strings, a NUL behind each
 * @UTRACE_ITEM_EXE: the path of the program that runs
 * @UTRACE_ITEM_CWD: the working directory
 * @UTRACE_ITEM_CREDS: struct utrace_item_creds
 * @UTRACE_ITEM_STACK: return addresses in user memory, u64, innermost first
 * @UTRACE_ITEM_RAW_STACK: struct utrace_item_raw_stack and the memory from the
 *	stack pointer on
 * @UTRACE_ITEM_MAPPING: struct utrace_item_mapping and the path of the file
 */
enum utrace_item_kind {
	UTRACE_ITEM_STRING = 1,
	UTRACE_ITEM_BYTES,
	UTRACE_ITEM_SOCKADDR,
	UTRACE_ITEM_FILE,
	UTRACE_ITEM_ARGV,
	UTRACE_ITEM_EXE,
	UTRACE_ITEM_CWD,
	UTRACE_ITEM_CREDS,
	UTRACE_ITEM_STACK,
	UTRACE_ITEM_RAW_STACK,
	UTRACE_ITEM_MAPPING,
};

/* utrace_item::flags */
#define UTRACE_ITEM_TRUNCATED	0x01	/* there was more */
#define UTRACE_ITEM_FAULTED	0x02	/* no memory there, or not all of it */

/* utrace_item::arg of what belongs to no argument */
#define UTRACE_ITEM_NO_ARG	0xff

/**
 * struct utrace_item - header of an item
 * @kind: enum utrace_item_kind
 * @arg: which argument of a system call it is of, from 0
 * @flags: UTRACE_ITEM_TRUNCATED and UTRACE_ITEM_FAULTED
 * @reserved: 0
 * @len: bytes of @data, without what aligns the next header
 * @reserved2: 0
 * @whole: what the length would be if nothing were truncated, as far as known,
 *	else @len
 * @data: the bytes; the next header follows at a multiple of 8
 */
struct utrace_item {
	u8 kind;
	u8 arg;
	u8 flags;
	u8 reserved;
	u16 len;
	u16 reserved2;
	u64 whole;
	u8 data[];
};

struct utrace_item_creds {
	u32 uid, gid, euid, egid, suid, sgid, fsuid, fsgid;
	u64 cap_effective;
};

struct utrace_item_raw_stack {
	u64 ip, sp, bp;
};

struct utrace_item_mapping {
	u64 start, end, pgoff;	/* addresses; offset in the file, in bytes */
	u32 prot;		/* PROT_* */
	u32 build_id_len;	/* 0: the file has none, or it is not in memory */
	u8 build_id[24];
};

/**
 * struct utrace_capture - a capture being made
 * @data: the items
 * @used: bytes of it, a multiple of 8
 * @size: bytes of @data at most, a multiple of 8
 * @lost: items for which there was no room at all
 */
struct utrace_capture {
	u8 *data;
	u16 used;
	u16 size;
	u16 lost;
};

/* What utrace_capture_entry() and utrace_capture_exit() take. */
#define UTRACE_CAPTURE_STRINGS	0x01	/* strings, argv */
#define UTRACE_CAPTURE_BUFFERS	0x02	/* memory and iovecs */
#define UTRACE_CAPTURE_SOCKETS	0x04	/* struct sockaddr */
#define UTRACE_CAPTURE_FILES	0x08	/* the paths behind descriptors */
#define UTRACE_CAPTURE_ALL	0x0f

void utrace_capture_init(struct utrace_capture *c, void *data, size_t size);
void utrace_capture_entry(struct utrace_capture *c,
			  const struct utrace_call *call,
			  const unsigned long args[6], unsigned int what);
void utrace_capture_exit(struct utrace_capture *c,
			 const struct utrace_call *call,
			 const unsigned long args[6], long result,
			 unsigned int what);
bool utrace_capture_takes(const struct utrace_call *call, bool exit,
			  unsigned int what);
void utrace_capture_string(struct utrace_capture *c, unsigned int arg,
			   const char __user *from);
void utrace_capture_bytes(struct utrace_capture *c, unsigned int arg,
			  const void __user *from, size_t len);
void utrace_capture_file(struct utrace_capture *c, unsigned int arg, int fd);
void utrace_capture_exec(struct utrace_capture *c);
void utrace_capture_creds(struct utrace_capture *c);
void utrace_capture_cwd(struct utrace_capture *c);
void utrace_capture_stack(struct utrace_capture *c, struct pt_regs *regs);
void utrace_capture_raw_stack(struct utrace_capture *c, struct pt_regs *regs);
void utrace_capture_mapping(struct utrace_capture *c, unsigned long addr);
const struct utrace_item *utrace_capture_next(const void *data, size_t used,
					      const struct utrace_item *item);

#endif /* _KERNEL_UTRACE_CAPTURE_H */
