// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - calls with the paths of -P
 *
 * A call is shown if it names a path of -P as it was given, or resolved by
 * realpath(3), or if one of its descriptors is that file.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output.h"
#include "decode/items.h"
#include "lib/memory.h"
#include "paths.h"
#include "structs.h"

/* Add a path, which is never freed. */
void paths_add(struct text *text, const char *path)
{
	text->path = checked(reallocarray(text->path, text->npaths + 1,
					  sizeof(*text->path)));
	text->path[text->npaths++] = path;
}

/* Add what the paths resolve to, and print these paths. */
void paths_resolve(struct text *text)
{
	size_t i, n = text->npaths;

	for (i = 0; i < n; i++) {
		char *path = realpath(text->path[i], NULL);

		if (!path || !strcmp(path, text->path[i])) {
			free(path);
			continue;
		}
		if (!(text->quiet & QUIET_PATH))
			output_note("Requested path \"%s\" resolved into \"%s\"",
				    text->path[i], path);
		paths_add(text, path);
	}
}

static bool is_path(const struct text *text, const struct utrace_item *item)
{
	size_t i;

	for (i = 0; i < text->npaths; i++)
		if (strlen(text->path[i]) == item->len &&
		    !memcmp(text->path[i], item->data, item->len))
			return true;
	return false;
}

/* Check whether an item is a path that the call names or has a descriptor of. */
static bool counts(const struct utrace_call *call, const __u64 *args,
		   const struct utrace_item *item)
{
	const struct utrace_arg *arg;
	unsigned int type;

	if (item->arg >= call->nargs)
		return false;
	arg = &call->arg[item->arg];
	type = arg->type;
	if (item->parent)
		return type == UTRACE_ARG_STRUCT && item->kind == UTRACE_ITEM_FILE &&
		       structs_have_paths(&utrace_memories[arg->len]);
	/* The working directory is no descriptor. */
	if (type == UTRACE_ARG_DFD && (int)args[item->arg] < 0)
		return false;
	/* A context has no path. */
	if (type == UTRACE_ARG_FD && arg->len)
		return false;
	return (type == UTRACE_ARG_PATH && item->kind == UTRACE_ITEM_STRING) ||
	       item->kind == UTRACE_ITEM_FILE;
}

/* Check whether the record of an entry, or of a whole call, has a path of -P. */
bool paths_match(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	const struct utrace_rec_sys_call *whole = (const void *)rec;
	bool is_whole = rec->type == UTRACE_REC_SYS_CALL;
	const __u64 *args = is_whole ? whole->args : enter->args;
	const struct utrace_call *call;
	const struct utrace_item *item = NULL;
	const void *items = (const char *)rec + rec->items;

	call = utrace_call_by_command(is_whole ? whole->nr : enter->nr,
				      (const unsigned long *)args);
	if (!rec->items || !call)
		return false;
	while ((item = utrace_item_next(items, rec->size - rec->items, item)))
		if (counts(call, args, item) && is_path(text, item))
			return true;
	return false;
}
