// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - functions and source lines of mapped files
 *
 * A child process parses the files of all objects, since a malicious file may
 * crash it, see lib/apart.c.  The command sends it requests about one object at
 * a time.  If the child crashes, that object has no symbols from then on, and a
 * new child handles the other objects.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/apart.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "symbols.h"
#include "symbols_elf.h"

/* Maximum size of a name. */
#define TEXT_MAX	(1 << 20)

/**
 * enum ask - requests to the child
 * @ASK_OPEN: open a file; struct build_id, the path with its NUL, and the image
 *	follow
 * @ASK_PLACE: return the address and the function of an offset of the file
 * @ASK_LINE: the source line of an address
 */
enum ask {
	ASK_OPEN,
	ASK_PLACE,
	ASK_LINE,
};

/* A request; @size bytes follow, of which the first @path are the path. */
struct question {
	__u32 ask;
	__u32 object;
	__u64 value;
	__u64 path;
	__u64 size;
};

/* A reply; a text of @size bytes with its NUL follows, none if @size is 0. */
struct answer {
	__u64 address;
	__u64 start;
	__s32 line;
	__u32 size;
};

/* The child */

/* In the child: the source of each object, NULL if it cannot be opened. */
static struct source **sources;
static size_t nsources, sources_size;

static const char *open_object(const struct question *question, char *bytes)
{
	struct object object = { .path = bytes + sizeof(object.id) };
	const char *why;

	memcpy(&object.id, bytes, sizeof(object.id));
	object.image_size = question->size - sizeof(object.id) - question->path;
	if (object.image_size)
		object.image = object.path + question->path;
	apart_more_time();
	while (nsources <= question->object) {
		sources = grow(sources, nsources, &sources_size,
			       sizeof(*sources));
		sources[nsources++] = NULL;
	}
	sources[question->object] = source_open(&object, &why);
	return why;
}

static const char *answer_of(const struct question *question, char *bytes,
			     struct answer *answer)
{
	struct symbol symbol;

	switch (question->ask) {
	case ASK_OPEN:
		return open_object(question, bytes);
	case ASK_PLACE:
		answer->address = source_address(sources[question->object],
						 question->value);
		source_find(sources[question->object], answer->address, &symbol);
		answer->start = symbol.start;
		return symbol.name;
	default:
		return source_line_of(sources[question->object],
				      question->value, &answer->line);
	}
}

/* Handle requests until the command ends.  The child trusts the command. */
static void answer_all(FILE *in, FILE *out, void *data)
{
	struct question question;
	const char *text;
	char *bytes;

	(void)data;
	while (fread(&question, sizeof(question), 1, in)) {
		struct answer answer = {};

		/*
		 * The image is never freed.  It must be aligned as in a file.
		 */
		bytes = malloc(question.size ?: 1);
		if (!bytes || (question.size &&
			       !fread(bytes, question.size, 1, in)))
			return;
		text = answer_of(&question, bytes, &answer);
		if (question.ask != ASK_OPEN)
			free(bytes);
		if (text && strlen(text) < TEXT_MAX)
			answer.size = strlen(text) + 1;
		fwrite(&answer, sizeof(answer), 1, out);
		fwrite(text, answer.size, 1, out);
		fflush(out);
	}
}

/* The command */

/**
 * struct known - state of an object in the command
 * @child: number of the child that has opened the file, 0 for none
 * @why: why there are no symbols, or NULL
 */
struct known {
	unsigned int child;
	const char *why;
};

static struct known *known;
static size_t nknown, known_size;

/* The child, and its number: 1, 2 and so on. */
static struct apart child;
static unsigned int children;

static struct known *known_of(unsigned int object)
{
	while (nknown <= object) {
		known = grow(known, nknown, &known_size, sizeof(*known));
		known[nknown++] = (struct known){};
	}
	return &known[object];
}

/*
 * Receive a reply and its text, which is valid until the next one.  Nothing
 * that the child sends is trusted.
 */
