// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - user_events: enabling in one process, and its records
 */
#include "events.h"
#include "../silent.h"

/* Memory that is not there. */
#define NOWHERE		((void *)16)

/* Results of a child of a target: its first load of the word, and its write. */
struct birth {
	_Atomic pid_t pid;
	_Atomic __u64 seen;
	_Atomic long written;
	_Atomic int quit;
};

static struct birth *birth;

/* The set-id program, in a folder of its own. */
static char folder[32], setid[64];

/* A child that looks first, writes the event, and waits for its end. */
static long fork_one(long unused)
{
	pid_t pid = plain_fork();

	if (pid)
		return 0;
	birth->seen = load(WORD, 4);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	birth->written = write_event(0, make_payload(), 8);
	birth->pid = syscall(SYS_getpid);
	while (!birth->quit)
		usleep(1000);
	_exit(load(WORD, 4) ? 1 : 0);
}

/* Write a payload whose last bytes are not mapped. */
static long write_from_nowhere(long missing)
{
	struct iovec iov[] = {
		{ &event[0].index, sizeof(event[0].index) },
		{ make_payload(), 16 },
		{ NOWHERE, missing },
	};

	return writev(data_file(), iov, 3) < 0 ? -errno : 0;
}

/* Write by one piece of memory, with write(2). */
static long write_in_one(long size)
{
	unsigned char bytes[256];
	ssize_t ret;

	memcpy(bytes, &event[0].index, 4);
	memcpy(bytes + 4, make_payload(), size);
	ret = write(data_file(), bytes, 4 + size);
	return ret < 0 ? -errno : ret - 4;
}

static long become_setid(long unused)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", shared_fd);
	execl(setid, "events", "register", number, NULL);
	_exit(93);
}

/* The file that keeps the execve(2) of a target. */
static int kept_by = -1;

static long execute_kept(long unused)
{
	if (silent_read_async(kept_by))
		exec_self("register");
	_exit(92);
}

static void start_here(struct target *target)
{
	birth = mmap(NULL, sizeof(*birth), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(birth != MAP_FAILED, "mmap");
	start_words(target);
}

static __u64 sees(struct target *target)
{
	return look(target, WORD, 4);
}

static long writes(struct target *target, int size)
{
	return have_written(target, SELF, 0, size);
}

/* The event is armed in its target: a write gives a record. */
static void is_delivered(struct tracer *tracer, struct target *target,
			 const char *text)
{
	is(BIT_SET, sees(target), text);
	is(8, writes(target, 8), "  and written");
	is_event(tracer, target->pid, target->pid, 0, 8, "  and recorded");
}

static void is_not_written(struct target *target, const char *text)
{
	is(0, sees(target), text);
	is(-EBADF, writes(target, 8), "  and not written");
}

TEST_F(traced, registered_before)
{
	struct target target, other;
	struct tracer tracer;

	start_here(&other);
	have_word(&other, 0);
	start_here(&target);
	have_word(&target, 0);
	is_not_written(&target, "nothing is armed");
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "armed");
	is_not_written(&other, "not in another process");
	disarm_event(tracer.session, 0);
	is_not_written(&target, "disarmed");
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "armed again");
	untrace(&tracer);
	is_not_written(&target, "closed");
	stop(&target);
	stop(&other);
}

/* The event does not even exist when it is armed. */
TEST_F(traced, registered_later)
{
	struct target target, other;
	struct tracer tracer;

	start_here(&target);
	start_here(&other);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	is(0, sees(&target), "no word yet");
	have_word(&target, 0);
	is(BIT_SET, shared->seen, "the bit is there when REG returns");
	is_delivered(&tracer, &target, "as it stays");
	have_word(&other, 0);
	is(0, shared->seen, "not in another process");
	is_not_written(&other, "as it stays");
	have_registered(&target, 1, WORD, 4, 3);
	is(BIT_SET, sees(&target), "nor for another event");
	disarm_event(tracer.session, 0);
	is_not_written(&target, "disarmed");
	untrace(&tracer);
	stop(&other);
	stop(&target);
}

