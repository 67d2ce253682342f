// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - programs without rights that try to gain some
 *
 * Several tracers are no way to a set-id program, into the sandbox of a first
 * tracer, around the limit of a user, or to a task that never goes on.
 */
#include <linux/capability.h>

#include "setid.h"
#include "../silent.h"

#define ENGINES		"/proc/sys/user/max_utrace_engines"
#define LIMITED		(TWO_NOBODY - 3)	/* user with few engines */
#define RACE_MS		(ut_is_slow() ? 3000 : 1500)

static void *shared(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* A set-id program that ends at once */

struct hunt {
	_Atomic pid_t prey;	/* 0: there is none to attack */
	_Atomic int go;		/* the prey may execute the program */
	_Atomic int idle[2];	/* the attacker has seen that there is none */
	_Atomic long tries;
	_Atomic long let_in;	/* tries that were not refused with EPERM */
};

static struct hunt *hunt;

/* Count a call that has to be refused for want of rights. */
static void must_fail(long ret)
{
	hunt->tries++;
	if (ret >= 0 || errno != EPERM)
		hunt->let_in++;
}

/* Function of a target: the attacker number t->arg. */
static int attacks(struct ut_target *t)
{
	int pidfd;
	pid_t pid;

	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!t->sh->quit) {
		pid = hunt->prey;
		if (!pid) {
			hunt->idle[t->arg] = 1;
			sched_yield();
			continue;
		}
		if (!is_elevated(pid))
			continue;
		/*
		 * The prey keeps that user, and is not reaped before the
		 * attack.
		 */
		must_fail(ptrace(PTRACE_SEIZE, pid, 0, 0));
		must_fail(ptrace(PTRACE_ATTACH, pid, 0, 0));
		pidfd = syscall(SYS_pidfd_open, pid, 0);
		if (pidfd < 0)
			continue;
		must_fail(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
		close(pidfd);
	}
	return 0;
}

static pid_t fork_prey(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	ut_be_child();
	if (!two_become(TWO_NOBODY))
		_exit(97);
	while (!hunt->go)
		sched_yield();
	exec_setid("exit");
}

static bool is_zombie(pid_t pid)
{
	siginfo_t info = {};

	return !waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG) &&
	       info.si_pid == pid;
}

/* One life of the prey, with a tracer that has rights or with none. */
static bool one_life(struct two_tracer *tr)
{
	int status = -1;
	pid_t pid;
	bool good;

	hunt->go = 0;
	pid = fork_prey();
	good = pid > 0 && (!tr || !two_seize(tr, pid, 0));
	hunt->prey = pid;
	hunt->go = 1;
	good = good && (!tr || !two_end_of(tr, pid));
	good = ut_until(is_zombie(pid)) && good;
	hunt->prey = 0;
	hunt->idle[0] = 0;
	hunt->idle[1] = 0;
	good = ut_until(hunt->idle[0] && hunt->idle[1]) && good;
	return ut_waitpid(pid, &status, __WALL) == 1 && good && !status;
}

/*
 * CVE-2026-46333 and similar bugs: an exiting program has no mm, and the check
 * of dumpability, which needs the mm, let other users attach.
 */
TEST_F(tracers, program_that_ends_at_once)
{
	const char *why = setid_why_not();
	struct ut_target other[2] = {};
	int i, lives = 0;
	bool good;
	long end;

	if (why)
		SKIP(return, "%s", why);
	hunt = shared(sizeof(*hunt));
	ASSERT_NE(MAP_FAILED, hunt);
	for (i = 0; i < 2; i++) {
		other[i].arg = i;
		ASSERT_TRUE(ut_spawn(&other[i], attacks));
		ASSERT_TRUE(ut_hear(&other[i]));
	}
	end = ut_now_ms() + RACE_MS;
	do {
		good = one_life(lives & 1 ? &self->p : NULL);
		lives++;
	} while (good && (ut_now_ms() < end || lives < 2));
	EXPECT_TRUE(good);
	for (i = 0; i < 2; i++) {
		other[i].sh->quit = 1;
		ASSERT_TRUE(ut_reap(&other[i], &self->status));
		EXPECT_EQ(0, self->status);
	}
	EXPECT_EQ(0, hunt->let_in);
	EXPECT_LT(0, hunt->tries);
	TH_LOG("%d lives, %ld tries", lives, hunt->tries);
	remove_setid();
}

/* A child that a further tracer follows */

/* The tracers, and what the set-id program of the child returns under them. */
struct follower {
	bool root_first;	/* the first tracer, which does not follow */
	uid_t before;		/* the further tracer at its attach */
	uid_t after;		/* and when the program is executed */
	long status;
	pid_t pid;		/* the task */
};

