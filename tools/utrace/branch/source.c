// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - source lines
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/files.h"
#include "lib/memory.h"
#include "places.h"
#include "source.h"

/*
 * Return FILE:LINE of a place without the directory, or "-".  Valid until the
 * next call.
 */
const char *source_text(const struct place *place)
{
	static char text[300];
	const char *slash;

	if (!place->file)
		return "-";
	slash = strrchr(place->file, '/');
	snprintf(text, sizeof(text), "%s:%d", slash ? slash + 1 : place->file,
		 place->line);
	return text;
}

/**
 * source_line() - read a source line
 * @path: the source file
 * @line: number of the line, from 1
 *
 * Return: the text without blanks at its ends, valid until the next call, or
 *	NULL if the file cannot be read or has no such line.
 */
const char *source_line(const char *path, unsigned int line)
{
	static char *text;
	static size_t size;
	/* Debugging information may name any file, even one that blocks. */
	int fd = file_open(path);
	ssize_t n = -1;
	char *begin;
	FILE *file;

	if (fd < 0)
		return NULL;
	file = checked(fdopen(fd, "r"));
	while (line-- && (n = getline(&text, &size, file)) >= 0)
		;
	fclose(file);
	if (n < 0)
		return NULL;
	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	begin = text;
	while (isspace((unsigned char)*begin))
		begin++;
	return begin;
}