TEST_F(traced, several_words)
{
	struct target target;
	struct tracer tracer;
	int on;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	have_registered(&target, 0, WORD + 8, 8, 63);
	have_registered(&target, 0, WORD + 8, 8, 0);
	have_registered(&target, 0, area + 8 * PAGE, 4, 5);
	for (on = 1; on >= 0; on--) {
		is(on ? BIT_SET : 0, sees(&target), "a word of 32 bits");
		is(on ? 1ULL << 63 | 1 : 0, look(&target, WORD + 8, 8),
		   "two bits of 64");
		is(on ? 32 : 0, look(&target, area + 8 * PAGE, 4),
		   "in another page");
		if (on)
			disarm_event(tracer.session, 0);
	}
	untrace(&tracer);
	stop(&target);
}

TEST_F(traced, list)
{
	struct utrace_armed row;
	struct target target;
	struct tracer tracer;

	start_here(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	is(0, words_total(tracer.session), "no word yet");
	have_word(&target, 0);
	have_registered(&target, 0, WORD + 8, 8, 40);
	is(2, words_total(tracer.session), "two words");
	need(find_word(tracer.session, target.pid, WORD, &row), "a word");
	is(UTRACE_WORD_BIT32, row.kind, "its kind");
	is(BIT, row.bit, "its bit");
	is(UTRACE_ARM_STATE_ARMED, row.state, "its state");
	is(0, row.error, "its error");
	need(find_word(tracer.session, target.pid, WORD + 8, &row), "another one");
	is(UTRACE_WORD_BIT64, row.kind, "its kind");
	is(40, row.bit, "its bit");
	have_unregistered(&target, WORD, 4, BIT);
	sees(&target);
	is(1, words_total(tracer.session), "one is unregistered");
	disarm_event(tracer.session, 0);
	sees(&target);
	is(0, words_total(tracer.session), "no word");
	untrace(&tracer);
	stop(&target);
}

/* While the process is stopped; see events_pending.c, too. */
TEST_F(traced, stopped)
{
	struct target target;
	struct tracer tracer;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	freeze(target.pid);
	arm_event(tracer.session, 0, 0);
	is(UTRACE_ARM_STATE_ARMED, word_state(tracer.session, target.pid, WORD), "armed");
	is(BIT_SET, read_word(target.pid, WORD, 4), "  at once");
	thaw(target.pid);
	is_delivered(&tracer, &target, "armed while stopped");
	freeze(target.pid);
	disarm_event(tracer.session, 0);
	is(0, read_word(target.pid, WORD, 4), "taken back at once");
	thaw(target.pid);
	is_not_written(&target, "disarmed while stopped");
	untrace(&tracer);
	stop(&target);
}

TEST_F(traced, payloads)
{
	static const int sizes[] = {
		0, 1, 7, 8, 9, 63, 500, 1016, 1023, 1024, 1025, 4096, 6000,
	};
	struct target target;
	struct tracer tracer;
	size_t i;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		is(sizes[i], writes(&target, sizes[i]), "writev(2)");
		is_event(&tracer, target.pid, target.pid, 0, sizes[i],
			 "  a record");
	}
	is(100, have(&target, SELF, write_in_one, 100), "write(2)");
	is_event(&tracer, target.pid, target.pid, 0, 100, "  a record");
	is(-EFAULT, have(&target, SELF, write_from_nowhere, 100),
	   "a payload that is partly not there");
	is(-EFAULT, have(&target, SELF, write_from_nowhere, 2000),
	   "also behind what is copied");
	are_none(&tracer, "  no record");
	is(ARRAY_SIZE(sizes) + 1, info(tracer.session).records, "all records");
	untrace(&tracer);
	stop(&target);
}

/* Records of several events are in the order in which each task has written them. */
TEST_F(traced, order)
{
	int next[] = { 0, 2 };
	struct utrace_rec *rec;
	struct target target;
	struct tracer tracer;
	int i, good = 0;

	start_here(&target);
	have_word(&target, 0);
	have_registered(&target, 1, WORD + 4, 4, BIT);
	have_more(&target, THREAD);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	arm_event(tracer.session, 1, 0);
	for (i = 0; i < 40; i++)
		have_written(&target, i % 4 < 2 ? SELF : THREAD, i % 2, i);
	is(40, gather(&tracer, 40), "records");
	for_each_record(rec) {
		bool thread = rec->tid == target.tid[THREAD];

		i = next[thread];
		good += is_good(&tracer, (void *)rec, target.pid,
				target.tid[thread ? THREAD : SELF], i % 2, i);
		next[thread] += i % 2 ? 3 : 1;
	}
	is(40, good, "as they were written");
	untrace(&tracer);
	stop(&target);
}

