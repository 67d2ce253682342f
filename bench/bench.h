/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - functions that the files of the guest's program share
 *
 * The program is process 1 of the guest.  bench/init.c has main(), and each
 * other file that includes this header measures one group of rows.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Shared memory, by which a child that measures hands values to its parent. */
extern double *shared;

/* Print the failure and reboot, which ends the guest and the measurement. */
void die(const char *what);
void must(bool ok, const char *what);

void say(const char *name, double value);
void end(pid_t pid);

#define TRACING	"/sys/kernel/tracing"

__attribute__((format(printf, 2, 3)))
void write_file(const char *path, const char *format, ...);

/* Returns false if the file cannot be written. */
__attribute__((format(printf, 2, 3)))
bool write_file_if(const char *path, const char *format, ...);

void read_file(const char *path, char *buf, size_t size);
void load_module(const char *path);

/* Give one command to utrace_bench.ko.  Returns false if the command fails. */
__attribute__((format(printf, 1, 2)))
bool control(const char *format, ...);

/* Read what the last command to utrace_bench.ko said. */
void reply(char *buf, size_t size);

/* Returns how many objects of a slab cache are in use; @size is that of one. */
double slab(const char *cache, double *size);

/* Start a process of @n threads that sleep. */
pid_t threads(int n);

/* Instructions for one of the @ops operations of @loop, the least of @blocks. */
double per_op(void (*loop)(long n), long ops, int blocks);

/* Memory for the results of children. */
extern double *shared;

/* The getppid() calls that call_cost() has made so far. */
extern long all_calls;

/* Make @n getppid() calls. */
void getppids(long n);

/* Instructions for one getppid(), untraced or as the task is traced now. */
double call_cost(void);

void attach_rows(int n);
void barrier_rows(int n);
void calls_to_look_at(void);
void dev_rows(void);
double reader_cost(int fd);
void holds_rows(void);
void ptrace_row(const char *name);
void ptracers_rows(void);
void storm_rows(void);
void system_rows(int n);
void wait_row(const char *name);

#endif /* BENCH_H */
