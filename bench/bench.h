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

#define TRACING	"/sys/kernel/tracing"

__attribute__((format(printf, 2, 3)))
void write_file(const char *path, const char *format, ...);

/* False if it was refused. */
__attribute__((format(printf, 2, 3)))
bool write_file_if(const char *path, const char *format, ...);

void read_file(const char *path, char *buf, size_t size);
void load_module(const char *path);

/* One command to the module; false if it refused. */
__attribute__((format(printf, 1, 2)))
bool control(const char *format, ...);

/* What the last command said. */
void reply(char *buf, size_t size);

/* Of a slab cache, the objects in use and the size of one. */
double slab(const char *cache, double *size);

/* A process of @n threads that sleep. */
pid_t threads(int n);

void attach_rows(int n);
void barrier_rows(int n);
void calls_to_look_at(void);
void holds_rows(void);
void storm_rows(void);
void system_rows(int n);

#endif /* BENCH_H */
