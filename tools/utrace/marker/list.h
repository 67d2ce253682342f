/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the table of 'utrace markers list'
 */
#ifndef UTRACE_MARKER_LIST_H
#define UTRACE_MARKER_LIST_H

#include <sys/types.h>

/**
 * struct list_row - a row of the table
 * @name: name of the marker
 * @n: number of its sites
 * @state: text of the third column
 * @items: the arguments or fields
 * @nitems: number of elements of @items
 */
struct list_row {
	const char *name;
	unsigned int n;
	const char *state;
	const char *const *items;
	unsigned int nitems;
};

/* list.c */
void list_print_title(const char *title, unsigned int before);
void list_print_header(int width, const char *n, const char *state,
		       const char *items);
void list_print_row(const struct list_row *row, int width);

/* user_list.c */
size_t list_user_events(pid_t pid, unsigned int before);

#endif /* UTRACE_MARKER_LIST_H */
