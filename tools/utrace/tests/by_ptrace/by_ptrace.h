/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the command on ptrace(2): parts of the tracer
 *
 * tracer.c makes the records of /dev/utrace from ptrace stops; capture.c calls
 * the kernel's sources in kernel/utrace/capture, which are built with the
 * headers of the kernel replaced by kernel.h; memory.c reads the traced task
 * for them.  These two kinds of sources cannot include each other's headers,
 * so this header uses no type of either.
 */
#ifndef UTRACE_TESTS_BY_PTRACE_H
#define UTRACE_TESTS_BY_PTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct traced - the stopped task, for the functions that read it
 * @tid: the task
 * @tgid: its process
 * @compat: it is in a system call of the 32-bit table or of x32
 */
struct traced {
	pid_t tid;
	pid_t tgid;
	bool compat;
};

extern struct traced traced;

/* memory.c */
size_t traced_read(void *to, unsigned long from, size_t n);
ssize_t traced_link(char *to, size_t room, const char *name);
void traced_registers(unsigned long *ip, unsigned long *sp, unsigned long *bp);

/* tracer.c */
void tracer_run(int control, int records) __attribute__((noreturn));

/**
 * struct captured - the items of a record
 * @data: the items, freed by captured_free()
 * @size: bytes of @data
 * @flags: UTRACE_REC_F_ bits that the items ask for
 */
struct captured {
	void *data;
	size_t size;
	unsigned int flags;
};

/**
 * struct capture_choice - what is captured, see struct utrace_ioc_events
 * @what: UTRACE_CAPTURE_ bits
 * @strings: string_size, 0 for the default
 * @buffers: buffer_size, 0 for the default
 */
struct capture_choice {
	unsigned int what;
	unsigned int strings;
	unsigned int buffers;
};

/* capture.c */
void captured_entry(struct captured *to, const struct capture_choice *choice,
		    unsigned int nr, const unsigned long args[6]);
void captured_exit(struct captured *to, const struct capture_choice *choice,
		   unsigned int nr, const unsigned long args[6], long result);
void captured_program(struct captured *to, const struct capture_choice *choice);
void captured_free(struct captured *captured);

#endif /* UTRACE_TESTS_BY_PTRACE_H */