TEST_F(traced, counts)
{
	struct utrace_hit_count counts[EVENTS] = {};
	struct target target;
	struct tracer tracer;
	int i, j;

	start_here(&target);
	for (i = 0; i < EVENTS; i++)
		have_registered(&target, i, WORD, 4, i);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	for (i = EVENTS - 1; i >= 0; i--)
		arm_event(tracer.session, i, i == 1 ? UTRACE_ARM_F_COUNT : 0);
	for (i = 0; i < EVENTS; i++)
		for (j = 0; j <= i; j++)
			is(8, have_written(&target, SELF, i, 8), "a write");
	is(EVENTS, counts_of(tracer.session, counts, EVENTS), "counts");
	for (i = 0; i < EVENTS; i++) {
		is(COOKIE(EVENTS - 1 - i), counts[i].cookie, "in the order of arming");
		is(*event_id(tracer.session, EVENTS - 1 - i), counts[i].id,
		   "  by its id");
		is(EVENTS - i, counts[i].hits, "  so many writes");
	}
	is(4, gather(&tracer, 4), "one event is only counted");
	disarm_event(tracer.session, 1);
	is(EVENTS - 1, counts_of(tracer.session, counts, EVENTS), "one is disarmed");
	untrace(&tracer);
	stop(&target);
}

/* The bit of an event is set even if the event is only counted. */
TEST_F(traced, only_counted)
{
	struct utrace_hit_count counts[1] = {};
	struct target target;
	struct tracer tracer;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, UTRACE_ARM_F_COUNT);
	is(BIT_SET, sees(&target), "armed");
	is(8, writes(&target, 8), "and written");
	is(1, counts_of(tracer.session, counts, 1), "a count");
	is(1, counts[0].hits, "of one write");
	are_none(&tracer, "and no record");
	untrace(&tracer);
	is_not_written(&target, "closed");
	stop(&target);
}

static void check_fork(__u32 scope)
{
	bool kept = scope == UTRACE_SCOPE_TREE;
	struct utrace_armed row;
	struct target target;
	struct tracer tracer;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, scope);
	arm_event(tracer.session, 0, 0);
	have(&target, SELF, fork_one, 0);
	need(until(birth->pid), "a child");
	is(kept ? BIT_SET : 0, birth->seen, "the first look of the child");
	is(kept ? 8 : -EBADF, birth->written, "its write");
	if (kept)
		is_event(&tracer, birth->pid, birth->pid, 0, 8, "  a record");
	else
		are_none(&tracer, "  no record");
	is(kept, find_word(tracer.session, birth->pid, WORD, &row),
	   "its word in the list");
	is_delivered(&tracer, &target, "the parent");
	untrace(&tracer);
	birth->quit = 1;
	is(0, have(&target, SELF, reap, 0), "the child has no bit in the end");
	is_not_written(&target, "nor has the parent");
	stop(&target);
}

TEST_F(traced, fork_starts_without)
{
	check_fork(UTRACE_SCOPE_PROCESS);
}

TEST_F(traced, fork_keeps)
{
	check_fork(UTRACE_SCOPE_TREE);
}

/* The scope is a process: its child keeps the bit only for ftrace. */
TEST_F(traced, fork_with_ftrace)
{
	struct target target;
	struct tracer tracer;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	enable(0, true);
	have(&target, SELF, fork_one, 0);
	need(until(birth->pid), "a child");
	is(BIT_SET, birth->seen, "the child has the bit");
	is(8, birth->written, "and its write works");
	are_none(&tracer, "but makes no record");
	enable(0, false);
	birth->quit = 1;
	is(0, have(&target, SELF, reap, 0), "disabled in the child");
	is_delivered(&tracer, &target, "and still armed in the parent");
	untrace(&tracer);
	stop(&target);
}

/* A child that registers by itself, under a tracer of the tree. */
TEST_F(traced, child_registers)
{
	struct target target;
	struct tracer tracer;

	start_here(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_TREE);
	arm_event(tracer.session, 0, 0);
	have_more(&target, CHILD);
	is(0, order_event(&target, CHILD, register_ordered, 0, WORD, 4, BIT),
	   "the child registers");
	is(BIT_SET, shared->seen, "the bit is there when REG returns");
	is(8, have_written(&target, CHILD, 0, 8), "it writes");
	is_event(&tracer, target.tid[CHILD], target.tid[CHILD], 0, 8,
		 "  a record");
	is(0, sees(&target), "the parent has no word");
	untrace(&tracer);
	is(0, look_as(&target, CHILD, WORD, 4), "closed");
	stop(&target);
}

