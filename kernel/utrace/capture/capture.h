/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what is taken along with an event
 *
 * A capture is a buffer of items (struct utrace_item), one behind the other, each
 * a header and its bytes.  It is filled in the context of the task whose event it is, before any
 * ring is reserved: reading user memory may fault and sleep.
 */
#ifndef _KERNEL_UTRACE_CAPTURE_CAPTURE_H
#define _KERNEL_UTRACE_CAPTURE_CAPTURE_H

#include <linux/types.h>
#include <uapi/linux/utrace.h>

struct pt_regs;
struct user_namespace;
struct utrace_call;

/* Bytes of one item at most, and of all items of one event, headers included. */
#define UTRACE_CAPTURE_ITEM	512
#define UTRACE_CAPTURE_SIZE	2048

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

/*
 * An empty capture of @bytes at most, a multiple of 8 and not more than
 * UTRACE_CAPTURE_SIZE, for what is in event.c.
 */
#define UTRACE_CAPTURE_INIT(bytes)	{ .size = (bytes) }

/* What is taken of the arguments of a system call. */
#define UTRACE_CAPTURE_STRINGS	0x01	/* strings, argv */
#define UTRACE_CAPTURE_BUFFERS	0x02	/* memory and iovecs */
#define UTRACE_CAPTURE_SOCKETS	0x04	/* struct sockaddr */
#define UTRACE_CAPTURE_FILES	0x08	/* the paths behind descriptors */
#define UTRACE_CAPTURE_ALL	0x0f
/* What is taken of the task, see utrace_capture_stacks(). */
#define UTRACE_CAPTURE_STACK	0x10	/* return addresses by frame pointers */
#define UTRACE_CAPTURE_RAW_STACK 0x20	/* registers and the top of the stack */

/* event.c */
bool utrace_capture_start(struct utrace_capture *c);
void utrace_capture_call(struct utrace_capture *c, unsigned int nr,
			 const unsigned long args[6], unsigned int what);
void utrace_capture_result(struct utrace_capture *c, unsigned int nr,
			   const unsigned long args[6], long result,
			   unsigned int what);
void utrace_capture_stacks(struct utrace_capture *c, struct pt_regs *regs,
			   unsigned int what);
void utrace_capture_free(struct utrace_capture *c);

/* item.c, args.c, task.c */
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
void utrace_capture_exec(struct utrace_capture *c, struct user_namespace *ns);
void utrace_capture_creds(struct utrace_capture *c, struct user_namespace *ns);
void utrace_capture_cwd(struct utrace_capture *c);
void utrace_capture_stack(struct utrace_capture *c, struct pt_regs *regs);
void utrace_capture_raw_stack(struct utrace_capture *c, struct pt_regs *regs);
void utrace_capture_mapping(struct utrace_capture *c, unsigned long addr);

#endif /* _KERNEL_UTRACE_CAPTURE_CAPTURE_H */
