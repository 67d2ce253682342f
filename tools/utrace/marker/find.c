// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - find the markers that the user has named
 *
 * A MARKER is PROVIDER:NAME, FILE:PROVIDER:NAME, FILE:FUNCTION or
 * FILE:FUNCTION%return.  FILE has a '/', unless two colons follow.  user:NAME
 * is a user_event, see user_find.c.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "lib/fail.h"
#include "lib/files.h"
#include "lib/memory.h"
#include "markers.h"
#include "set.h"

#define RETURN	"%return"

/**
 * struct spec - a MARKER of the user
 * @text: as it was typed
 * @file: FILE, or NULL
 * @provider: PROVIDER, or NULL for a function
 * @user_event: NAME of a user_event, or NULL; the other names are NULL then
 * @wish: NAME or FUNCTION, and how to find a function
 * @sites: number of markers that were found
 */
struct spec {
	const char *text;
	const char *file;
	const char *provider;
	const char *user_event;
	struct marker_wish wish;
	size_t sites;
};

/**
 * struct search - a search
 * @set: the markers that were found
 * @options: options of the user
 * @specs: the MARKERs of the user; @options->n elements
 * @spec: the current one; NULL: all that have no FILE
 * @fd: the current file
 * @file: number of its device and inode among @files
 * @files: the files that were searched
 * @why: why the FILE of @spec cannot be opened as the process has mapped it, or
 *	NULL
 */
struct search {
	struct marker_set *set;
	const struct markers_options *options;
	struct spec *specs;
	struct spec *spec;
	int fd;
	unsigned int file;
	struct pairs files;
	const char *why;
};

/* Parsing */

/*
 * Cut @text at its last colon.  Returns the word after the colon, or NULL if
 * there is none.
 */
static char *cut(char *text)
{
	char *slash = strrchr(text, '/'), *colon = strrchr(slash ?: text, ':');

	if (!colon || colon == text || !colon[1])
		return NULL;
	*colon = '\0';
	return colon + 1;
}

/*
 * Cut "%return" off @name, which is the function then.  Returns whether it was
 * there.
 */
static bool cut_return(char *name)
{
	size_t n = strlen(name), end = strlen(RETURN);

	if (n <= end || strcmp(name + n - end, RETURN))
		return false;
	name[n - end] = '\0';
	return true;
}

static void parse_spec(struct spec *spec, const char *text, unsigned int args,
		       bool force)
{
	char *rest, *name, *provider;

	*spec = (struct spec){ .text = text, .user_event = user_event_of(text) };
	if (spec->user_event)
		return;
	rest = checked(strdup(text));
	name = cut(rest);
	if (!name)
		fail(text, "give PROVIDER:NAME, FILE:PROVIDER:NAME, FILE:FUNCTION or "
		     "user:NAME");
	provider = cut(rest);
	spec->wish.name = name;
	if (provider || !strchr(rest, '/')) {
		spec->file = provider ? rest : NULL;
		spec->provider = provider ?: rest;
		return;
	}
	spec->file = rest;
	spec->wish.is_return = cut_return(name);
	spec->wish.args = args;
	spec->wish.force = force;
}

static void parse_specs(struct search *search)
{
	const struct markers_options *options = search->options;
	unsigned int i, args = options->args;

	if (args < options->histogram)
		args = options->histogram;
	if (args > MARKER_CALL_ARGS)
		args = MARKER_CALL_ARGS;
	search->specs = checked(calloc(options->n, sizeof(*search->specs)));
	for (i = 0; i < options->n; i++)
		parse_spec(&search->specs[i], options->names[i], args,
			   options->force);
}

/* Found sites */

static void add_site(const struct search *search, const struct marker_site *at)
{
	struct marker_set *set = search->set;
	size_t before = set->places.n;
	struct site *site;

	/* The function may have several names. */
	if (pairs_add(&set->places, (__u64)search->file << 32 | at->flags,
		      at->offset) < before)
		return;
	site = marker_set_add(set, at->provider, at->name);
	site->fd = search->fd;
	site->at = *at;
	site->at.provider = NULL;
	site->at.name = NULL;
}

static bool is_wanted(const struct spec *spec, const struct marker_site *at)
{
	return spec->provider && !fnmatch(spec->provider, at->provider, 0) &&
	       !fnmatch(spec->wish.name, at->name, 0);
}

/* Take an SDT marker. */
static void take_marker(const struct marker_site *at, void *data)
{
	const struct search *search = data;
	struct spec *spec = search->specs, *end = spec + search->options->n;

	for (; spec < end; spec++) {
		if (search->spec ? spec != search->spec : !!spec->file)
			continue;
		if (!is_wanted(spec, at))
			continue;
		spec->sites++;
		add_site(search, at);
	}
}

/* Take a function. */
static void take_function(const struct marker_site *at, void *data)
{
	const struct search *search = data;

	search->spec->sites++;
	add_site(search, at);
}

