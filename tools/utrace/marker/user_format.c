// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the formats of user_events
 *
 * The formats come from tracefs, and libtraceevent reads and prints them.
 * Programs may register one name with several formats.  A record does not say
 * which format it has, so a format is used only if no other one fits.
 *
 * Formats and records come from the program that is traced, which may be
 * hostile: an offset in a record may have any 16-bit value.  So records are
 * copied to a buffer that extends beyond any offset and has zeros after the
 * record.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/utrace.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "lib/memory.h"
#include "lib/screen.h"
#include "tracefs.h"
#include "user_format.h"

#define SINGLE		"user_events"
#define MULTI		"user_events_multi"

/* Maximum size of a record with its header; larger formats are ignored. */
#define END_MOST	(512 * 1024)

/* A record, and the data that offsets may refer to. */
#define ROOM_SIZE	(END_MOST + 4 * 65536)
static unsigned char *room;

/**
 * struct user_variant - a format
 * @tep: its handle of libtraceevent
 * @event: its event
 * @body: bytes of the header before the fields
 * @end: bytes of the header and the fields
 * @grows: strings may follow the fields
 */
struct user_variant {
	struct tep_handle *tep;
	struct tep_event *event;
	size_t body;
	size_t end;
	bool grows;
};

/**
 * struct user_format - the formats of a name
 * @variants: the formats
 * @n: number of elements of @variants
 * @size: allocated elements of @variants
 */
struct user_format {
	struct user_variant *variants;
	size_t n;
	size_t size;
};

/* Reading formats */

/*
 * Return the end of the last field, or more than END_MOST if that is too large.
 */
static size_t end_of(const struct tep_format_field *field, size_t end)
{
	for (; field; field = field->next) {
		if (field->offset < 0 || field->size < 0 ||
		    field->offset > END_MOST || field->size > END_MOST)
			return END_MOST + 1;
		if (end < (size_t)field->offset + field->size)
			end = field->offset + field->size;
	}
	return end;
}

static bool set_up(struct user_variant *variant, const char *text, size_t size)
{
	const struct tep_format_field *field;

	if (tep_parse_format(variant->tep, &variant->event, text, size, SINGLE) ||
	    !variant->event)
		return false;
	variant->body = end_of(variant->event->format.common_fields, 0);
	variant->end = end_of(variant->event->format.fields, variant->body);
	for (field = variant->event->format.fields; field; field = field->next)
		variant->grows |= !!(field->flags & TEP_FIELD_IS_DYNAMIC);
	return variant->end <= END_MOST;
}

/*
 * libtraceevent accepts only C identifiers as names, and an event may have any
 * name.  Replace the name in the first line, which is not used here.
 */
static void simplify_name(char *text)
{
	for (text += strcspn(text, ":\n"); *text && *text != '\n'; text++)
		if (ispunct((unsigned char)*text) && *text != ':')
			*text = '_';
}

static void add_variant(struct user_format *format, char *text, size_t size)
{
	struct user_variant variant = { .tep = checked(tep_alloc()) };

	simplify_name(text);
	tep_set_long_size(variant.tep, sizeof(long));
	if (!set_up(&variant, text, size)) {
		tep_free(variant.tep);
		return;
	}
	format->variants = grow(format->variants, format->n, &format->size,
				sizeof(*format->variants));
	format->variants[format->n++] = variant;
}

/* Read the format of an event, if it exists. */
static void read_event(struct user_format *format, const char *system,
		       const char *event)
{
	char *name = xasprintf("events/%s/%s/format", system, event);
	FILE *file = tracefs_open(name);
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	free(name);
	if (!file)
		return;
	n = getdelim(&text, &size, '\0', file);
	if (n > 0)
		add_variant(format, text, n);
	free(text);
	fclose(file);
}

/* Check whether @event is the name with a number, as "name.1f". */
static bool is_multi(const char *event, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(event, name, n) && event[n] == '.' && event[n + 1] &&
	       !event[n + 1 + strspn(event + n + 1, "0123456789abcdef")];
}

static void read_multi(struct user_format *format, const char *name)
{
	DIR *dir = opendir(TRACEFS "/events/" MULTI);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_multi(entry->d_name, name))
			read_event(format, MULTI, entry->d_name);
	if (dir)
		closedir(dir);
}

/* Return the format, or free it and return NULL if it is empty. */
static struct user_format *unless_empty(struct user_format *format)
{
	if (format->n)
		return format;
	free(format);
	return NULL;
}

/**
 * user_format_read() - read the formats of a user_event from tracefs
 * @name: its name, as programs give it
 *
 * Return: the formats, or NULL if none can be read now.
 */
struct user_format *user_format_read(const char *name)
{
	struct user_format *format = checked(calloc(1, sizeof(*format)));

