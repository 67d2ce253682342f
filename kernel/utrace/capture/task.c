// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: files, program, credentials and stack of a task
 *
 * The caller is the task itself, before report_death: the task still has its
 * memory, its file table and its fs_struct.
 */
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/path.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "item.h"

/*
 * Maximum number of return addresses of a stack, including the instruction
 * pointer.
 */
#define FRAMES	32

/*
 * The structures are copied to the buffer as they are, so a hole would leak
 * kernel memory to the reader.
 */
static_assert(sizeof(struct utrace_item_creds) == 8 * 4 + 8);
static_assert(sizeof(struct utrace_item_raw_stack) == 4 * 8);

/* Files */

/* Append a path after the @before bytes of the item, and end the item. */
static void end_with_path(struct utrace_capture *c, struct utrace_item *item,
			  size_t before, const struct path *path)
{
	char *buf = __getname(), *name = ERR_PTR(-ENOMEM);
	size_t room = utrace_item_room(c) - before;
	unsigned int flags = UTRACE_ITEM_F_TRUNCATED;
	size_t whole = 0, len = 0;

	if (buf)
		name = d_path(path, buf, PATH_MAX);
	if (!IS_ERR(name)) {
		whole = strlen(name);
		len = min(whole, room);
		memcpy(item->data + before, name, len);
		flags = len < whole ? UTRACE_ITEM_F_TRUNCATED : 0;
	}
	if (buf)
		__putname(buf);
	utrace_item_end(c, item, before + len, before + whole, flags);
}

static void capture_path(struct utrace_capture *c, enum utrace_item_kind kind,
			 unsigned int arg, const struct path *path)
{
	struct utrace_item *item = utrace_item_begin(c, kind, arg, 0);

	if (item)
		end_with_path(c, item, 0, path);
}

/**
 * utrace_capture_file() - capture the path of an open descriptor
 * @c: the capture, with a buffer
 * @arg: number of the argument that is the descriptor, or UTRACE_ITEM_NO_ARG
 *	for the result
 * @fd: the descriptor; if it is not open, nothing is captured
 *
 * Context: The task itself; may sleep.
 */
void utrace_capture_file(struct utrace_capture *c, unsigned int arg, int fd)
{
	struct file *file = fget_raw(fd);

	if (!file)
		return;
	capture_path(c, UTRACE_ITEM_FILE, arg, &file->f_path);
	fput(file);
}

/**
 * utrace_capture_cwd() - capture the path of the working directory
 * @c: the capture, with a buffer
 * @kind: UTRACE_ITEM_FILE for an argument that is AT_FDCWD, else
 *	UTRACE_ITEM_CWD
 * @arg: number of that argument, or UTRACE_ITEM_NO_ARG
 *
 * Context: The task itself; may sleep.
 */
void utrace_capture_cwd(struct utrace_capture *c, enum utrace_item_kind kind,
			unsigned int arg)
{
	struct path pwd;

	get_fs_pwd(current->fs, &pwd);
	capture_path(c, kind, arg, &pwd);
	path_put(&pwd);
}

/* The program */

static void capture_exe(struct utrace_capture *c)
{
	struct file *file = get_mm_exe_file(current->mm);

	if (!file)
		return;
	capture_path(c, UTRACE_ITEM_EXE, UTRACE_ITEM_NO_ARG, &file->f_path);
	fput(file);
}

/*
 * Capture what /proc/PID/cmdline shows: memory of the program, which may have
 * overwritten it.
 */
static void capture_cmdline(struct utrace_capture *c)
{
	struct mm_struct *mm = current->mm;
	unsigned long start, end;

	/* prctl(PR_SET_MM) of another thread changes both under the lock. */
	spin_lock(&mm->arg_lock);
	start = mm->arg_start;
	end = mm->arg_end;
	spin_unlock(&mm->arg_lock);
	utrace_capture_memory(c, UTRACE_ITEM_ARGV, UTRACE_ITEM_NO_ARG,
			      (const void __user *)start,
			      end > start ? end - start : 0);
}

/**
 * utrace_capture_creds() - capture the ids and capabilities of the current task
 * @c: the capture, with a buffer
 * @ns: user namespace of the reader; ids are translated to it
 *
 * Context: The task itself; does not sleep.
 */
void utrace_capture_creds(struct utrace_capture *c, struct user_namespace *ns)
{
	const struct cred *cred = current_cred();
	struct utrace_item_creds creds = {
		.uid	= from_kuid_munged(ns, cred->uid),
		.gid	= from_kgid_munged(ns, cred->gid),
		.euid	= from_kuid_munged(ns, cred->euid),
		.egid	= from_kgid_munged(ns, cred->egid),
		.suid	= from_kuid_munged(ns, cred->suid),
		.sgid	= from_kgid_munged(ns, cred->sgid),
		.fsuid	= from_kuid_munged(ns, cred->fsuid),
		.fsgid	= from_kgid_munged(ns, cred->fsgid),
		.cap_effective = cred->cap_effective.val,
	};
	struct utrace_item *item;

	item = utrace_item_begin(c, UTRACE_ITEM_CREDS, UTRACE_ITEM_NO_ARG,
				 sizeof(creds));
	if (!item)
		return;
	memcpy(item->data, &creds, sizeof(creds));
	utrace_item_end(c, item, sizeof(creds), sizeof(creds), 0);
}

