// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - write the file of 'utrace branches record'
 *
 * After an error nothing more is written; the caller checks
 * branches_writer.error.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/utrace_branch.h>

#include "file.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "spaces.h"

static void put(struct branches_writer *writer, const void *data, size_t size)
{
	if (writer->error || !size)
		return;
	if (fwrite(data, size, 1, writer->file) == 1)
		writer->bytes += size;
	else
		writer->error = errno;
}

static void put_chunk(struct branches_writer *writer, unsigned int type,
		      size_t size)
{
	struct branches_chunk chunk = { .type = type, .size = size };

	put(writer, &chunk, sizeof(chunk));
}

static void flush(struct branches_writer *writer)
{
	if (fflush(writer->file) && !writer->error)
		writer->error = errno;
}

/**
 * branches_create() - create a file, or empty one
 * @writer: filled in
 * @path: path of the file
 * @command: the command line, for the report
 *
 * The command ends with a message if the file cannot be created.
 */
void branches_create(struct branches_writer *writer, const char *path,
		     const char *command)
{
	struct branches_header header = {
		.version = BRANCHES_VERSION,
		.size = sizeof(header),
	};
	struct branches_about about = { .time = time(NULL) };

	memcpy(header.magic, BRANCHES_MAGIC, sizeof(header.magic));
	snprintf(about.command, sizeof(about.command), "%s", command);
	*writer = (struct branches_writer){
		.path = path,
		.file = fopen(path, "we"),
	};
	if (!writer->file)
		fail(path, strerror(errno));
	put(writer, &header, sizeof(header));
	put_chunk(writer, BRANCHES_ABOUT, sizeof(about));
	put(writer, &about, sizeof(about));
	flush(writer);
}

/* Write an object unless the file has it.  Returns its number in the file. */
static unsigned int write_object(struct branches_writer *writer, unsigned int n)
{
	const struct object *object = objects_get(n);
	struct branches_object out = {
		.size = (object->image_size + 7) & ~7ULL,
		.id_size = object->id.size,
	};
	static const char zeros[8];
	size_t i;

	if (n >= writer->nnumbers) {
		writer->numbers = checked(reallocarray(writer->numbers, n + 1,
						       sizeof(int)));
		for (i = writer->nnumbers; i <= n; i++)
			writer->numbers[i] = -1;
		writer->nnumbers = n + 1;
	}
	if (writer->numbers[n] >= 0)
		return writer->numbers[n];
	memcpy(out.id, object->id.bytes, sizeof(out.id));
	snprintf(out.path, sizeof(out.path), "%s", object->path);
	put_chunk(writer, BRANCHES_OBJECT, sizeof(out) + out.size);
	put(writer, &out, sizeof(out));
	put(writer, object->image, object->image_size);
	put(writer, zeros, out.size - object->image_size);
	writer->numbers[n] = writer->nobjects++;
	return writer->numbers[n];
}

/**
 * branches_write_space() - write all mappings of a process
 * @writer: the file
 * @space: the address space
 * @flags: BRANCHES_NEW, BRANCHES_COPIED
 */
void branches_write_space(struct branches_writer *writer,
			  const struct space *space, unsigned int flags)
{
	struct branches_space out = { .pid = space->pid, .flags = flags };
	size_t i;

	snprintf(out.program, sizeof(out.program), "%s", space->program);
	for (i = 0; i < space->n; i++)
		write_object(writer, space->maps[i].object);
	put_chunk(writer, BRANCHES_SPACE, sizeof(out) +
		  space->n * sizeof(struct branches_mapping));
	put(writer, &out, sizeof(out));
	for (i = 0; i < space->n; i++) {
		const struct mapping *map = &space->maps[i];
		struct branches_mapping mapping = {
			.start = map->start,
			.end = map->end,
			.offset = map->offset,
			.object = writer->numbers[map->object],
		};

		put(writer, &mapping, sizeof(mapping));
	}
}

/**
 * branches_write() - write records
 * @writer: the file
 * @records: the records
 * @n: number of records
 */
void branches_write(struct branches_writer *writer,
		    const struct utrace_branch *records, size_t n)
{
	size_t i;

	if (!n || writer->error)
		return;
	for (i = 0; i < n; i++)
		if (UTRACE_BRANCH_TYPE(records[i].info) == UTRACE_BRANCH_LOST)
			writer->lost += records[i].from;
	put_chunk(writer, BRANCHES_RECORDS, n * sizeof(*records));
	put(writer, records, n * sizeof(*records));
	writer->records += n;
}

/* Write the end, and close the file. */
void branches_finish(struct branches_writer *writer, __u64 duration)
{
	struct branches_end end = {
		.records = writer->records,
		.lost = writer->lost,
		.duration = duration,
	};

	put_chunk(writer, BRANCHES_END, sizeof(end));
	put(writer, &end, sizeof(end));
	if (fclose(writer->file) && !writer->error)
		writer->error = errno;
}