/* Searching */

/*
 * Search a file.  Returns why it cannot be searched, or NULL; see
 * marker_sites().
 */
static const char *search_file(struct search *search, const char *path, int fd,
			       bool *damaged)
{
	struct spec *spec = search->spec;
	struct stat stat;

	*damaged = false;
	search->fd = fd;
	if (fstat(fd, &stat))
		return strerror(errno);
	search->file = pairs_add(&search->files, stat.st_dev, stat.st_ino);
	if (!spec || spec->provider)
		return marker_sites(path, fd, NULL, take_marker, search,
				    damaged);
	return marker_sites(path, fd, &spec->wish, take_function, search,
			    damaged);
}

/* Search a file of the process.  A file without markers may have any format. */
static bool search_mapped(const char *path, int fd, void *data)
{
	struct search *search = data;
	size_t before = search->set->nsites;
	const char *why;
	bool damaged;

	if (search->spec && !marker_file_is(path, search->spec->file))
		return false;
	why = search_file(search, path, fd, &damaged);
	if (search->spec)
		search->why = why;
	else if (damaged)
		say(path, why);
	return search->set->nsites > before;
}

static void search_path(struct search *search, const char *path)
{
	int fd = file_open(path);
	const char *why;
	bool damaged;

	if (fd < 0)
		fail(path, marker_file_why_not(errno));
	why = search_file(search, path, fd, &damaged);
	if (why && search->spec)
		fail(path, why);
	if (why)
		say(path, why);
}

static void search_program(struct search *search)
{
	char *path = launch_look_up(search->options->launch.program[0]);

	search_path(search, path);
	free(path);
}

/* Search the FILE of a MARKER, as the process sees it if possible. */
static void search_named(struct search *search, struct spec *spec)
{
	pid_t pid = search->options->pid;

	search->spec = spec;
	search->why = NULL;
	if (pid)
		marker_files_of_process(pid, search_mapped, search);
	if (!spec->sites && search->why)
		fail(spec->file, search->why);
	if (!spec->sites)
		search_path(search, spec->file);
	search->spec = NULL;
}

/* End the command with a message, since nothing was found for a MARKER. */
static void fail_spec(const struct search *search, const struct spec *spec)
{
	const struct markers_options *options = search->options;
	const char *why;

	if (spec->user_event)
		why = "no process has registered such a user_event now; give "
		      "its name without * and ? to wait for one";
	else if (!spec->provider)
		why = xasprintf("%s has no symbol for a function '%s'; is it "
				"stripped, or is the function chosen by the "
				"loader (type 'i' of nm -D)?", spec->file,
				spec->wish.name);
	else if (spec->file)
		why = xasprintf("no such marker; see 'utrace markers list %s'",
				spec->file);
	else if (options->pid)
		why = xasprintf("no such marker in process %d; see 'utrace "
				"markers list -p %d'.  A function is "
				"FILE:FUNCTION, with a '/' in FILE",
				options->pid, options->pid);
	else
		why = xasprintf("%s itself has no such marker; for those of "
				"libraries, or of the interpreter of a script, "
				"give FILE:PROVIDER:NAME; a function is "
				"FILE:FUNCTION, with a '/' in FILE",
				options->launch.program[0]);
	fail(spec->text, why);
}

/*
 * Check a MARKER of -a.  It needs a FILE, since there is no process whose files
 * are searched, and may not be a user_event, which ftrace can trace.
 */
static void check_spec_of_all(const struct spec *spec)
{
	if (spec->user_event)
		fail(spec->text, "-a takes markers and functions; trace "
		     "user_events of all processes with ftrace, as in 'trace-cmd "
		     "record -e user_events'");
	if (!spec->file)
		fail(spec->text, "of which file?  With -a give FILE:PROVIDER:NAME "
		     "or FILE:FUNCTION");
}

/**
 * marker_set_find() - find the markers that the user has named
 * @set: filled in, empty at first
 * @options: options of the user
 *
 * The command ends with a message if one of them is not found.
 */
void marker_set_find(struct marker_set *set,
		     const struct markers_options *options)
{
	struct search search = { .set = set, .options = options };
	struct spec *spec;
	bool anywhere = false;

	parse_specs(&search);
	for (spec = search.specs; spec < search.specs + options->n; spec++) {
		if (options->all)
			check_spec_of_all(spec);
		if (spec->user_event)
			spec->sites = marker_set_add_user_events(set, spec->text);
		else if (spec->file)
			search_named(&search, spec);
		else
			anywhere = true;
	}
	if (anywhere && options->pid)
		marker_files_of_process(options->pid, search_mapped, &search);
	else if (anywhere)
		search_program(&search);
	for (spec = search.specs; spec < search.specs + options->n; spec++)
		if (!spec->sites)
			fail_spec(&search, spec);
	free(search.specs);
	pairs_clear(&search.files);
}
