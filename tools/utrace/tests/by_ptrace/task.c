// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command on ptrace(2): the functions of kernel/utrace/capture/task.c
 *
 * What the kernel takes from the task, this takes from /proc.  Credentials are
 * left out, since the command does not print them, and of the stack by frame
 * pointers all but the first address.
 */
#include <stdio.h>

#include "capture/item.h"

static void capture_link(struct utrace_capture *c, enum utrace_item_kind kind,
			 unsigned int arg, const char *name)
{
	char path[PATH_MAX];
	ssize_t whole = traced_link(path, sizeof(path), name);
	struct utrace_item *item;
	size_t len;

	if (whole < 0)
		return;
	item = utrace_item_begin(c, kind, arg, 0);
	if (!item)
		return;
	len = min_t(size_t, whole, utrace_item_room(c));
	memcpy(item->data, path, len);
	utrace_item_end(c, item, len, whole,
			len < (size_t)whole ? UTRACE_ITEM_F_TRUNCATED : 0);
}

void utrace_capture_file(struct utrace_capture *c, unsigned int arg, int fd)
{
	char name[32];

	if (fd < 0)
		return;
	snprintf(name, sizeof(name), "fd/%d", fd);
	capture_link(c, UTRACE_ITEM_FILE, arg, name);
}

void utrace_capture_cwd(struct utrace_capture *c, enum utrace_item_kind kind,
			unsigned int arg)
{
	capture_link(c, kind, arg, "cwd");
}

void utrace_capture_creds(struct utrace_capture *c, struct user_namespace *ns)
{
	(void)c;
	(void)ns;
}

void utrace_capture_exec(struct utrace_capture *c, struct user_namespace *ns)
{
	capture_link(c, UTRACE_ITEM_EXE, UTRACE_ITEM_NO_ARG, "exe");
	utrace_capture_cwd(c, UTRACE_ITEM_CWD, UTRACE_ITEM_NO_ARG);
	utrace_capture_creds(c, ns);
}

/* Only the first address, for -i. */
void utrace_capture_stack(struct utrace_capture *c, struct pt_regs *regs)
{
	unsigned long ip, sp, bp;
	struct utrace_item *item;
	u64 address;

	(void)regs;
	item = utrace_item_begin(c, UTRACE_ITEM_STACK, UTRACE_ITEM_NO_ARG,
				 sizeof(address));
	if (!item)
		return;
	traced_registers(&ip, &sp, &bp);
	address = ip;
	memcpy(item->data, &address, sizeof(address));
	utrace_item_end(c, item, sizeof(address), sizeof(address), 0);
}

void utrace_capture_raw_stack(struct utrace_capture *c, struct pt_regs *regs)
{
	struct utrace_item_raw_stack head = { .size = sizeof(head) };
	unsigned long ip, sp, bp;
	struct utrace_item *item;
	size_t want, got;

	(void)regs;
	item = utrace_item_begin(c, UTRACE_ITEM_RAW_STACK, UTRACE_ITEM_NO_ARG,
				 sizeof(head));
	if (!item)
		return;
	traced_registers(&ip, &sp, &bp);
	head.ip = ip;
	head.sp = sp;
	head.bp = bp;
	memcpy(item->data, &head, sizeof(head));
	want = utrace_item_room(c) - sizeof(head);
	got = traced_read(item->data + sizeof(head), sp, want);
	utrace_item_end(c, item, sizeof(head) + got, sizeof(head) + got,
			got < want ? UTRACE_ITEM_F_FAULTED :
				     UTRACE_ITEM_F_TRUNCATED);
}
