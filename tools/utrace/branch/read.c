// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - read the file of 'utrace branches record'
 *
 * Nothing in a file is trusted: the command ends with a message if the file
 * does not have the format of file.h.  If the file is truncated, its
 * complete part is used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/utrace_branch.h>

#include "file.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "spaces.h"

static void __attribute__((noreturn))
fail_damaged(const struct branches_reader *reader, const char *what)
{
	fprintf(stderr, "utrace: %s: the file is damaged before byte %llu: %s\n",
		reader->path, reader->at, what);
	exit(STATUS_FAILED);
}

/* Read up to @size bytes.  Returns how many there are. */
static size_t get(struct branches_reader *reader, void *to, size_t size)
{
	size_t n = fread(to, 1, size, reader->file);

	if (ferror(reader->file))
		fail(reader->path, strerror(errno));
	reader->at += n;
	return n;
}

/**
 * branches_open() - open a file
 * @reader: filled in
 * @path: path of the file
 *
 * The command ends with a message if the file cannot be opened, or was not
 * written by 'utrace branches record'.
 */
void branches_open(struct branches_reader *reader, const char *path)
{
	struct branches_header header = {};
	struct stat stat;

	*reader = (struct branches_reader){
		.path = path,
		.file = fopen(path, "re"),
	};
	if (!reader->file && errno == ENOENT)
		fail(path, "there is no such file; 'utrace branches record' makes one");
	if (!reader->file)
		fail(path, strerror(errno));
	if (!fstat(fileno(reader->file), &stat) && S_ISREG(stat.st_mode))
		reader->total = stat.st_size;
	if (get(reader, &header, sizeof(header)) < sizeof(header) ||
	    memcmp(header.magic, BRANCHES_MAGIC, sizeof(header.magic)))
		fail(path, "it was not written by 'utrace branches record'");
	if (header.version != BRANCHES_VERSION || header.size != sizeof(header))
		fail(path, "the file was written by another version of this "
			   "command");
}

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static void read_about(struct branches_reader *reader, size_t size)
{
	struct branches_about *about = &reader->about;

	if (size < sizeof(*about))
		fail_damaged(reader, "the chunk about the recording is too short");
	memcpy(about, reader->chunk, sizeof(*about));
	if (!is_text(about->command, sizeof(about->command)))
		fail_damaged(reader, "a text is not terminated");
}

static void read_object(struct branches_reader *reader, size_t size)
{
	const struct branches_object *object = reader->chunk;
	struct build_id id = {};
	unsigned int number;
	void *image;

	if (size < sizeof(*object) || object->size != size - sizeof(*object) ||
	    object->id_size > sizeof(object->id))
		fail_damaged(reader, "a size of a mapped file is wrong");
	if (!is_text(object->path, sizeof(object->path)))
		fail_damaged(reader, "a text is not terminated");
	id.size = object->id_size;
	memcpy(id.bytes, object->id, id.size);
	number = objects_add(object->path, &id);
	if (object->size) {
		image = checked(malloc(object->size));
		memcpy(image, object + 1, object->size);
		objects_set_image(number, image, object->size);
	}
	if (reader->nobjects == OBJECTS_MAX)
		fail_damaged(reader, "there are too many mapped files");
	reader->objects = grow(reader->objects, reader->nobjects,
			       &reader->objects_size, sizeof(number));
	reader->objects[reader->nobjects++] = number;
}

static void read_mapping(struct branches_reader *reader, struct space *space,
			 const struct branches_mapping *in)
{
	struct mapping mapping = {
		.start = in->start,
		.end = in->end,
		.offset = in->offset,
	};

	if (in->start >= in->end)
		fail_damaged(reader, "a mapping is empty");
	if (in->object >= reader->nobjects)
		fail_damaged(reader, "a mapping has no valid file");
	mapping.object = reader->objects[in->object];
	space_add(space, &mapping);
}

static void read_space(struct branches_reader *reader, size_t size)
{
	const struct branches_space *in = reader->chunk;
	const struct branches_mapping *mappings = (const void *)(in + 1);
	struct space *space;
	size_t i, n;

	if (size < sizeof(*in) || (size - sizeof(*in)) % sizeof(*mappings))
		fail_damaged(reader, "the size of a list of mappings is wrong");
	if (!is_text(in->program, sizeof(in->program)))
		fail_damaged(reader, "a text is not terminated");
	n = (size - sizeof(*in)) / sizeof(*mappings);
	if (n > MAPPINGS_MAX)
		fail_damaged(reader, "a process has too many mappings");
	space = in->flags & BRANCHES_NEW ? space_begin(in->pid, in->program) :
		space_of(in->pid);
	reader->copied |= in->flags & BRANCHES_COPIED;
	for (i = 0; i < n; i++)
		read_mapping(reader, space, &mappings[i]);
}

static void read_end(struct branches_reader *reader, size_t size)
{
	if (size < sizeof(reader->end))
		fail_damaged(reader, "the last chunk is too short");
	memcpy(&reader->end, reader->chunk, sizeof(reader->end));
	if (reader->end.records != reader->records)
		fail_damaged(reader, "the number of records is wrong");
	reader->complete = true;
}

/*
 * Read a chunk.  Returns false at the end of the file, or where it is
 * truncated; the complete records before that are used.
 */
static bool read_chunk(struct branches_reader *reader,
		       struct branches_chunk *chunk)
{
	size_t got;

	if (get(reader, chunk, sizeof(*chunk)) < sizeof(*chunk))
		return false;
	if (chunk->size > BRANCHES_CHUNK_MAX || chunk->size % 8)
		fail_damaged(reader, "the size of a chunk is wrong");
	if (chunk->type == BRANCHES_RECORDS &&
	    chunk->size % sizeof(struct utrace_branch))
		fail_damaged(reader, "a record is incomplete");
	if (chunk->size > reader->chunk_size) {
		free(reader->chunk);
		reader->chunk = checked(malloc(chunk->size));
		reader->chunk_size = chunk->size;
	}
	got = get(reader, reader->chunk, chunk->size);
	if (got == chunk->size)
		return true;
	chunk->size = got - got % sizeof(struct utrace_branch);
	return chunk->type == BRANCHES_RECORDS && chunk->size;
}

/**
 * branches_read() - read the next records
 * @reader: the file
 * @records: set to the records, which are valid until the next call
 *
 * Chunks before the records are read as well, so space_of() returns the
 * mappings that apply to them.
 *
 * Return: number of records, 0 at the end.
 */
size_t branches_read(struct branches_reader *reader,
		     const struct utrace_branch **records)
{
	struct branches_chunk chunk;

	while (!reader->complete && read_chunk(reader, &chunk)) {
		switch (chunk.type) {
		case BRANCHES_ABOUT:
			read_about(reader, chunk.size);
			break;
		case BRANCHES_OBJECT:
			read_object(reader, chunk.size);
			break;
		case BRANCHES_SPACE:
			read_space(reader, chunk.size);
			break;
		case BRANCHES_END:
			read_end(reader, chunk.size);
			break;
		case BRANCHES_RECORDS:
			*records = reader->chunk;
			reader->records += chunk.size / sizeof(**records);
			if (chunk.size)
				return chunk.size / sizeof(**records);
		}
	}
	return 0;
}
