/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - what the parts of its program share
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Between a child that measures and its parent. */
extern double *shared;

/* Failures end the guest, and with it the measurement. */
void die(const char *what);
void must(bool ok, const char *what);

void say(const char *name, double value);
void end(pid_t pid);

/* One command to the module; false if it refused. */
__attribute__((format(printf, 1, 2)))
bool control(const char *format, ...);

/* What the last command said. */
void reply(char *buf, size_t size);

/* Of a slab cache, the objects in use and the size of one. */
double slab(const char *cache, double *size);

void attach_rows(int n);
void system_rows(int n);
void irqs_row(void);

#endif /* BENCH_H */