TEST_F(traced, several_sessions)
{
	struct tracer tracer[3];
	struct target target;
	int i;

	start_here(&target);
	have_word(&target, 0);
	for (i = 0; i < 3; i++) {
		trace(&tracer[i], target.pid, i == 1 ? UTRACE_SCOPE_TREE :
		      UTRACE_SCOPE_PROCESS);
		arm_event(tracer[i].session, 0, 0);
	}
	enable(0, true);
	is(BIT_SET, sees(&target), "three tracers and ftrace");
	is(9, writes(&target, 9), "a write");
	for (i = 0; i < 3; i++)
		is_event(&tracer[i], target.pid, target.pid, 0, 9, "a record");
	disarm_event(tracer[0].session, 0);
	enable(0, false);
	is(BIT_SET, sees(&target), "two tracers");
	is(10, writes(&target, 10), "a write");
	are_none(&tracer[0], "no record");
	for (i = 1; i < 3; i++)
		is_event(&tracer[i], target.pid, target.pid, 0, 10, "a record");
	untrace(&tracer[1]);
	is_delivered(&tracer[2], &target, "one tracer");
	enable(0, true);
	untrace(&tracer[2]);
	is(BIT_SET, sees(&target), "only ftrace");
	is(8, writes(&target, 8), "a write");
	enable(0, false);
	is_not_written(&target, "nobody");
	untrace(&tracer[0]);
	stop(&target);
}

/* A word that the program unregisters is no longer written by the kernel. */
TEST_F(traced, unregistered)
{
	struct target target;
	struct tracer tracer;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	have_unregistered(&target, WORD, 4, BIT);
	is(0, shared->seen, "the bit is taken back when UNREG returns");
	is(0, words_total(tracer.session), "the list is empty");
	put(&target, WORD, 4, 5);
	is(5, sees(&target), "the word is the program's");
	have_word(&target, 0);
	is(BIT_SET | 5, shared->seen, "registered again");
	is(8, writes(&target, 8), "and written");
	is_event(&tracer, target.pid, target.pid, 0, 8, "and recorded");
	untrace(&tracer);
	is(5, sees(&target), "closed");
	stop(&target);
}

/* The program that was executed registers its word, and writes the event. */
static int be_registering(void)
{
	int left = 4 * DEADLINE_MS;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(event[0].name, sizeof(event[0].name), "%s", getenv("EVENT"));
	shared->number[1] = load(WORD, 4);
	shared->result = register_word(0, WORD, 4, BIT);
	shared->seen = load(WORD, 4);
	shared->number[2] = write_event(0, make_payload(), 8);
	shared->number[0] = 1;
	for (; !shared->quit && left; left--)
		usleep(1000);
	return load(WORD, 4) ? 1 : 0;
}

/* The target executes another program, which registers the event and writes it. */
static void check_other_program(struct target *target, struct tracer *tracer)
{
	need(until(shared->number[0]), "another program");
	is(0, shared->number[1], "it starts without the word");
	is(0, shared->result, "it registers one");
	is(BIT_SET, shared->seen, "which has the bit");
	is(8, shared->number[2], "and writes");
	is_event(tracer, target->pid, target->pid, 0, 8, "  a record");
}

TEST_F(traced, exec)
{
	struct target target;
	struct tracer tracer;

	setenv("EVENT", event[0].name, 1);
	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	tell(&target, SELF, become_program, (long)"register");
	check_other_program(&target, &tracer);
	is(1, words_total(tracer.session), "its word is in the list");
	untrace(&tracer);
	stop(&target);
}

static int arm_first(void *fd)
{
	arm_event(*(int *)fd, 0, 0);
	return 0;
}

/* The event is armed while a FUSE server keeps the execve(2). */
TEST_F(traced, armed_while_executed)
{
	struct target target;
	struct tracer tracer;

	kept_by = silent_file();
	if (kept_by < 0)
		SKIP(return, "no files of FUSE (FUSE_FS): %s", strerror(errno));
	setenv("EVENT", event[0].name, 1);
	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	tell(&target, SELF, execute_kept, 0);
	need(until(silent_keeps(target.pid)), "a process in execve(2)");
	is(0, in_child_for(arm_first, &tracer.session, SOON), "ARM does not wait");
	holds(silent_keeps(target.pid), "the process is in execve(2) still");
	silent_end();
	check_other_program(&target, &tracer);
	untrace(&tracer);
	stop(&target);
}

