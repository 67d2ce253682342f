/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - memory; the command ends with a message if there is not enough
 */
#ifndef UTRACE_LIB_MEMORY_H
#define UTRACE_LIB_MEMORY_H

#include <stddef.h>

void out_of_memory(void) __attribute__((noreturn));
void *checked(void *memory);
void *grow(void *array, size_t n, size_t *size, size_t element);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* UTRACE_LIB_MEMORY_H */
