// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - find the markers and functions of a file in a child
 *
 * The file may be malicious, or truncated while it is read; see lib/apart.c.
 * The child sends what it finds, and the command checks all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "elf.h"
#include "lib/apart.h"
#include "lib/intern.h"
#include "lib/memory.h"

/* Maximum size of a name. */
#define NAME_MAX_SIZE	(1 << 20)

/**
 * struct search - a search in the child
 * @path: path of the file
 * @fd: the file
 * @wish: functions to find, or NULL for SDT markers
 * @out: stream to the command
 */
struct search {
	const char *path;
	int fd;
	const struct marker_wish *wish;
	FILE *out;
};

/*
 * A marker; its names follow, each with its NUL.  In the last one @provider is
 * 0, and @name is the reason why the file can have no markers, if there is one.
 */
struct sent {
	struct marker_site site;
	__u32 provider;
	__u32 name;
};

/* Return the bytes that a name takes; a name that is too long is not sent. */
static __u32 size_of(const char *name)
{
	size_t n = name ? strlen(name) + 1 : 0;

	return n <= NAME_MAX_SIZE ? n : 0;
}

static void send_site(const struct marker_site *site, void *data)
{
	const struct search *search = data;
	struct sent sent = {
		.site = *site,
		.provider = size_of(site->provider),
		.name = size_of(site->name),
	};

	if (!sent.provider || !sent.name)
		return;
	fwrite(&sent, sizeof(sent), 1, search->out);
	fwrite(site->provider, sent.provider, 1, search->out);
	fwrite(site->name, sent.name, 1, search->out);
}

static void find(FILE *in, FILE *out, void *data)
{
	struct search *search = data;
	struct sent end = {};
	const char *why;

	(void)in;
	search->out = out;
	if (search->wish)
		why = marker_functions(search->path, search->fd, search->wish,
				       send_site, search);
	else
		why = marker_notes(search->fd, send_site, search);
	end.name = size_of(why);
	fwrite(&end, sizeof(end), 1, out);
	fwrite(why, end.name, 1, out);
}

/* Receive a text of @size bytes.  Returns NULL if it is not a valid string. */
static const char *receive_text(const struct apart *apart, char *text, __u32 size)
{
	if (!size || size > NAME_MAX_SIZE || !fread(text, size, 1, apart->from) ||
	    text[size - 1])
		return NULL;
	return text;
}

static bool is_register(__u8 number)
{
	return number == UTRACE_ARG_NO_REG || marker_register(number);
}

static bool is_sound(const struct marker_args *args)
{
	unsigned int i;

	if (args->n > UTRACE_MARKER_ARGS)
		return false;
	for (i = 0; i < args->n; i++)
		if (!is_register(args->arg[i].where.reg) ||
		    !is_register(args->arg[i].where.index) ||
		    !memchr(args->arg[i].type, '\0', sizeof(args->arg[i].type)))
			return false;
	return true;
}

/* Receive the markers from a child.  Returns false unless all were received. */
static bool take_sites(const struct apart *apart, marker_site_function *function,
		       void *data, const char **why)
{
	static char *provider, *name;
	struct sent sent;

	if (!name) {
		provider = checked(malloc(NAME_MAX_SIZE));
		name = checked(malloc(NAME_MAX_SIZE));
	}
	while (fread(&sent, sizeof(sent), 1, apart->from)) {
		if (sent.provider) {
			sent.site.provider = receive_text(apart, provider,
							  sent.provider);
			sent.site.name = receive_text(apart, name, sent.name);
			if (!sent.site.provider || !sent.site.name ||
			    !is_sound(&sent.site.args))
				return false;
			function(&sent.site, data);
			continue;
		}
		*why = receive_text(apart, name, sent.name);
		*why = *why ? intern(*why) : NULL;
		return true;
	}
	return false;
}

/**
 * marker_sites() - find the SDT markers or functions of a file
 * @path: path of the file, to find its debugging information
 * @fd: the file
 * @wish: which functions; NULL: SDT markers
 * @function: called for each marker, in the order of the file
 * @data: its argument
 * @damaged: set to true if the file could not be parsed completely
 *
 * Return: why the file can have no markers or could not be parsed, or NULL.
 */
const char *marker_sites(const char *path, int fd, const struct marker_wish *wish,
			 marker_site_function *function, void *data,
			 bool *damaged)
{
	struct search search = { .path = path, .fd = fd, .wish = wish };
	const char *why = NULL, *failed;
	struct apart apart;

	apart_start(&apart, fd, find, &search);
	*damaged = !take_sites(&apart, function, data, &why);
	failed = apart_end(&apart);
	return *damaged ? failed ?: "reading it has failed" : why;
}