	read_event(format, SINGLE, name);
	read_multi(format, name);
	return unless_empty(format);
}

/**
 * user_format_read_event() - read the format of one event from tracefs
 * @event: its name in tracefs
 *
 * Return: the format, or NULL if none can be read.
 */
struct user_format *user_format_read_event(const char *event)
{
	struct user_format *format = checked(calloc(1, sizeof(*format)));

	read_event(format, SINGLE, event);
	if (!format->n)
		read_event(format, MULTI, event);
	return unless_empty(format);
}

/* Free a format, if it is not NULL. */
void user_format_free(struct user_format *format)
{
	size_t i;

	if (!format)
		return;
	for (i = 0; i < format->n; i++)
		tep_free(format->variants[i].tep);
	free(format->variants);
	free(format);
}

/* Call a function for each field of a format that was read for one event. */
void user_format_fields(const struct user_format *format,
			user_field_function *function, void *data)
{
	const struct tep_format_field *field;
	char *text;

	for (field = format->variants->event->format.fields; field;
	     field = field->next) {
		text = xasprintf("%s %s", field->type, field->name);
		function(text, data);
		free(text);
	}
}

/* Records */

/*
 * Check whether a record of this size can have the format.  @only: there is no
 * other format.
 */
static bool fits(const struct user_variant *variant, size_t size, bool only)
{
	size_t least = variant->end - variant->body;

	return size == least || (size > least && (only || variant->grows));
}

/* Return the format of a record, or NULL if none or several fit. */
const struct user_variant *
user_format_choose(const struct user_format *format,
		   const struct utrace_rec_user_event *rec)
{
	const struct user_variant *chosen = NULL;
	size_t i;

	for (i = 0; format && i < format->n; i++) {
		if (!fits(&format->variants[i], rec->size, format->n == 1))
			continue;
		if (chosen)
			return NULL;
		chosen = &format->variants[i];
	}
	return chosen;
}

/* Copy a record to the buffer, in the layout of trace buffers. */
static struct tep_record load(const struct user_variant *variant,
			      const struct utrace_rec_user_event *rec)
{
	static size_t used;
	struct tep_record record = {};
	__u16 id = variant->event->id;

	if (!room)
		room = checked(calloc(ROOM_SIZE, 1));
	record.data = room;
	memset(room, 0, used);
	/* The first member of the header. */
	memcpy(room, &id, sizeof(id));
	memcpy(room + variant->body, (const char *)rec + rec->data_offset, rec->data_size);
	used = variant->body + rec->data_size;
	record.size = used > variant->end ? used : variant->end;
	return record;
}

/**
 * user_variant_text() - print the fields of a record as text
 * @variant: its format
 * @rec: the record
 *
 * Return: the fields in the form of trace files, valid until the next call.
 */
const char *user_variant_text(const struct user_variant *variant,
			      const struct utrace_rec_user_event *rec)
{
	static struct trace_seq text;
	struct tep_record record = load(variant, rec);

	if (!text.buffer)
		trace_seq_init(&text);
	trace_seq_reset(&text);
	tep_print_event(variant->tep, &text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&text);
	/* A program may write anything, even text that clears the screen. */
	make_printable(text.buffer);
	return text.buffer;
}

/* Return field @n, from 1, or NULL. */
static struct tep_format_field *field_of(const struct user_variant *variant,
					 unsigned int n)
{
	struct tep_format_field *field = variant->event->format.fields;

	while (field && --n)
		field = field->next;
	return field;
}

/* Return the name of field @n, from 1, or NULL if there is none. */
const char *user_variant_name(const struct user_variant *variant,
			      unsigned int n)
{
	const struct tep_format_field *field = field_of(variant, n);

	return field ? field->name : NULL;
}

/**
 * user_variant_number() - read a field of a record that is a number
 * @variant: the format of the record
 * @rec: the record
 * @n: number of the field, from 1
 * @value: set to the number
 * @is_signed: set to whether it is signed
 *
 * Return: whether there is such a field.
 */
bool user_variant_number(const struct user_variant *variant,
			 const struct utrace_rec_user_event *rec,
			 unsigned int n, __u64 *value, bool *is_signed)
{
	struct tep_format_field *field = field_of(variant, n);
	unsigned long long number;
	unsigned int rest;

	if (!field || field->flags & TEP_FIELD_IS_ARRAY || field->size > 8 ||
	    field->offset + field->size - variant->body > rec->data_size)
		return false;
	load(variant, rec);
	if (tep_read_number_field(field, room, &number))
		return false;
	*is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	rest = 64 - 8 * field->size;
	*value = *is_signed ? (__u64)((__s64)(number << rest) >> rest) : number;
	return true;
}