static bool receive(struct answer *answer, const char **text)
{
	static char *bytes;

	if (!bytes)
		bytes = checked(malloc(TEXT_MAX));
	if (!fread(answer, sizeof(*answer), 1, child.from) ||
	    answer->size > TEXT_MAX)
		return false;
	*text = answer->size ? bytes : NULL;
	return !answer->size || (fread(bytes, answer->size, 1, child.from) &&
				 !bytes[answer->size - 1]);
}

/* Mark an object as one without symbols, since its file cannot be parsed. */
static void give_up(unsigned int object)
{
	known_of(object)->why = apart_end(&child) ?:
				"reading it has failed";
}

/* Send a request to the child.  Returns false if there is no reply. */
static bool ask(enum ask ask, unsigned int object, __u64 value,
		struct answer *answer, const char **text)
{
	struct question question = {
		.ask = ask,
		.object = object,
		.value = value,
	};

	if (apart_send(&child, &question, sizeof(question)) &&
	    receive(answer, text))
		return true;
	give_up(object);
	return false;
}

static bool send_object(unsigned int n)
{
	const struct object *object = objects_get(n);
	struct question question = {
		.ask = ASK_OPEN,
		.object = n,
		.path = strlen(object->path) + 1,
	};

	question.size = sizeof(object->id) + question.path + object->image_size;
	return apart_send(&child, &question, sizeof(question)) &&
	       apart_send(&child, &object->id, sizeof(object->id)) &&
	       apart_send(&child, object->path, question.path) &&
	       apart_send(&child, object->image, object->image_size);
}

/*
 * Make the child open the file of an object.  Returns whether there may be
 * symbols.
 */
static bool is_open(unsigned int object)
{
	struct known *is = known_of(object);
	struct answer answer;
	const char *why;

	if (is->why)
		return false;
	if (!child.pid) {
		apart_start(&child, -1, answer_all, NULL);
		children++;
	}
	if (is->child == children)
		return true;
	if (!send_object(object) || !receive(&answer, &why)) {
		give_up(object);
		return false;
	}
	is->child = children;
	is->why = why ? intern(why) : NULL;
	return !why;
}

static void write_build_id(FILE *in, FILE *out, void *data)
{
	struct build_id id;

	(void)in;
	source_build_id(*(const int *)data, &id);
	fwrite(&id, sizeof(id), 1, out);
}

/* Get the build ID of a file.  Its size is 0 if there is none or no file. */
void symbols_build_id(int fd, struct build_id *id)
{
	struct apart parser;

	*id = (struct build_id){};
	if (fd < 0)
		return;
	apart_start(&parser, fd, write_build_id, &fd);
	if (!fread(id, sizeof(*id), 1, parser.from) || id->size > BUILD_ID_MAX)
		*id = (struct build_id){};
	apart_end(&parser);
}

/**
 * symbols_find() - find the address and the function of code
 * @object: the object
 * @offset: offset of the code in the file
 * @symbol: set to a symbol of the file, to "NAME@plt", to "sub_ADDRESS" for a
 *	function without a symbol, or to "[no symbol]"
 *
 * Return: the address in the file, or @offset itself if the file cannot be
 *	read.
 */
__u64 symbols_find(unsigned int object, __u64 offset, struct symbol *symbol)
{
	struct answer answer;
	const char *name;

	*symbol = (struct symbol){ .name = "[no symbol]" };
	if (!is_open(object) ||
	    !ask(ASK_PLACE, object, offset, &answer, &name))
		return offset;
	symbol->start = answer.start;
	if (name)
		symbol->name = intern(name);
	return answer.address;
}

/**
 * symbols_line() - find the source line of an address
 * @object: the object
 * @address: an address, from symbols_find()
 * @line: set to the number of the line
 *
 * Return: the path of the source file, valid until the next call, or NULL if it
 * is not known.
 */
const char *symbols_line(unsigned int object, __u64 address, int *line)
{
	struct answer answer;
	const char *path;

	if (!is_open(object) ||
	    !ask(ASK_LINE, object, address, &answer, &path))
		return NULL;
	*line = answer.line;
	return path;
}

/* Return why an object has no symbols, or NULL if it may have some. */
const char *symbols_why_not(unsigned int object)
{
	return is_open(object) ? NULL : known_of(object)->why;
}