static int disarm_first(void *fd)
{
	disarm_event(*(int *)fd, 0);
	return 0;
}

/* The event is disarmed during execve(2): the new program has it disabled. */
TEST_F(traced, disarmed_while_executed)
{
	struct target target;
	struct tracer tracer;

	kept_by = silent_file();
	if (kept_by < 0)
		SKIP(return, "no files of FUSE (FUSE_FS): %s", strerror(errno));
	setenv("EVENT", event[0].name, 1);
	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "armed");
	tell(&target, SELF, execute_kept, 0);
	need(until(silent_keeps(target.pid)), "a process in execve(2)");
	is(0, in_child_for(disarm_first, &tracer.session, SOON), "DISARM does not wait");
	holds(silent_keeps(target.pid), "the process is in execve(2) still");
	silent_end();
	need(until(shared->number[0]), "another program");
	is(0, shared->result, "it registers a word");
	is(0, shared->seen, "which has no bit");
	is(-EBADF, shared->number[2], "and is not written");
	are_none(&tracer, "  no record");
	untrace(&tracer);
	stop(&target);
}

/* DETACH takes the events of a target back, and not those of another one. */
TEST_F(traced, detached)
{
	struct utrace_user_event spec = { .name = (uintptr_t)event[0].name };
	struct utrace_ioc_arm arg = arm_of(&spec);
	struct target target;
	struct tracer tracer;
	int other;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	other = attach(tracer.session, target.pid, UTRACE_SCOPE_TREE);
	need(other > 0, "a second target");
	arm_event(tracer.session, 0, 0);
	arg.target = other;
	is(0, command(tracer.session, UTRACE_IOC_ARM, &arg), "the other target");
	holds(arg.id != *event_id(tracer.session, 0), "has an id of its own");
	is(8, writes(&target, 8), "a write");
	is(2, gather(&tracer, 2), "  is recorded for both");
	is(0, detach(tracer.session, tracer.target), "DETACH");
	is(-ENOENT, try_disarm_event(tracer.session, 0), "DISARM of its event");
	is(-ENOENT, try_arm_event(tracer.session, 0, 0), "  and ARM");
	is(8, writes(&target, 8), "a write");
	is(1, gather(&tracer, 1), "  is recorded for the other one");
	is(0, detach(tracer.session, other), "DETACH of the other one");
	is_not_written(&target, "nobody");
	untrace(&tracer);
	stop(&target);
}

static int try_arm(int fd, const char *name, __u32 flags)
{
	__u32 id;

	return try_arm_name(fd, name, 1, flags, &id);
}

/* ARM with one thing changed is refused. */
#define REFUSED(error, text, ...)					\
({									\
	struct utrace_user_event spec = {				\
		.name = (uintptr_t)event[0].name,			\
	};								\
	struct utrace_ioc_arm arg = arm_of(&spec);			\
									\
	__VA_ARGS__;							\
	is(-(error), command(tracer.session, UTRACE_IOC_ARM, &arg), text);	\
})

