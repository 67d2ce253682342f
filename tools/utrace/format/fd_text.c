// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what a descriptor is, for -y and -yy
 *
 * The kernel records the path of a descriptor.  Here an item with the text is
 * made of it, according to the options.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/limits.h>
#include <linux/seq_buf.h>

#include "decode/write.h"
#include "fd_text.h"
#include "namespaces.h"
#include "sockets.h"
#include "text.h"

/* Items that are made: of the arguments, of the result and of a member. */
#define SLOTS	(6 + 1 + 1)

/* The longest text: a path, each byte with an escape. */
#define TEXT_MAX	(4 * PATH_MAX + 64)

/* Check whether the path is @start and a number in brackets, which is read. */
static bool is_numbered(const char *path, const char *start, unsigned long *number)
{
	char format[32], end;

	snprintf(format, sizeof(format), "%s:[%%lu%%c", start);
	return sscanf(path, format, number, &end) == 2 && end == ']';
}

/* Return the number of the process of a pidfd in /proc, or 0. */
static pid_t read_pidfd(pid_t task, int fd)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", task);
	return pid_of_pidfd(name, fd);
}

/* Print the process of a pidfd.  Returns false if the descriptor is none. */
static bool print_pidfd(struct seq_buf *s, pid_t task, int fd)
{
	pid_t pid = read_pidfd(task, fd);

	if (pid)
		seq_buf_printf(s, "pid:%d", pid);
	return pid;
}

/* Print the numbers of a device.  Returns false if the file is none. */
static bool print_device(struct seq_buf *s, const char *path)
{
	struct stat file;

	if (*path != '/' || stat(path, &file) ||
	    (!S_ISCHR(file.st_mode) && !S_ISBLK(file.st_mode)))
		return false;
	utrace_write_path(s, (const u8 *)path, strlen(path));
	seq_buf_printf(s, "<%s %u:%u>", S_ISCHR(file.st_mode) ? "char" : "block",
		       major(file.st_rdev), minor(file.st_rdev));
	return true;
}

static bool print(struct seq_buf *s, unsigned int decode, pid_t task, int fd,
		  const char *path)
{
	const char *text = NULL;
	unsigned long inode;

	if (decode & DECODE_SOCKET && is_numbered(path, "socket", &inode))
		text = socket_text(task, fd, inode, decode & DECODE_BEFORE);
	if (text) {
		seq_buf_puts(s, text);
		return true;
	}
	if (decode & DECODE_PIDFD && strstr(path, "pidfd") &&
	    print_pidfd(s, task, fd))
		return true;
	if (decode & DECODE_DEV && print_device(s, path))
		return true;
	if (!(decode & DECODE_PATH))
		return false;
	utrace_write_path(s, (const u8 *)path, strlen(path));
	return true;
}

/* Check whether a path names the file of a descriptor. */
static bool is_file_of(const char *path, pid_t task, int fd)
{
	struct stat named, opened;
	char link[64];

	if (lstat(path, &named))
		return false;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", task, fd);
	/* If the descriptor is closed by now, assume that the path names it. */
	return stat(link, &opened) || (named.st_dev == opened.st_dev &&
				       named.st_ino == opened.st_ino);
}

/*
 * If a path ends with " (deleted)" and that is not a part of the name, remove it.
 * Returns whether it did.
 */
static bool cut_deleted(char *path, pid_t task, int fd)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), n = strlen(deleted);

	if (*path != '/' || len <= n || strcmp(path + len - n, deleted) ||
	    is_file_of(path, task, fd))
		return false;
	path[len - n] = '\0';
	return true;
}

/* Make the text of a descriptor as fd_text(), of a task by its number in /proc. */
static const struct utrace_item *make(unsigned int decode, pid_t task, int fd,
				      const struct utrace_item *file,
				      unsigned int slot)
{
	static __u64 made[SLOTS][(sizeof(struct utrace_item) + TEXT_MAX) / 8];
	struct utrace_item *item = (void *)made[slot];
	struct seq_buf s = { .buffer = (char *)item->data, .size = TEXT_MAX };
	bool part = file->flags & (UTRACE_ITEM_F_TRUNCATED | UTRACE_ITEM_F_FAULTED);
	char path[PATH_MAX + 1];
	bool deleted;

	/* The kernel gives no path that is longer than PATH_MAX. */
	if (!file->len)
		return NULL;
	snprintf(path, sizeof(path), "%.*s", (int)file->len, file->data);
	deleted = !part && cut_deleted(path, task, fd);
	seq_buf_puts(&s, "<");
	if (!print(&s, decode, task, fd, path))
		return NULL;
	seq_buf_puts(&s, part ? "...>" : ">");
	if (deleted)
		seq_buf_puts(&s, "(deleted)");
	*item = *file;
	item->kind = UTRACE_ITEM_STRING;
	item->len = s.len;
	return item;
}

/**
 * fd_text() - make the text of a descriptor
 * @decode: DECODE_ bits
 * @tid: the task with the descriptor
 * @fd: the descriptor
 * @file: an item of kind UTRACE_ITEM_FILE
 * @slot: number of the argument, 6 for the result, or FD_TEXT_MEMBER
 *
 * Return: an item of kind UTRACE_ITEM_STRING, with the text in its brackets,
 * valid until the next call for @slot; NULL for no text.
 */
const struct utrace_item *fd_text(unsigned int decode, pid_t tid, int fd,
				  const struct utrace_item *file, unsigned int slot)
{
	return make(decode, pid_in_proc(tid), fd, file, slot);
}

/**
 * fd_text_of_pidfd() - make the text of a descriptor of another process
 * @decode: DECODE_ bits
 * @tid: the task with the pidfd
 * @pidfd: a descriptor of the other process
 * @fd: descriptor in that process, which is looked up now
 *
 * Return: as fd_text().
 */
const struct utrace_item *fd_text_of_pidfd(unsigned int decode, pid_t tid,
					   int pidfd, int fd)
{
	static __u64 buffer[(sizeof(struct utrace_item) + PATH_MAX) / 8];
	struct utrace_item *file = (void *)buffer;
	pid_t pid = read_pidfd(pid_in_proc(tid), pidfd);
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	len = pid ? readlink(link, (char *)file->data, PATH_MAX) : -1;
	if (len < 0)
		return NULL;
	*file = (struct utrace_item){ .kind = UTRACE_ITEM_FILE, .len = len };
	return make(decode, pid, fd, file, FD_TEXT_MEMBER);
}