/* Function of a target: nobody, whose child executes the set-id program. */
static int forks_setid(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int status = -1;
	pid_t pid;

	two_block(SIGCHLD);
	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!sh->go[0] && !sh->quit)
		sh->counter++;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exec_setid("euid");
	}
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}

/* Change to @uid, with @saved as the way back. */
static bool change_to(uid_t uid, uid_t saved)
{
	if (setresuid(uid, uid, saved))
		return false;
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return true;
}

/* Function of a target: the further tracer; 0 if it has seen the child end. */
static int follows(struct ut_target *t)
{
	const struct follower *f = (void *)t->arg;
	bool followed = false;
	int status;
	pid_t pid;

	if (f->before && setresgid(f->before, f->before, f->before))
		return 97;
	if (!change_to(f->before, 0))
		return 97;
	if (ptrace(PTRACE_SEIZE, f->pid, 0, PTRACE_O_TRACEFORK))
		return 95;
	if (!change_to(f->after, f->after))
		return 97;
	ut_say(t);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, 0, 0);
		else if (pid != f->pid)
			followed = true;
	}
	return followed ? 0 : 94;
}

/* The status of the set-id program that the child of a target executes. */
static long followed_status(struct ut_target *t, struct two_tracer *first,
			    struct follower *f)
{
	struct ut_target other = { .arg = (long)f };
	int status = -1;

	if (!ut_spawn(t, forks_setid) || !ut_hear(t) ||
	    two_seize(first, t->pid, 0))
		return -1;
	f->pid = t->pid;
	if (!ut_spawn(&other, follows) || !ut_hear(&other))
		return -2;
	t->sh->go[0] = 1;
	if (two_end_of(first, t->pid) < 0)
		return -3;
	if (!ut_reap(&other, &status) || status)
		return -4;
	return ut_reap(t, &status) ? status : -5;
}

/*
 * The rights of a tracer over a child that it follows are those of its attach,
 * not those that it gained or lost since.
 */
TEST_F(tracers, program_of_a_child)
{
	struct follower followers[] = {
		/* Here the program is elevated, which shows that it can be. */
		{ true, 0, 0, ELEVATED },
		{ true, 0, TWO_NOBODY, ELEVATED },
		{ false, TWO_NOBODY, TWO_NOBODY, PLAIN },
		{ false, TWO_NOBODY, 0, PLAIN },
	};
	const char *why = setid_why_not();
	struct two_tracer nobody = {};
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	for (i = 0; i < ARRAY_SIZE(followers); i++) {
		struct follower *f = &followers[i];
		long status = followed_status(&self->t, f->root_first ?
					      &self->p : &nobody, f);

		EXPECT_EQ(f->status, status) {
			TH_LOG("case %d", i);
		}
		/* The other cases would fail as slowly. */
		if (status < 0)
			break;
	}
	remove_setid();
}

/* Two tasks that seize each other while they execute */

struct duel {
	_Atomic int ready;
	_Atomic int go;
	_Atomic pid_t pid[2];
	_Atomic long seized;
};

static struct duel *duel;

/* The thread ends by the execve() of its process. */
static void *seizes(void *number)
{
	pid_t pid = duel->pid[!(long)number];

	duel->ready++;
	while (!duel->go)
		sched_yield();
	for (;;)
		if (!ptrace(PTRACE_SEIZE, pid, 0, 0))
			duel->seized++;
	return NULL;
}

static pid_t fork_duelist(long number, unsigned int delay_us)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid)
		return pid;
	ut_be_child();
	two_block(SIGCHLD);
	if (!two_become(TWO_NOBODY))
		_exit(97);
	while (!duel->pid[0] || !duel->pid[1])
		sched_yield();
	if (pthread_create(&thread, NULL, seizes, (void *)number))
		_exit(98);
	while (!duel->go)
		sched_yield();
	usleep(delay_us);
	exec_setid("exit");
}

/* One round, with or without a first tracer; both processes must end well. */
static bool one_duel(struct two_tracer *first)
{
	pid_t pid[2];
	bool good;
	int i, status;

	duel->ready = 0;
	duel->go = 0;
	duel->pid[0] = 0;
	duel->pid[1] = 0;
	for (i = 0; i < 2; i++) {
		pid[i] = fork_duelist(i, two_any(2000));
		duel->pid[i] = pid[i];
	}
	good = pid[0] > 0 && pid[1] > 0 && ut_until(duel->ready == 2);
	for (i = 0; first && i < 2; i++)
		good = good && !two_seize(first, pid[i], 0);
	duel->go = 1;
	for (i = 0; first && i < 2; i++)
		good = good && !two_end_of(first, pid[i]);
	for (i = 0; i < 2; i++)
		good = good && ut_waitpid(pid[i], &status, __WALL) == 1 &&
		       !status;
	for (i = 0; !good && i < 2; i++)
		kill(pid[i], SIGKILL);
	return good;
}