TEST_F(traced, errors)
{
	struct { struct utrace_user_event spec; __u64 more; } longer = {
		.spec.name = (uintptr_t)event[0].name,
	};
	char name[600] = {};
	struct target target;
	struct tracer tracer;
	__u32 id;
	int flag;

	start_here(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	is(-EFAULT, try_arm(tracer.session, NOWHERE, 0), "no name");
	REFUSED(EFAULT, "no structure", arg.spec = (uintptr_t)NOWHERE);
	is(-EINVAL, try_arm(tracer.session, "", 0), "an empty name");
	memset(name, 'a', 512);
	is(-EINVAL, try_arm(tracer.session, name, 0), "a name of 512 bytes");
	name[511] = '\0';
	is(0, try_arm_name(tracer.session, name, 7, 0, &id), "a name of 511 bytes");
	is(0, disarm_id(tracer.session, id), "disarmed");
	for (flag = 0; flag < 32; flag++)
		if (1U << flag != UTRACE_ARM_F_COUNT &&
		    try_arm(tracer.session, "a", 1U << flag) != -EINVAL)
			break;
	is(32, flag, "no other flag of ARM is known");
	for (flag = 0; flag < 32; flag++)
		REFUSED(EINVAL, "nor a flag of user_events", spec.flags = 1U << flag);
	REFUSED(EINVAL, "reserved is not 0", spec.reserved = 1);
	REFUSED(EINVAL, "reserved of ARM is not 0", arg.reserved = 1);
	REFUSED(EINVAL, "no size", arg.spec_size = 0);
	REFUSED(EINVAL, "a structure that is too short",
		arg.spec_size = UTRACE_USER_EVENT_SIZE_VER0 - 8);
	REFUSED(E2BIG, "more than 4096 bytes", arg.spec_size = 4104);
	REFUSED(ENOENT, "an unknown target", arg.target = 77);
	is(-ENOENT, try_disarm_event(tracer.session, 0), "not armed");
	longer.more = 1;
	REFUSED(E2BIG, "a member that the kernel lacks",
		arg.spec = (uintptr_t)&longer; arg.spec_size = sizeof(longer));
	longer.more = 0;
	REFUSED(0, "the same member as 0",
		arg.spec = (uintptr_t)&longer; arg.spec_size = sizeof(longer);
		arg.cookie = COOKIE(0));
	REFUSED(EEXIST, "armed already", arg.cookie = 1);
	REFUSED(EEXIST, "  with another flag", arg.flags = UTRACE_ARM_F_COUNT);
	untrace(&tracer);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	disarm_event(tracer.session, 0);
	is(-ENOENT, try_disarm_event(tracer.session, 0), "disarmed");
	stop(&target);
	holds(until(poll_words(tracer.session, 0) & POLLHUP), "the end");
	REFUSED(ESRCH, "no process", arg.cookie = 1);
	untrace(&tracer);
}

/* A thread and an executable have no user_events; for the system see sites_everywhere.c. */
TEST_F(traced, other_scopes)
{
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ret;
	struct target target;
	struct tracer tracer;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_THREAD);
	is(-EOPNOTSUPP, try_arm_event(tracer.session, 0, 0), "a thread");
	need(exe >= 0, "/proc/self/exe");
	ret = attach_fd(tracer.session, exe, UTRACE_SCOPE_EXE);
	need(ret > 0, "attach to an executable");
	REFUSED(EOPNOTSUPP, "an executable", arg.target = ret);
	close(exe);
	is_not_written(&target, "nothing is armed");
	untrace(&tracer);
	stop(&target);
}

/* ARM whose argument is in memory that can only be read arms nothing. */
TEST_F(traced, read_only_argument)
{
	struct utrace_user_event spec = { .name = (uintptr_t)event[0].name };
	struct utrace_ioc_arm *arg;
	struct target target;
	struct tracer tracer;

	arg = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	need(arg != MAP_FAILED, "memory");
	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	*arg = arm_of(&spec);
	need(!mprotect(arg, PAGE, PROT_READ), "mprotect");
	is(-EFAULT, command(tracer.session, UTRACE_IOC_ARM, arg), "ARM");
	is_not_written(&target, "nothing is armed");
	is(0, counts_of(tracer.session, NULL, 0), "nor counted");
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "armed");
	untrace(&tracer);
	munmap(arg, PAGE);
	stop(&target);
}

/* Ids of an event and a marker of one target: DISARM of one leaves the other. */
TEST_F(traced, marker_beside_an_event)
{
	struct utrace_marker site = {};
	struct utrace_ioc_arm arg = {
		.target = WORD_TARGET,
		.type = UTRACE_ARM_MARKER,
		.spec = (uintptr_t)&site,
		.spec_size = sizeof(site),
	};
	struct target target;
	struct tracer tracer;
	int ret;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	site.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	site.offset = 1;	/* in the ELF header, which nobody executes */
	need(site.fd >= 0, "/proc/self/exe");
	ret = command(tracer.session, UTRACE_IOC_ARM, &arg);
	close(site.fd);
	if (!ret) {
		is(2, counts_of(tracer.session, NULL, 0), "a marker and an event");
		holds(arg.id != *event_id(tracer.session, 0), "with two ids");
		is(0, disarm_id(tracer.session, arg.id), "DISARM of the marker");
		is(-ENOENT, disarm_id(tracer.session, arg.id), "  a second time");
	} else {
		holds(ret == -EOPNOTSUPP || ret == -EBUSY || ret == -EFAULT,
		      "no marker there: %d", ret);
	}
	is(1, counts_of(tracer.session, NULL, 0), "the event stays");
	is_delivered(&tracer, &target, "and is written");
	untrace(&tracer);
	stop(&target);
}

