/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the file that 'utrace branches record' writes
 *
 * The file is little-endian.  It begins with a struct branches_header; chunks
 * follow, each a struct branches_chunk and its data, whose size is a multiple
 * of 8.  A chunk applies to the chunks after it.  The last chunk is
 * BRANCHES_END; a file without it is truncated.  A reader skips chunks of types
 * that it does not know.
 *
 * Text ends with a NUL, and NULs fill the 8 bytes.
 */
#ifndef UTRACE_BRANCH_FILE_H
#define UTRACE_BRANCH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <linux/types.h>

#include "objects.h"

#define BRANCHES_MAGIC		"uTraceBr"
#define BRANCHES_VERSION	1

/**
 * struct branches_header - the header of the file
 * @magic: BRANCHES_MAGIC, without a NUL
 * @version: BRANCHES_VERSION; raised when older readers cannot read the file
 * @size: sizeof(struct branches_header)
 */
struct branches_header {
	char magic[8];
	__u32 version;
	__u32 size;
};

/**
 * enum branches_chunk_type - types of chunks
 * @BRANCHES_ABOUT: struct branches_about
 * @BRANCHES_OBJECT: struct branches_object, then an image of @size bytes;
 *	objects are numbered 0, 1 and so on in the order of the file
 * @BRANCHES_SPACE: struct branches_space, then elements of struct
 *	branches_mapping to the end of the chunk
 * @BRANCHES_RECORDS: elements of struct utrace_branch, as read(2) gives them
 * @BRANCHES_END: struct branches_end
 */
enum branches_chunk_type {
	BRANCHES_ABOUT = 1,
	BRANCHES_OBJECT,
	BRANCHES_SPACE,
	BRANCHES_RECORDS,
	BRANCHES_END,
};

/**
 * struct branches_chunk - the header of a chunk
 * @type: enum branches_chunk_type
 * @reserved: 0
 * @size: bytes that follow, up to BRANCHES_CHUNK_MAX
 */
struct branches_chunk {
	__u32 type;
	__u32 reserved;
	__u64 size;
};

#define BRANCHES_CHUNK_MAX	(16ULL << 20)

/* Bytes of a path, as PATH_MAX. */
#define BRANCHES_PATH		4096

/**
 * struct branches_about - how the file was made
 * @time: when, in seconds since 1970
 * @command: the options and the program
 */
struct branches_about {
	__s64 time;
	char command[BRANCHES_PATH];
};

/**
 * struct branches_object - a file that is mapped as code
 * @size: bytes of the image that follows, 0 for a file that has a path
 * @id_size: bytes of @id that are used, 0 if the file has no build ID
 * @id: its build ID
 * @path: its path as in /proc/PID/maps, "[vdso]" or the like, or "[anon]"
 */
struct branches_object {
	__u64 size;
	__u8 id_size;
	__u8 id[BUILD_ID_MAX];
	char path[BRANCHES_PATH];
};

/**
 * struct branches_space - mappings of a process
 * @pid: the process
 * @flags: BRANCHES_NEW: the process has executed a program, so all earlier
 *	mappings are gone; else the mappings are added, and replace those that
 *	they overlap.  BRANCHES_COPIED: the process was gone, so the mappings
 *	were read from its parent, a process that has code at the same address
 * @program: path of the program
 */
struct branches_space {
	__u32 pid;
	__u32 flags;
	char program[BRANCHES_PATH];
};

#define BRANCHES_NEW		1
#define BRANCHES_COPIED		2

/**
 * struct branches_mapping - a mapping
 * @start: first address
 * @end: first address after it
 * @offset: offset of @start in the object
 * @object: number of the object
 */
struct branches_mapping {
	__u64 start;
	__u64 end;
	__u64 offset;
	__u64 object;
};

/**
 * struct branches_end - the end of the recording
 * @records: number of records in the file
 * @lost: sum of the numbers in UTRACE_BRANCH_LOST
 * @duration: duration of the recording in ms
 */
struct branches_end {
	__u64 records;
	__u64 lost;
	__u64 duration;
};

struct space;
struct utrace_branch;

/**
 * struct branches_writer - a file that is being written
 * @path: its path
 * @file: the file
 * @error: errno of the first write that failed, 0 for none; nothing is written
 *	after it
 * @numbers: numbers of objects in the file, -1 for objects that are not written
 *	yet
 * @nnumbers: number of elements of @numbers
 * @nobjects: objects in the file
 * @records: records that were written
 * @lost: records that were lost, by the records
 * @bytes: size of the file
 */
struct branches_writer {
	const char *path;
	FILE *file;
	int error;
	int *numbers;
	size_t nnumbers;
	unsigned int nobjects;
	__u64 records;
	__u64 lost;
	__u64 bytes;
};

void branches_create(struct branches_writer *writer, const char *path,
		     const char *command);
void branches_write(struct branches_writer *writer,
		    const struct utrace_branch *records, size_t n);
void branches_write_space(struct branches_writer *writer,
			  const struct space *space, unsigned int flags);
void branches_finish(struct branches_writer *writer, __u64 duration);

/**
 * struct branches_reader - a file that is being read
 * @path: its path
 * @file: the file
 * @at: offset of the next byte
 * @total: size of the file, 0 if it has none
 * @chunk: bytes of a chunk
 * @chunk_size: bytes allocated for @chunk
 * @objects: numbers in objects.c of the objects of the file
 * @nobjects: number of elements of @objects
 * @objects_size: allocated elements of @objects
 * @about: how the file was made
 * @end: the end of the recording; valid if @complete
 * @complete: the last chunk was read
 * @copied: mappings of a parent were used
 * @records: records that were read
 */
struct branches_reader {
	const char *path;
	FILE *file;
	__u64 at;
	__u64 total;
	void *chunk;
	size_t chunk_size;
	unsigned int *objects;
	size_t nobjects;
	size_t objects_size;
	struct branches_about about;
	struct branches_end end;
	bool complete;
	bool copied;
	__u64 records;
};

void branches_open(struct branches_reader *reader, const char *path);
size_t branches_read(struct branches_reader *reader,
		     const struct utrace_branch **records);

#endif /* UTRACE_BRANCH_FILE_H */
