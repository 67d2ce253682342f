/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - files that are mapped as code
 */
#ifndef UTRACE_BRANCH_OBJECTS_H
#define UTRACE_BRANCH_OBJECTS_H

#include <stddef.h>

/* Bytes of a build ID that are kept; linkers make 16 or 20. */
#define BUILD_ID_MAX	31

struct build_id {
	unsigned char size;
	unsigned char bytes[BUILD_ID_MAX];
};

/**
 * struct object - a file that is mapped as code, or a substitute for one
 * @path: its path as in /proc/PID/maps, "[vdso]" or the like, or "[anon]"
 * @id: its build ID; the size is 0 if it has none
 * @image: the bytes of a file that has no path, or NULL; never freed
 * @image_size: number of bytes of @image
 */
struct object {
	const char *path;
	struct build_id id;
	const void *image;
	size_t image_size;
};

/* Objects that are always there. */
enum {
	OBJECT_KERNEL,		/* pseudo-addresses */
	OBJECT_UNKNOWN,		/* addresses where nothing is known to be */
	OBJECT_PROGRAM,		/* names of programs, at the root of stacks */
	OBJECT_FIRST,
};

/* Maximum number of objects; no program has so many. */
#define OBJECTS_MAX	20000

unsigned int objects_add(const char *path, const struct build_id *id);
void objects_set_image(unsigned int n, const void *image, size_t size);
const struct object *objects_get(unsigned int n);
unsigned int objects_count(void);
const char *object_name(unsigned int n);

#endif /* UTRACE_BRANCH_OBJECTS_H */