/*
 * An attach waits for the execve() of its task, and an execve() waits for the
 * threads of its process, one of which attaches.
 */
TEST_F(tracers, two_that_execute)
{
	const char *why = setid_why_not();
	struct two_tracer nobody = {};
	int duels = 0;
	bool good;
	long end;

	if (why)
		SKIP(return, "%s", why);
	duel = shared(sizeof(*duel));
	ASSERT_NE(MAP_FAILED, duel);
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	end = ut_now_ms() + RACE_MS;
	do {
		good = one_duel(duels & 1 ? &nobody : NULL);
		duels++;
	} while (good && (ut_now_ms() < end || duels < 2));
	EXPECT_TRUE(good) {
		TH_LOG("duel %d does not end", duels);
	}
	EXPECT_LT(0, duel->seized);
	TH_LOG("%d duels, %ld attaches", duels, duel->seized);
	remove_setid();
}

/* The limit of a user */

/* A tracing counts until the tracer has read the end of the task. */
TEST_F(tracers, unread_ends_count)
{
	struct two_tracer first = {}, further = {};
	struct ut_target t[3] = {};
	char limit[16];
	int i;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_LT(0, ut_read_file(limit, sizeof(limit), ENGINES));
	ASSERT_TRUE(two_start_as(&first, LIMITED));
	ASSERT_TRUE(two_start_as(&further, LIMITED));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(actor_spawn_as(&t[i], LIMITED));
		ASSERT_EQ(0, two_seize(&first, t[i].pid, 0));
	}
	ASSERT_EQ(0, ut_write_file(ENGINES, "2"));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, two_seize(&further, t[i].pid, 0));
		EXPECT_EQ(0, kill(t[i].pid, SIGKILL));
		EXPECT_EQ(two_killed(SIGKILL), two_wait(&first, t[i].pid));
		EXPECT_TRUE(ut_reap(&t[i], &self->status));
	}
	EXPECT_EQ(-EUSERS, two_seize(&further, t[2].pid, 0));
	EXPECT_EQ(-EUSERS, two_ptrace(&further, PTRACE_ATTACH, t[2].pid, 0));
	EXPECT_STREQ("", two_tracers(t[2].pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&further, t[0].pid));
	EXPECT_TRUE(ut_until(!two_seize(&further, t[2].pid, 0)));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&further, t[1].pid));
	EXPECT_EQ(0, ut_write_file(ENGINES, limit));
	EXPECT_TRUE(ut_runs(&t[2]));
}

/* A child that is followed needs no room in the limit of the tracer's user. */
TEST_F(tracers, child_beyond_the_limit)
{
	struct two_tracer first = {}, further = {};
	struct ut_target *t = &self->t;
	long child, ret = 0;
	char limit[16];

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_LT(0, ut_read_file(limit, sizeof(limit), ENGINES));
	ASSERT_TRUE(two_start_as(&first, LIMITED));
	ASSERT_TRUE(two_start_as(&further, LIMITED));
	ASSERT_TRUE(actor_spawn_as(t, LIMITED));
	ASSERT_EQ(0, two_seize(&first, t->pid, 0));
	ASSERT_EQ(0, ut_write_file(ENGINES, "1"));
	/* Tracings of an earlier test may still be charged for a while. */
	EXPECT_TRUE(ut_until(!(ret = two_seize(&further, t->pid,
					       PTRACE_O_TRACEFORK)) ||
			     ret != -EUSERS));
	EXPECT_EQ(0, ret);
	actor_do(t, ACTOR_FORKS);
	EXPECT_EQ(two_event(PTRACE_EVENT_FORK), two_wait(&further, t->pid));
	EXPECT_EQ(0, ut_write_file(ENGINES, limit));
	child = two_message(&further, t->pid);
	ASSERT_LT(0, child);
	EXPECT_EQ(further.t.pid, ut_status(child, "TracerPid:"));
	EXPECT_EQ(TWO_TRAP, two_wait(&further, child));
	EXPECT_EQ(0, two_cont(&further, child, 0));
	ASSERT_EQ(0, two_cont(&further, t->pid, 0));
	t->sh->go[1] = 1;
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), two_wait(&further, child));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_EQ(child, t->sh->value[ACTOR_CHILD]);
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), t->sh->value[ACTOR_STATUS]);
	EXPECT_EQ(-ECHILD, two_poll(&further, child));
	EXPECT_TRUE(two_quiet(&further, t->pid));
}