/**
 * utrace_capture_exec() - capture program, arguments, directory and ids
 * @c: the capture, with a buffer
 * @ns: user namespace of the reader, as for utrace_capture_creds()
 *
 * Adds four items: UTRACE_ITEM_EXE, _ARGV, _CWD and _CREDS.
 *
 * Context: report_exec of the task itself, or later; may fault and sleep.
 */
void utrace_capture_exec(struct utrace_capture *c, struct user_namespace *ns)
{
	capture_exe(c);
	capture_cmdline(c);
	utrace_capture_cwd(c, UTRACE_ITEM_CWD, UTRACE_ITEM_NO_ARG);
	utrace_capture_creds(c, ns);
}

/* The stack */

#ifdef CONFIG_UML

static unsigned long user_frame_pointer(struct pt_regs *regs)
{
	return PT_REGS_BP(regs);
}

static size_t user_word(struct pt_regs *regs)
{
	return sizeof(u64);
}

#else /* X86_64 */

static unsigned long user_frame_pointer(struct pt_regs *regs)
{
	return frame_pointer(regs);
}

/* Size of a stack slot in the mode of the task. */
static size_t user_word(struct pt_regs *regs)
{
	return user_64bit_mode(regs) ? sizeof(u64) : sizeof(u32);
}

#endif

/* The data at the frame pointer of a function that maintains one. */
struct user_frame {
	u64 next;
	u64 ret;
};

/*
 * Read the frame at @fp.  @word is the size of a stack slot.  Return false
 * after a fault.
 */
static bool get_frame(struct user_frame *frame, unsigned long fp, size_t word)
{
	const void __user *from = (const void __user *)fp;
	u32 narrow[2];

	if (word == sizeof(u64))
		return !copy_from_user(frame, from, sizeof(*frame));
	if (copy_from_user(narrow, from, sizeof(narrow)))
		return false;
	frame->next = narrow[0];
	frame->ret = narrow[1];
	return true;
}

/*
 * Store at most @most return addresses and return their number.  The stack
 * grows down, so a frame that is not above the previous one ends the walk.
 */
static size_t walk_frames(u64 *to, size_t most, struct pt_regs *regs,
			  unsigned int *flags)
{
	unsigned long fp = user_frame_pointer(regs), last = 0;
	size_t n = 0, word = user_word(regs);
	struct user_frame frame;

	to[n++] = instruction_pointer(regs);
	while (fp > last && IS_ALIGNED(fp, word)) {
		if (n == most) {
			*flags |= UTRACE_ITEM_F_TRUNCATED;
			break;
		}
		if (!get_frame(&frame, fp, word)) {
			*flags |= UTRACE_ITEM_F_FAULTED;
			break;
		}
		to[n++] = frame.ret;
		last = fp;
		fp = frame.next;
	}
	return n;
}

/**
 * utrace_capture_stack() - capture the return addresses of the task's functions
 * @c: the capture, with a buffer
 * @regs: registers of the current task in user mode
 *
 * Follows frame pointers.  In code without frame pointers only the first
 * address (the instruction pointer) is correct, and the rest is missing or
 * arbitrary.
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_capture_stack(struct utrace_capture *c, struct pt_regs *regs)
{
	struct utrace_item *item;
	unsigned int flags = 0;
	size_t most, len;

	item = utrace_item_begin(c, UTRACE_ITEM_STACK, UTRACE_ITEM_NO_ARG,
				 sizeof(u64));
	if (!item)
		return;
	most = min_t(size_t, FRAMES, utrace_item_room(c) / sizeof(u64));
	len = walk_frames((u64 *)item->data, most, regs, &flags) * sizeof(u64);
	utrace_item_end(c, item, len, len, flags);
}

/**
 * utrace_capture_raw_stack() - capture the innermost part of the user stack
 * @c: the capture, with a buffer
 * @regs: registers of the current task in user mode
 *
 * The reader unwinds it with the program's debug information.
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_capture_raw_stack(struct utrace_capture *c, struct pt_regs *regs)
{
	struct utrace_item_raw_stack head = {
		.size = sizeof(head),
		.ip = instruction_pointer(regs),
		.sp = user_stack_pointer(regs),
		.bp = user_frame_pointer(regs),
	};
	struct utrace_item *item;
	size_t want, got;

	item = utrace_item_begin(c, UTRACE_ITEM_RAW_STACK, UTRACE_ITEM_NO_ARG,
				 sizeof(head));
	if (!item)
		return;
	memcpy(item->data, &head, sizeof(head));
	want = utrace_item_room(c) - sizeof(head);
	got = utrace_copy_memory(item->data + sizeof(head),
				 (const void __user *)head.sp, want);
	utrace_item_end(c, item, sizeof(head) + got, sizeof(head) + got,
			got < want ? UTRACE_ITEM_F_FAULTED :
				     UTRACE_ITEM_F_TRUNCATED);
}
