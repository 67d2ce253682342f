/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - data that is captured with an event
 *
 * A capture is a buffer of consecutive items (struct utrace_item), each a
 * header and its bytes.  The task that caused the event fills the buffer in its
 * own context and before any ring is reserved: reading user memory may fault
 * and sleep, and a reserved ring requires preemption to be off.
 */
#ifndef _KERNEL_UTRACE_CAPTURE_CAPTURE_H
#define _KERNEL_UTRACE_CAPTURE_CAPTURE_H

#include <linux/types.h>
#include <uapi/linux/utrace.h>

#include "../decode/table.h"

struct pt_regs;
struct user_namespace;

/*
 * Size of the largest capture, including item headers, unless a client allows a
 * larger one.
 */
#define UTRACE_CAPTURE_SIZE	2048

/**
 * struct utrace_capture - a capture in progress
 * @data: the items; from kmalloc() or the caller of utrace_capture_init(), NULL
 *	while nothing was captured by event.c
 * @used: bytes of @data that hold items; a multiple of 8
 * @size: bytes of @data that may hold items; a multiple of 8
 * @most: the largest @size that event.c may choose if items do not fit; a
 *	multiple of 8
 * @strings: maximum bytes of an item with a string, several strings or a path,
 *	without its header
 * @buffers: maximum bytes of an item with memory that a call reads or writes,
 *	without its header
 * @items: number of items in @data
 * @inner: the pointer to the memory of the next items; all are 0 if an argument
 *	points to it
 * @inner.parent: number of the item that contains the pointer, from 1
 * @inner.field: offset of the pointer in an element of that item
 * @inner.index: number of the element; before an item of an argument: how many
 *	records its memory has
 * @lost: number of times that there was no room or memory, for one or more
 *	items
 * @cut: an item was truncated or omitted, and a larger buffer would hold more
 *	of it
 * @exit: items are captured at the end of a call
 *
 * Only the task whose event is captured uses it, so no lock guards it.
 */
struct utrace_capture {
	u8 *data;
	u16 used;
	u16 size;
	u16 most;
	u16 strings;
	u16 buffers;
	u16 items;
	struct {
		u16 parent;
		u16 field;
		u32 index;
	} inner;
	u16 lost;
	bool cut;
	bool exit;
};

/*
 * An empty capture for the functions of event.c, which allocate its buffer.
 * @bytes is the room for items: a multiple of 8, and UTRACE_CAPTURE_SIZE at
 * most.
 */
#define UTRACE_CAPTURE_INIT(bytes) {		\
	.size = (bytes),			\
	.most = (bytes),			\
	.strings = UTRACE_ITEM_SIZE,		\
	.buffers = UTRACE_ITEM_SIZE,		\
}

/*
 * The bits of uapi/linux/utrace.h for arguments of a system call, but for
 * UTRACE_CAPTURE_STRUCTS, since the kernel prints no structures.
 * utrace_capture_stacks() handles the other bits.
 */
#define UTRACE_CAPTURE_ARGS	(UTRACE_CAPTURE_STRINGS |		\
				 UTRACE_CAPTURE_BUFFERS |		\
				 UTRACE_CAPTURE_SOCKETS |		\
				 UTRACE_CAPTURE_FILES)

/* event.c.  Clients call these.  They allocate the buffer. */
bool utrace_capture_start(struct utrace_capture *c);
void utrace_capture_call(struct utrace_capture *c, unsigned int nr,
			 const unsigned long args[6], unsigned int what);
void utrace_capture_result(struct utrace_capture *c, unsigned int nr,
			   const unsigned long args[6], long result,
			   unsigned int what);
void utrace_capture_stacks(struct utrace_capture *c, struct pt_regs *regs,
			   unsigned int what);
void utrace_capture_program(struct utrace_capture *c,
			    struct user_namespace *ns);
void utrace_capture_free(struct utrace_capture *c);

/*
 * item.c, args.c, structs.c, task.c.  event.c calls these.  A client calls them
 * only after utrace_capture_start().
 */
void utrace_capture_init(struct utrace_capture *c, void *data, size_t size);
void utrace_capture_entry(struct utrace_capture *c,
			  const struct utrace_call *call, enum utrace_abi abi,
			  const unsigned long args[6], unsigned int what);
void utrace_capture_exit(struct utrace_capture *c,
			 const struct utrace_call *call, enum utrace_abi abi,
			 const unsigned long args[6], long result,
			 unsigned int what);
void utrace_capture_sockaddr(struct utrace_capture *c, unsigned int arg,
			     const void __user *from, int len);
void utrace_capture_structs(struct utrace_capture *c, unsigned int arg,
			    const struct utrace_memory *memory,
			    enum utrace_abi abi, const unsigned long args[6],
			    long result, unsigned int what);
void utrace_capture_files(struct utrace_capture *c, unsigned int arg,
			  const struct utrace_memory *memory,
			  const unsigned long args[6]);
void utrace_capture_string(struct utrace_capture *c, unsigned int arg,
			   const char __user *from);
void utrace_capture_bytes(struct utrace_capture *c, unsigned int arg,
			  const void __user *from, size_t len);
void utrace_capture_file(struct utrace_capture *c, unsigned int arg, int fd);
void utrace_capture_exec(struct utrace_capture *c, struct user_namespace *ns);
void utrace_capture_creds(struct utrace_capture *c, struct user_namespace *ns);
void utrace_capture_cwd(struct utrace_capture *c, enum utrace_item_kind kind,
			unsigned int arg);
void utrace_capture_stack(struct utrace_capture *c, struct pt_regs *regs);
void utrace_capture_raw_stack(struct utrace_capture *c, struct pt_regs *regs);

#endif /* _KERNEL_UTRACE_CAPTURE_CAPTURE_H */