/* Sandboxes */

/* The task itself cannot let a tracer into its sandbox. */
TEST_F(tracers, traceme_in_a_sandbox)
{
	struct two_tracer first = {}, parent = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_parent(&parent, TWO_NOBODY, t, actor));
	ASSERT_TRUE(two_start_as(&first, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&first, t->pid, PTRACE_O_TRACESECCOMP));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&first, t->pid));
	ASSERT_EQ(0, two_ptrace(&first, PTRACE_SETOPTIONS, t->pid, 0));
	ASSERT_EQ(0, two_cont(&first, t->pid, 0));
	EXPECT_EQ(0, two_traceme(t));
	EXPECT_STREQ(two_pair(first.t.pid, parent.t.pid),
		     two_tracers(t->pid));
}

/* Drop CAP_SYS_PTRACE for good, and nothing else. */
static bool drop_sys_ptrace(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return false;
	data[0].effective &= ~(1U << CAP_SYS_PTRACE);
	data[0].permitted &= ~(1U << CAP_SYS_PTRACE);
	data[0].inheritable &= ~(1U << CAP_SYS_PTRACE);
	return !syscall(SYS_capset, &head, data);
}

/*
 * The first tracer, the task and the tracer that is refused have all rights of
 * root but CAP_SYS_PTRACE, which is the one that counts.
 */
TEST_F(tracers, beside_a_suspended_seccomp)
{
	struct two_tracer first = {}, further = {};
	struct ut_target *t = &self->t, other = {};
	long ret;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	/* The processes that the test starts from here on lack the right. */
	ASSERT_TRUE(drop_sys_ptrace());
	ASSERT_TRUE(two_start(&first));
	ASSERT_TRUE(two_start(&further));
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_TRUE(actor_spawn(&other));
	ret = two_seize(&first, t->pid, PTRACE_O_SUSPEND_SECCOMP);
	if (ret == -EINVAL)
		SKIP(return, "no CONFIG_CHECKPOINT_RESTORE");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(-EPERM, two_seize(&further, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&further, PTRACE_ATTACH, t->pid, 0));
	EXPECT_STREQ("", two_tracers(t->pid));
	/* Without the option the further tracer may attach. */
	ASSERT_EQ(0, two_seize(&first, other.pid, 0));
	EXPECT_EQ(0, two_seize(&further, other.pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&first, other.pid));
	EXPECT_EQ(-EPERM, two_ptrace(&first, PTRACE_SETOPTIONS, other.pid,
				     PTRACE_O_SUSPEND_SECCOMP));
	/* With the right it may attach, too. */
	EXPECT_EQ(0, two_seize(&self->p, t->pid, 0));
}

/*
 * Each tracer sets its mark only while the statement of the mark holds, and
 * then reads the mark of the other tracer.  If both marks are set at some time,
 * the tracer that has set its mark last sees both.
 */
struct toggle {
	_Atomic int sandbox;	/* the first tracer has the option */
	_Atomic int traced;	/* the further tracer has attached */
	_Atomic int over;
	_Atomic long overlaps;
	_Atomic long sandboxes;
	_Atomic long visits;
	_Atomic long refused[2];
};

static struct toggle *toggle;

/* Switch the sandbox on and off; false for an error that is unexpected. */
static bool toggles_once(pid_t pid)
{
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP)) {
		toggle->refused[0]++;
		return errno == EPERM;
	}
	toggle->sandbox = 1;
	if (toggle->traced)
		toggle->overlaps++;
	toggle->sandboxes++;
	sched_yield();
	toggle->sandbox = 0;
	return !ptrace(PTRACE_SETOPTIONS, pid, 0, 0);
}

/* Function of a target: the first tracer of the task t->arg. */
static int toggles(struct ut_target *t)
{
	pid_t pid = t->arg;
	int i, status;

	if (!two_become(TWO_NOBODY))
		return 97;
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return 1;
	ut_say(t);
	while (!toggle->over) {
		if (kill(pid, SIGUSR1) ||
		    waitpid(pid, &status, __WALL) != pid ||
		    status != two_stop(SIGUSR1))
			return 2;
		/* In this stop a further tracer can attach, stop and detach. */
		for (i = 0; i < 50; i++)
			if (!toggles_once(pid))
				return 3;
		if (ptrace(PTRACE_CONT, pid, 0, 0))
			return 4;
	}
	return 0;
}

