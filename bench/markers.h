/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - declarations of the files that measure words and markers
 *
 * The program is process 1 of the guest.  bench/markers.c has main(), and each
 * other file that includes this header measures one group of rows.
 */
#ifndef MARKERS_H
#define MARKERS_H

#include <linux/types.h>
#include <stddef.h>
#include <sys/types.h>

#include <x86intrin.h>

#include "rows.h"

#define TRACING		"/sys/kernel/tracing"
#define FILE_PATH	"/marked"
#define PAGE		4096

/* The number of words and sites that are armed during the forks. */
#define WORDS		16
#define SITES		4

/* The number of further markers that one owner has armed. */
#define FURTHER		500

/*
 * The file is a page of code and a page of data.  @pass is the code of a
 * program at a marker: "cmpw $0, semaphore(%rip); jne site; ret".  Each of
 * @site is a function of nothing but a marker: "nop; ret".  So is each of
 * @further, which nobody calls.
 */
struct marked {
	union {
		struct {
			struct {
				__u8 cmp[3];
				__s32 distance;
				__u8 zero;
				__u8 jne[2];
				__u8 ret;
			} __attribute__((packed)) pass;
			__u8 site[SITES][2];
			__u8 further[FURTHER][2];
		};
		__u8 code[PAGE];
	};
	__u64 touched;
	__u16 semaphore;
	__u32 word[WORDS];
};

/* The offset of a member in the file, and its address in memory. */
#define OFFSET(what)	offsetof(struct marked, what)
#define PLACE		0x10000000ul
#define MAPPED(what)	(PLACE + OFFSET(what))

/* The most processes of a crowd. */
#define MOST		3000

/**
 * struct owner - a session that has things armed in one process
 * @session: the session
 * @target: id of its only target, for which it records no events
 */
struct owner {
	int session;
	__u32 target;
};

/* For this owner the current process arms things. */
extern struct owner owner;

static inline unsigned long tsc(void)
{
	return __rdtsc();
}

/* Say @name_@n: the CPU time of one of the @ops operations of @loop. */
void arm_row(const char *name, int n, void (*loop)(long n), long ops,
	     int blocks);

unsigned long cpu_time(void);
double per_op(unsigned long (*clock)(void), void (*loop)(long n), long ops, int blocks);
void map_file(void);
pid_t sleeper(void (*begin)(void));
void end(pid_t pid);

/**
 * struct crowd - processes that sleep
 * @pids: the processes
 * @n: how many there are
 */
struct crowd {
	pid_t pids[MOST];
	int n;
};

/* Have @n processes, each of which has done @begin. */
void grow_crowd(struct crowd *crowd, int n, void (*begin)(void));
void end_crowd(struct crowd *crowd);

/* Measure @rows with crowds of several sizes; the first process is the target of `owner`. */
void crowd_rows(void (*begin)(void), void (*rows)(const struct crowd *crowd));

/* 16 bits of the memory of a process. */
int value_at(pid_t pid, unsigned long addr);

/* Open a session with @pid as its target; @ring_size 0: the default. */
struct owner own(pid_t pid, __u64 ring_size);

/* The number of hits of the only thing that an owner has armed. */
__u64 hits_of(const struct owner *by);

/* Arm something for `owner`.  arm_word() returns the id for disarm(). */
__u32 arm_word(unsigned long addr);
void arm_site(int i, __u32 flags);
void disarm(__u32 id);

/*
 * Have perf arm marker @i in a process, 0: the current one; returns its
 * descriptor.
 */
int perf_arm(pid_t pid, int i);

/* Arm and disarm a marker @n times, for `owner` or by ftrace. */
void sites_loop(long n);
void tracefs_loop(long n);

/* Give ftrace the marker of tracefs_loop(), and remove it. */
void add_probe(void);
void remove_probe(void);

/* Measurements in a process of their own. */
void forks(void);
void forks_beside_perf(void);
void forks_while_arming(void);
void bystander_sites(void);
void user_events(void);
void absent_pages(void);
void event_writes(void);

/* Be the program of bystander_sites(). */
void be_crowded(void);

#endif /* MARKERS_H */