TEST_F(traced, many_events)
{
	struct target target;
	struct tracer tracer;
	__u32 id, ids[2000];
	char name[64];
	int i, ret = 0;

	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < 2000 && !ret; i++) {
		snprintf(name, sizeof(name), "ut_of_many_%d", i);
		ret = try_arm_name(tracer.session, name, i, 0, &ids[i]);
	}
	is(-ENOSPC, ret, "no room for more");
	is(1024, i - 1, "events");
	ret = try_arm_name(tracer.session, event[0].name, 0, 0, &id);
	is(-ENOSPC, ret, "nor for one that is registered");
	is(0, sees(&target), "which is not armed");
	is(0, disarm_id(tracer.session, ids[500]), "one is disarmed");
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "another one takes its place");
	untrace(&tracer);
	stop(&target);
}

/* A user's process that this user may not trace for a while. */
static int arm_hidden(void *by)
{
	const enum hiding hiding = *(enum hiding *)by;
	struct target target;
	struct tracer tracer;
	int ret;

	become_nobody();
	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "a process that may be traced");
	set_hidden(&target, hiding, true);
	/* The bit stays until something else in the memory changes. */
	is(8, writes(&target, 8), "a write when it may not");
	are_none(&tracer, "makes no record");
	ret = try_arm_event(tracer.session, 1, 0);
	is(-EPERM, ret, "ARM");
	have_registered(&target, 0, WORD + 8, 8, 40);
	is(0, shared->seen, "what it registers gets no bit");
	set_hidden(&target, hiding, false);
	have_registered(&target, 0, WORD + 16, 8, 40);
	is(1ULL << 40, shared->seen, "what it registers later gets a bit");
	is(1ULL << 40, look(&target, WORD + 8, 8), "and so does what it has registered before");
	is_delivered(&tracer, &target, "it may be traced again");
	untrace(&tracer);
	stop(&target);
	return dev_test->exit_code;
}

/* Call @function as a user who may use the device and user_events. */
static void as_nobody(int (*function)(void *arg), void *arg)
{
	need(!chmod(TRACING, 0755) && !chmod(TRACING "/user_events_data", 0666),
	     "tracefs");
	allow_users();
	is(0, in_child_with_sysctls(function, arg), "a user without privileges");
	set_unprivileged("0");
	chmod(TRACING "/user_events_data", 0640);
	chmod(TRACING, 0700);
}

TEST_F(traced, process_that_is_hidden)
{
	enum hiding by = BY_DUMPABLE;

	as_nobody(arm_hidden, &by);
}

TEST_F(traced, unprivileged_is_0)
{
	enum hiding by = BY_SYSCTL;

	as_nobody(arm_hidden, &by);
}

/* The set-id program registers a word, and writes. */
static int arm_setid(void *arg)
{
	struct target target;
	struct tracer tracer;

	become_nobody();
	start_here(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_TREE);
	arm_event(tracer.session, 0, 0);
	is_delivered(&tracer, &target, "before execve(2)");
	tell(&target, SELF, become_setid, 0);
	need(until(shared->number[0]), "the set-id program");
	is(0, shared->number[1], "it starts without the word");
	is(0, shared->result, "it registers one");
	is(0, shared->seen, "which has no bit");
	is(-EBADF, shared->number[2], "and is not written");
	are_none(&tracer, "no record");
	untrace(&tracer);
	shared->quit = 1;
	is(0, status_of(target.pid), "the program has no bit in the end");
	return dev_test->exit_code;
}

static void copy_program(void)
{
	static char bytes[1 << 16];
	int from, to;
	ssize_t n;

	snprintf(folder, sizeof(folder), "/tmp/utrace-events.XXXXXX");
	need(mkdtemp(folder) && !chmod(folder, 0755), folder);
	snprintf(setid, sizeof(setid), "%s/setid", folder);
	from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	to = open(setid, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	need(from >= 0 && to >= 0, setid);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		need(write(to, bytes, n) == n, setid);
	need(!n && !fchmod(to, 04755), setid);
	close(from);
	close(to);
}

TEST_F(traced, setid_program)
{
	copy_program();
	setenv("EVENT", event[0].name, 1);
	as_nobody(arm_setid, NULL);
	unlink(setid);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "register")) {
		share_again(argv[2]);
		return be_registering();
	}
	return test_harness_run(argc, argv);
}
