// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers of a library that a process has mapped several times
 *
 * Each copy that a loader has made has the semaphore, and its hits are
 * recorded.  Mappings that the program itself adds change nothing.
 */
#include "sites.h"

/* Orders of the target */

/* FILE_MOST is more than the size of the library. */
#define FILE_MOST	(1UL << 20)

/* Load the library for the second time, in a namespace of its own. */
static long load_again(long unused)
{
	loaded[1].handle = dlmopen(LM_ID_NEWLM, library[0],
				   RTLD_NOW | RTLD_LOCAL);
	if (!loaded[1].handle)
		_exit(92);
	look_around(1);
	return 0;
}

/* Map the code for the second time. */
static long map_again(long unused)
{
	if (mmap(PLACE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		 library_fd, site[PLAIN].offset & -PAGE) != PLACE)
		_exit(91);
	return 0;
}

/* Map the whole file to read it, as programs do that look for their own symbols. */
static void map_to_read(unsigned char *at)
{
	if (mmap(at, FILE_MOST, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
		 library_fd, 0) != at)
		_exit(89);
}

/* The file is mapped below all libraries, and between them and the stack. */
static long map_around(long unused)
{
	uintptr_t above = (uintptr_t)__builtin_frame_address(0) - (64UL << 20);

	map_to_read(PLACE);
	map_to_read((void *)(above & -PAGE));
	return 0;
}

/* More mappings than uprobes remembers breakpoints for. */
#define OFTEN	100

static long map_often(long unused)
{
	int i;

	for (i = 0; i < OFTEN; i++)
		map_to_read(PLACE + i * FILE_MOST);
	return 0;
}

/* The marker of a function in the second mapping is at AT_PLACE. */
#define AT_PLACE	(PLACE + site[PLAIN].offset % PAGE)

static long call_again(long unused)
{
	__u64 function = (uintptr_t)loaded[0].function[PLAIN];
	__u64 marker = stage->bias[0] + site[PLAIN].address;
	long (*again)(long a, long b);

	again = (void *)(AT_PLACE + function - marker);
	return again(stage->a, stage->b);
}

static long unmap_all(long unused)
{
	if (munmap(PLACE, OFTEN * FILE_MOST))
		_exit(90);
	return 0;
}

/* Tests */

/* The semaphores of both copies, and the hits that both make. */
static void check_copies(struct target *target, struct tracer *tracer, int want)
{
	for (stage->library = 0; stage->library < 2; stage->library++) {
		is(want, semaphore(target, HIT), "the semaphore of a copy");
		hit(target, HIT, 5);
		are_hits(tracer, target, HIT, want ? 5 : 0, "  and its hits");
	}
	stage->library = 0;
}

TEST_F(sites, loaded_twice)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, load_again, 0);
	holds(stage->bias[0] != stage->bias[1], "two copies");
	arm_place(&tracer, HIT);
	check_copies(target, &tracer, 1);
	disarm_place(&tracer, HIT);
	check_copies(target, &tracer, 0);
	arm_place(&tracer, HIT);
	check_copies(target, &tracer, 1);
	untrace(&tracer);
	is(0, semaphore(target, HIT), "closed: the semaphore of the first");
	stage->library = 1;
	is(0, semaphore(target, HIT), "and of the second");
	stage->library = 0;
	hit(target, HIT, 5);
}

TEST_F(sites, loaded_again_while_armed)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	have(target, SELF, load_again, 0);
	check_copies(target, &tracer, 1);
	disarm_place(&tracer, HIT);
	check_copies(target, &tracer, 0);
	untrace(&tracer);
}

TEST_F(sites, one_of_two_unloaded)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, load_again, 0);
	arm_place(&tracer, HIT);
	check_copies(target, &tracer, 1);
	have(target, SELF, unload_library, 1);
	is(1, semaphore(target, HIT), "the semaphore of the other copy");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "  and its hits");
	have(target, SELF, load_again, 0);
	check_copies(target, &tracer, 1);
	untrace(&tracer);
	is(0, semaphore(target, HIT), "closed");
}

/* A mapping of the file that cannot be executed has no count. */
static void check_reader(struct target *target, order_fn *map)
{
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map, 0);
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "the file is mapped, then armed");
	have(target, SELF, unmap_all, 0);
	is(1, semaphore(target, HIT), "and unmapped");
	disarm_place(&tracer, HIT);
	is(0, semaphore(target, HIT), "disarmed");
	untrace(&tracer);
}

TEST_F(sites, file_mapped_to_read)
{
	check_reader(&self->target, map_around);
}

TEST_F(sites, file_mapped_to_read_often)
{
	check_reader(&self->target, map_often);
}

TEST_F(sites, file_mapped_while_armed)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	have(target, SELF, map_around, 0);
	is(1, semaphore(target, HIT), "the marker is armed, and the file mapped");
	have(target, SELF, load_again, 0);
	check_copies(target, &tracer, 1);
	disarm_place(&tracer, HIT);
	check_copies(target, &tracer, 0);
	have(target, SELF, unmap_all, 0);
	untrace(&tracer);
}

/*
 * A copy that is loaded when there are too many mappings may have no breakpoint, and
 * neither has a semaphore then: that of another marker stays as it is.
 */
TEST_F(sites, file_mapped_often_while_armed)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, FIRST);
	have(target, SELF, map_often, 0);
	is(1, semaphore(target, FIRST), "the marker is armed, and the file mapped");
	have(target, SELF, load_again, 0);
	arm_place(&tracer, SECOND);
	is(2, semaphore(target, FIRST), "another marker has the same semaphore");
	disarm_place(&tracer, FIRST);
	is(1, semaphore(target, FIRST), "one of the two is disarmed");
	stage->library = 1;
	is(1, semaphore(target, FIRST), "and that of the late copy");
	disarm_place(&tracer, SECOND);
	is(0, semaphore(target, FIRST), "disarmed: that of the late copy");
	stage->library = 0;
	is(0, semaphore(target, FIRST), "and that of the first one");
	have(target, SELF, unmap_all, 0);
	arm_place(&tracer, HIT);
	check_copies(target, &tracer, 1);
	untrace(&tracer);
}

/* Code is mapped by hand, before and after ARM. */
TEST_F(sites, code_mapped_twice)
{
	struct target *target = &self->target;
	struct utrace_rec_marker *rec;
	struct tracer tracer;
	int i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < 3; i++) {
		if (i)
			arm_place(&tracer, PLAIN);
		have(target, SELF, map_again, 0);
		if (!i)
			arm_place(&tracer, PLAIN);
		is(A, have(target, SELF, call_again, 0), "a copy of the code works");
		is(1, gather(tracer.session, 1), "a hit");
		rec = (void *)find(UTRACE_REC_MARKER, target->pid);
		is((uintptr_t)AT_PLACE, rec ? rec->ip : 0, "where the copy is");
		hit(target, PLAIN, 5);
		are_hits(&tracer, target, PLAIN, 5, "hits where it was before");
		have(target, SELF, unmap_all, 0);
		hit(target, PLAIN, 5);
		are_hits(&tracer, target, PLAIN, 5, "when the copy is gone");
		disarm_place(&tracer, PLAIN);
	}
	untrace(&tracer);
}

TEST_HARNESS_MAIN
