/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - markers and functions of files
 */
#ifndef UTRACE_MARKER_ELF_H
#define UTRACE_MARKER_ELF_H

#include <stdbool.h>

#include <gelf.h>
#include <linux/types.h>

#include "args.h"

/**
 * struct marker_site - a marker at one place in a file
 * @provider: provider of the marker; for a function the name of the file
 * @name: name of the marker or the function, with "%return" for its return
 * @offset: offset of the instruction in the file
 * @semaphore: offset of the semaphore in the file, 0 for none
 * @flags: %UTRACE_MARKER_F_RETURN or 0
 * @args: the arguments
 */
struct marker_site {
	const char *provider;
	const char *name;
	__u64 offset;
	__u64 semaphore;
	__u32 flags;
	struct marker_args args;
};

/* Called for each marker.  The names are valid until the function returns. */
typedef void marker_site_function(const struct marker_site *site, void *data);

/**
 * struct marker_wish - the functions to find
 * @name: their names, with wildcards of fnmatch(3)
 * @is_return: find their returns, not their entries
 * @force: find returns even in programs of Go
 * @args: number of arguments of entries to read
 */
struct marker_wish {
	const char *name;
	bool is_return;
	bool force;
	unsigned int args;
};

/* apart.c */
const char *marker_sites(const char *path, int fd, const struct marker_wish *wish,
			 marker_site_function *function, void *data,
			 bool *damaged);

/* elf.c */
const char *marker_notes(int fd, marker_site_function *function, void *data);
const char *marker_notes_of(Elf *elf, marker_site_function *function, void *data);
bool marker_offset(Elf *elf, __u64 address, __u64 *offset);
const char *marker_why_not(Elf *elf);
bool marker_is_go(Elf *elf);
unsigned int marker_address_size(Elf *elf);

/* functions.c */
const char *marker_functions(const char *path, int fd,
			     const struct marker_wish *wish,
			     marker_site_function *function, void *data);

#endif /* UTRACE_MARKER_ELF_H */
