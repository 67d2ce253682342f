/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - files of code, which a test writes and targets map at PLACE
 *
 * A file has nops, and a function at FUNCTION.
 */
#ifndef UTRACE_CODE_H
#define UTRACE_CODE_H

#include "sites.h"

#define FUNCTION	0x40		/* mov $number, %eax; ret */
#define NOP		(FUNCTION + 6)	/* nop; ret */
#define MOV		0xb8		/* the first byte of FUNCTION */
#define INT3		0xcc
#define CODE_MOST	(16 * PAGE)

/* The file of a test that has only one. */
static inline const char *code_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/code", folder);
	return path;
}

static inline int make_code(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	need(fd >= 0, path);
	return fd;
}

static inline void put_code(int fd, long offset, const void *bytes, size_t n)
{
	need(pwrite(fd, bytes, n, offset) == (ssize_t)n, "code");
}

/* Write @size bytes in one call: nops, and @n bytes at FUNCTION. */
static inline void write_code(int fd, size_t size, const void *function, size_t n)
{
	static unsigned char bytes[CODE_MOST];

	need(FUNCTION + n <= size && size <= sizeof(bytes), "room for code");
	memset(bytes, 0x90, size);
	memcpy(bytes + FUNCTION, function, n);
	put_code(fd, 0, bytes, size);
}

/* The code of FUNCTION and of NOP, which is one word. */
#define FUNCTION_SIZE	8

static inline const void *function_of(int number)
{
	static unsigned char bytes[FUNCTION_SIZE] = {
		MOV, 0, 0, 0, 0, 0xc3, 0x90, 0xc3,
	};

	memcpy(bytes + 1, &number, sizeof(number));
	return bytes;
}

/* What targets do */

static inline void map_code(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (mmap(PLACE, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != PLACE)
		_exit(95);
	close(fd);
}

static inline long call_code(long offset, void *arg)
{
	return ((long (*)(void *arg))(PLACE + offset))(arg);
}

/* Markers */

/* @flags: UTRACE_ARM_ bits. */
static inline struct marker marker_in(int fd, __u64 offset, __u32 flags)
{
	return (struct marker){
		.site = { .fd = fd, .offset = offset },
		.cookie = COOKIE(offset),
		.flags = flags,
	};
}

/* The byte that a process has at an offset of the file. */
static inline int code_byte(pid_t pid, long offset)
{
	return read_word(pid, PLACE + offset, 1);
}

#endif /* UTRACE_CODE_H */
