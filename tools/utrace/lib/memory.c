// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - memory; the command ends with a message if there is not enough
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "memory.h"

void out_of_memory(void)
{
	fail("memory", "there is not enough");
}

/* Return @memory, the result of malloc(), strdup() or the like, if not NULL. */
void *checked(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

/**
 * grow() - make room for one more element of an array
 * @array: the array, from malloc(), or NULL
 * @n: number of elements that are used
 * @size: number of allocated elements, which is updated
 * @element: size of an element
 *
 * Return: the array, which may have moved.
 */
void *grow(void *array, size_t n, size_t *size, size_t element)
{
	if (n < *size)
		return array;
	*size = *size ? 2 * *size : 16;
	return checked(reallocarray(array, *size, element));
}

/* Format a text as asprintf() does.  The caller frees it. */
char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		out_of_memory();
	return text;
}