/* Function of a target: a further tracer that attaches and detaches. */
static int visits(struct ut_target *t)
{
	pid_t pid = t->arg;
	int status;

	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!toggle->over) {
		if (ptrace(PTRACE_SEIZE, pid, 0, 0)) {
			toggle->refused[1]++;
			/* Earlier visits are still charged for a while. */
			if (errno == EUSERS)
				usleep(1000);
			else if (errno != EPERM)
				return 1;
			continue;
		}
		toggle->traced = 1;
		if (toggle->sandbox)
			toggle->overlaps++;
		toggle->visits++;
		if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
		    waitpid(pid, &status, __WALL) != pid ||
		    !WIFSTOPPED(status))
			return 2;
		toggle->traced = 0;
		if (ptrace(PTRACE_DETACH, pid, 0, 0))
			return 3;
	}
	return 0;
}

TEST_F(tracers, race_with_a_sandbox)
{
	struct ut_target *t = &self->t, other[2] = {};
	int i;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	toggle = shared(sizeof(*toggle));
	ASSERT_NE(MAP_FAILED, toggle);
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	for (i = 0; i < 2; i++) {
		other[i].arg = t->pid;
		ASSERT_TRUE(ut_spawn(&other[i], i ? visits : toggles));
		ASSERT_TRUE(ut_hear(&other[i]));
	}
	ut_sleep_ms(RACE_MS);
	/* A slow machine takes the time that it needs. */
	EXPECT_TRUE(ut_until(toggle->sandboxes && toggle->visits));
	toggle->over = 1;
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(ut_reap(&other[i], &self->status));
		EXPECT_EQ(0, self->status);
	}
	EXPECT_EQ(0, toggle->overlaps);
	EXPECT_TRUE(ut_runs(t));
	TH_LOG("%ld sandboxes, %ld refused; %ld visits, %ld refused",
	       toggle->sandboxes, toggle->refused[0], toggle->visits,
	       toggle->refused[1]);
}

/* A request that waits */

static bool is_in_ptrace(pid_t pid)
{
	return ut_in_call(pid, SYS_ptrace, 'S') ||
	       ut_in_call(pid, SYS_ptrace, 'D');
}

/*
 * Function of a target: a further tracer of t->arg, whose request never ends;
 * value[0] says whether there is a page for that.
 */
static int asks_into_silence(struct ut_target *t)
{
	void *page = silent_uffd();
	int status;

	t->sh->value[0] = page ? 1 : -1;
	if (page && ptrace(PTRACE_SEIZE, t->arg, 0, 0))
		return 1;
	ut_say(t);
	ut_await(t);
	if (ptrace(PTRACE_INTERRUPT, t->arg, 0, 0) ||
	    waitpid(t->arg, &status, __WALL) != t->arg || status != TWO_TRAP)
		return 2;
	ut_say(t);
	ut_await(t);
	ptrace(PTRACE_GETREGS, t->arg, 0, page);
	return 3;
}

/* SIGKILL ends the wait of the first tracer, and then the request. */
TEST_F(tracers, request_that_waits_for_a_page)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t, other = {};

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	other.arg = t->pid;
	ASSERT_TRUE(ut_spawn(&other, asks_into_silence));
	ASSERT_TRUE(ut_hear(&other));
	if (other.sh->value[0] < 0)
		SKIP(return, "no userfaultfd");
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	ASSERT_TRUE(ut_go(&other));
	ASSERT_TRUE(ut_hear(&other));
	ASSERT_TRUE(ut_go(&other));
	ASSERT_TRUE(ut_until(is_in_ptrace(other.pid)));

	p->call->op = TWO_PTRACE;
	p->call->request = PTRACE_GETREGS;
	p->call->pid = t->pid;
	p->call->addr = 0;
	p->call->size = sizeof(struct user_regs_struct);
	ASSERT_TRUE(ut_go(&p->t));
	ASSERT_TRUE(ut_until(is_in_ptrace(p->t.pid)));
	EXPECT_TRUE(ut_stays(is_in_ptrace(p->t.pid)));
	ASSERT_EQ(0, kill(p->t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&p->t, &self->status));
	EXPECT_EQ(two_killed(SIGKILL), self->status);

	EXPECT_TRUE(is_in_ptrace(other.pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(other.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&other, &self->status));
	EXPECT_EQ(two_killed(SIGKILL), self->status);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
}

TEST_HARNESS_MAIN
