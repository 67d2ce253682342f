// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - one copy of each text
 *
 * Equal texts have the same copy, so a table of pairs of integers (pairs.h) can
 * hold texts.  The tree is balanced, so no choice of names makes a look-up
 * slow.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "memory.h"

/**
 * intern() - get the copy of a text
 * @text: the text
 *
 * The command ends with a message if there is no memory.
 *
 * Return: the copy, never freed.
 */
const char *intern(const char *text)
{
	static void *root;
	char **found = tfind(text, &root, (__compar_fn_t)strcmp), *copy;

	if (found)
		return *found;
	copy = checked(strdup(text));
	checked(tsearch(copy, &root, (__compar_fn_t)strcmp));
	return copy;
}

/* Return a number for a text, for a table of pairs. */
__u64 intern_number(const char *text)
{
	return (unsigned long)intern(text);
}
