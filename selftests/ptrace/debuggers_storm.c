// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - strace and gdb on processes that signals stop and kill
 *
 * Two strace -f and one gdb attach to each victim.  A victim forks, vforks and
 * executes, and its threads end, execute and exit.  Signals stop, continue and
 * kill the processes of a victim, and kill debuggers, at random times.
 *
 * All of them are in a new pid namespace, whose init starts them.  Each process
 * must end when it is killed, and each debugger when its victim is dead.  In the
 * end init kills all processes, reaps them and exits.  The exit does not end
 * before each number of the namespace has been freed once.
 *
 * DURATION in the environment is the number of seconds, else 60.  The storm is
 * longer if by then a debugger has not attached, or an action of the victims has
 * not been done: gdb needs many seconds to start on an emulated CPU.  SEED begins
 * the random numbers.
 *
 * scripts/guest looks for complaints in the kernel log.
 */
#include <dirent.h>
#include <sys/mount.h>

#include "exec_thread.h"

#define STRACE		"/usr/bin/strace"
#define GDB		"/usr/bin/gdb"

#define VICTIMS		2
#define CODE		7		/* exit code of what ends by itself */
#define TICK_MS		10
#define NEVER		LONG_MAX

/* The longest life of a victim, and how much of that comes after gdb. */
#define LIFE_MS		UT_DEADLINE_MS
#define LINGER_MS	(4000 * ut_patience())

/*
 * The time to end for a process that is killed, and for a debugger whose victim
 * is dead.  A gdb that has just begun must finish its start first.
 */
#define LATE_MS		(2 * UT_DEADLINE_MS)

/* How much longer than DURATION the storm may be. */
#define MORE_MS		(4 * UT_DEADLINE_MS)

/* The processes that init starts for one victim. */
enum { IS_VICTIM, IS_STRACE, IS_SECOND_STRACE, IS_GDB, KINDS };

#define DEBUGGERS	(KINDS - 1)

/* What a victim does, mostly in a child. */
enum action {
	FORKS, VFORKS, VFORKS_AND_EXECUTES, MAKES_THREAD, THREAD_EXITS,
	THREAD_EXECUTES, THREAD_FAILS, ACTIONS
};

struct process {
	pid_t pid;		/* 0: none */
	long begin_at;		/* no start before; times are ut_now_ms() */
	long kill_at;
	long late_at;		/* it must have ended by then */
	bool attached;		/* this debugger was counted in ->attached[] */
	bool killed;		/* by init */
};

/* Memory that all processes share. */
struct storm {
	_Atomic int quit[VICTIMS];	/* the victim is to end by itself */
	_Atomic int traps[VICTIMS];	/* a gdb was killed in this life */
	_Atomic pid_t child[VICTIMS];	/* the newest one of a victim */
	_Atomic long rounds[VICTIMS];	/* actions of a victim */
	_Atomic long did[ACTIONS];	/* actions with the right end */
	_Atomic long wrong;		/* actions with another end */
	_Atomic long lives[KINDS];	/* processes that have ended */
	_Atomic long attached[KINDS];
	_Atomic long most;		/* debuggers of a victim at a time */
	_Atomic long killed;		/* debuggers, by init */
	_Atomic long crashed;		/* processes of init with another end */
	_Atomic long late;		/* processes that have not ended */
	_Atomic int no_proc;		/* errno of the mount */
	_Atomic bool empty;		/* init has no children left */
};

static struct storm *sh;
static struct process all[VICTIMS][KINDS];

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 0) : otherwise;
}

static long storm_seconds(void)
{
	return setting("DURATION", 60);
}

/* Victims */

static void execute(int file)
{
	char * const argv[] = { (char *)"helper", (char *)"exit",
				(char *)"7", NULL };
	char * const envp[] = { NULL };

	execve(files[file], argv, envp);
	_exit(99);
}

static void *thread_main(void *arg)
{
	switch ((long)arg) {
	case THREAD_EXITS:
		_exit(CODE);
	case THREAD_EXECUTES:
		execute(GOOD_FILE);
		break;
	case THREAD_FAILS:
		/* The end is SIGSEGV, after de_thread(). */
		execute(BAD_FILE);
		break;
	}
	return NULL;
}

/* Leave the end of this process to another thread than the leader. */
static void end_by_thread(enum action how)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main, (void *)(long)how))
		_exit(98);
	for (;;)
		pause();
}

static void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main,
			   (void *)(long)MAKES_THREAD) ||
	    pthread_join(thread, NULL))
		sh->wrong++;
	else
		sh->did[MAKES_THREAD]++;
}

/* A vfork() shares the stack, so the child must not return from here. */
static pid_t make_child(int v, enum action how)
{
	pid_t pid = how == VFORKS || how == VFORKS_AND_EXECUTES ? vfork() :
								  fork();

	if (pid)
		return pid;
	sh->child[v] = getpid();
	if (how == VFORKS_AND_EXECUTES)
		execute(GOOD_FILE);
	if (how > MAKES_THREAD)
		end_by_thread(how);
	_exit(CODE);
}

/*
 * Check whether the end of a child is due to init's kills.  A gdb that is
 * killed leaves its breakpoints in the victim, and the children inherit them.
 */
static bool is_by_init(int v, int status)
{
	return status == two_killed(SIGKILL) ||
	       (status == two_killed(SIGTRAP) && sh->traps[v]);
}

static void do_in_child(int v, enum action how)
{
	int right = how == THREAD_FAILS ? two_killed(SIGSEGV) : two_exit(CODE);
	pid_t pid = make_child(v, how);
	int status = -1;

	if (pid < 0)
		return;
	/* Without the bit of a core dump. */
	if (waitpid(pid, &status, 0) == pid && (status & ~0x80) == right) {
		sh->did[how]++;
	} else if (!is_by_init(v, status)) {
		printf("# action %d: status %#x\n", how, status);
		fflush(stdout);
		sh->wrong++;
	}
}

static void be_victim(int v)
{
	enum action how;

	while (!sh->quit[v]) {
		how = two_any(ACTIONS);
		if (how == MAKES_THREAD)
			make_thread();
		else
			do_in_child(v, how);
		sh->rounds[v]++;
	}
	end_by_thread(THREAD_EXITS + two_any(ACTIONS - THREAD_EXITS));
}

/* Debuggers */

static void be_debugger(int kind, pid_t victim)
{
	int null = open("/dev/null", O_RDWR);
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", victim);
	if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(97);
	if (kind != IS_GDB)
		execl(STRACE, "strace", "-f", "-o", "/dev/null", "-p", pid,
		      NULL);
	else
		execl(GDB, "gdb", "-q", "-nx", "-nh", "-batch",
		      "-iex", "set pagination off", "-iex", "set confirm off",
		      "-p", pid, "-ex", "handle all nostop noprint pass",
		      "-ex", "info threads", "-ex", "stepi 20",
		      "-ex", two_any(3) ? "continue" : "detach", NULL);
	_exit(99);
}

/* Check whether the debugger traces @pid.  @list: all tracers, if several. */
static bool is_tracer(pid_t debugger, pid_t pid, const char *list)
{
	char *end;
	long n;

	if (!debugger)
		return false;
	if (!*list)
		return ut_status(pid, "TracerPid:") == debugger;
	while ((n = strtol(list, &end, 10)), end != list) {
		if (n == debugger)
			return true;
		list = end;
	}
	return false;
}

/* Count the debuggers that have attached to the victim. */
static void count_tracers(struct process *set, long now)
{
	struct process *victim = &set[IS_VICTIM];
	const char *list = two_tracers(victim->pid);
	int kind, n = 0;

	for (kind = IS_STRACE; kind < KINDS; kind++) {
		if (!is_tracer(set[kind].pid, victim->pid, list))
			continue;
		n++;
		if (set[kind].attached)
			continue;
		set[kind].attached = true;
		sh->attached[kind]++;
		/* gdb is the slowest debugger to start. */
		if (kind == IS_GDB && victim->kill_at > now + LINGER_MS)
			victim->kill_at = now + two_any(LINGER_MS);
	}
	if (n > sh->most)
		sh->most = n;
}

/* Init */

/*
 * One half of the victims is killed at a random time, the other half some time
 * after gdb has attached.  One half of the debuggers is killed at a random time,
 * the other half never.
 */
static void start_process(int v, int kind, long now)
{
	struct process *p = &all[v][kind];

	*p = (struct process){ .late_at = NEVER };
	p->kill_at = now + two_any(LIFE_MS);
	if (two_any(2))
		p->kill_at = kind == IS_VICTIM ? now + LIFE_MS : NEVER;
	if (kind == IS_VICTIM) {
		sh->quit[v] = 0;
		sh->traps[v] = 0;
	}
	p->pid = fork();
	if (!p->pid && kind == IS_VICTIM) {
		setpgid(0, 0);
		be_victim(v);
	}
	if (!p->pid)
		be_debugger(kind, all[v][IS_VICTIM].pid);
	if (p->pid < 0)
		p->pid = 0;
	else if (kind == IS_VICTIM)
		setpgid(p->pid, p->pid);
}

/*
 * Kill a debugger.  A victim is asked to end by itself first, or is killed,
 * alone or with its group.
 */
static void kill_process(int v, int kind, long now)
{
	struct process *p = &all[v][kind];

	if (kind == IS_VICTIM && !sh->quit[v] && two_any(2)) {
		sh->quit[v] = 1;
		p->kill_at = now + LINGER_MS;
		return;
	}
	sh->killed += kind != IS_VICTIM;
	sh->traps[v] |= kind == IS_GDB;
	p->killed = true;
	kill(kind == IS_VICTIM && two_any(2) ? -p->pid : p->pid, SIGKILL);
	p->kill_at = NEVER;
	p->late_at = now + LATE_MS;
}

/*
 * Kill the children of a victim that has ended.  It is a zombie, so no other
 * group can have its number.  The debuggers have nothing to trace then.
 */
static void end_group(struct process *set, long now)
{
	int kind;

	kill(-set[IS_VICTIM].pid, SIGKILL);
	for (kind = IS_STRACE; kind < KINDS; kind++) {
		set[kind].kill_at = NEVER;
		set[kind].late_at = now + LATE_MS;
	}
}

/* Check that the victim has ended in a way that it may. */
static bool victim_is_right(int v, const siginfo_t *info)
{
	switch (info->si_status) {
	case CODE:
		return info->si_code == CLD_EXITED;
	case SIGKILL:
		return info->si_code == CLD_KILLED && all[v][IS_VICTIM].killed;
	case SIGSEGV:	/* THREAD_FAILS */
		return info->si_code != CLD_EXITED && sh->quit[v];
	case SIGTRAP:
		return info->si_code != CLD_EXITED && sh->traps[v];
	}
	return false;
}

/*
 * Check that a debugger of victim @v may end like this.  It fails if the victim
 * is dead before the attach.  strace also fails if the victim dies between
 * PTRACE_SEIZE and PTRACE_INTERRUPT, which cannot be seen here: a victim that
 * dies excuses strace.  gdb also fails if the victim dies in its last command.
 */
static bool debugger_is_right(int v, int kind, const siginfo_t *info)
{
	const struct process *p = &all[v][kind], *victim = &all[v][IS_VICTIM];

	if (info->si_code != CLD_EXITED)
		return info->si_status == SIGKILL && p->killed;
	return !info->si_status || !p->attached || kind == IS_GDB ||
	       !victim->pid || victim->killed || sh->quit[v] || sh->traps[v];
}

static void has_ended(const siginfo_t *info, long now)
{
	bool right;
	int i;

	for (i = 0; i < VICTIMS * KINDS; i++) {
		int v = i / KINDS, kind = i % KINDS;
		struct process *p = &all[v][kind];

		if (p->pid != info->si_pid)
			continue;
		right = kind == IS_VICTIM ? victim_is_right(v, info) :
					    debugger_is_right(v, kind, info);
		if (!right) {
			printf("# process %d, of kind %d: code %d, status %d\n",
			       p->pid, kind, info->si_code, info->si_status);
			fflush(stdout);
			sh->crashed++;
		}
		if (kind == IS_VICTIM)
			end_group(p, now);
		p->pid = 0;
		p->begin_at = now + two_any(500);
		sh->lives[kind]++;
	}
}

/* Reap the processes that init has started, and orphans. */
static void reap_some(long now)
{
	siginfo_t info = {};

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG | __WALL) &&
	       info.si_pid) {
		has_ended(&info, now);
		if (waitpid(info.si_pid, NULL, WNOHANG | __WALL) != info.si_pid)
			break;
		info.si_pid = 0;
	}
}

/* Say what all processes of the namespace do. */
static void print_all(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char text[64];
	pid_t pid;

	while (dir && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (!pid)
			continue;
		if (ut_read_file(text, sizeof(text), "/proc/%d/stat", pid) > 0)
			printf("# left: %s\n#   tracer %ld, tracers %s\n", text,
			       ut_status(pid, "TracerPid:"), two_tracers(pid));
		if (ut_read_file(text, sizeof(text), "/proc/%d/wchan", pid) > 0)
			printf("#   in %s\n", text);
	}
	if (dir)
		closedir(dir);
	fflush(stdout);
}

static void check_late(const struct process *p, int kind, long now)
{
	if (now < p->late_at)
		return;
	printf("# process %d, of kind %d, does not end\n", p->pid, kind);
	print_all();
	sh->late++;
}

/*
 * Start the debuggers that the victim does not have, and kill each process when
 * its time is over.  The next victim starts when all debuggers have ended.
 */
static void update(int v, long now)
{
	struct process *set = all[v];
	bool lives = set[IS_VICTIM].pid, gone = true;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		if (set[kind].pid) {
			gone = false;
			check_late(&set[kind], kind, now);
			if (now >= set[kind].kill_at)
				kill_process(v, kind, now);
		} else if (lives && now >= set[kind].begin_at) {
			start_process(v, kind, now);
		}
	}
	if (lives)
		count_tracers(set, now);
	else if (gone)
		start_process(v, IS_VICTIM, now);
}

/* Send one of the signals to the victim, its group, or its newest child. */
static void disturb(int v)
{
	static const int signals[] = {
		SIGSTOP, SIGSTOP, SIGCONT, SIGCONT, SIGCONT, SIGKILL
	};
	static long next[VICTIMS];
	int sig = signals[two_any(ARRAY_SIZE(signals))];
	pid_t pid = all[v][IS_VICTIM].pid, child = sh->child[v];

	if (!pid)
		return;
	if (sig != SIGKILL && two_any(2)) {
		kill(two_any(2) ? pid : -pid, sig);
		return;
	}
	/* Most children must end by themselves, also on a slow machine. */
	if (sig == SIGKILL && sh->rounds[v] < next[v])
		return;
	/* The child may be reaped and its number that of another process. */
	if (getpgid(child) != pid)
		return;
	kill(child, sig);
	if (sig == SIGKILL)
		next[v] = sh->rounds[v] + 2 + two_any(8);
}

/* Check that the storm has had each action and each kind of debugger. */
static bool has_seen_all(void)
{
	int i;

	for (i = 0; i < ACTIONS; i++)
		if (!sh->did[i])
			return false;
	for (i = IS_STRACE; i < KINDS; i++)
		if (!sh->attached[i])
			return false;
	return sh->most == DEBUGGERS && sh->lives[IS_VICTIM] > 1;
}

static void storm(void)
{
	long now = ut_now_ms(), end = now + 1000 * storm_seconds();
	int v;

	two_dice = setting("SEED", 1) * 2654435761U;
	while (!sh->late && (now < end ||
			     (!has_seen_all() && now < end + MORE_MS))) {
		reap_some(now);
		for (v = 0; v < VICTIMS; v++) {
			update(v, now);
			disturb(v);
		}
		ut_sleep_ms(TICK_MS);
		now = ut_now_ms();
	}
	/* end_all() may kill a gdb before it kills the victim. */
	for (v = 0; v < VICTIMS; v++)
		sh->traps[v] = 1;
}

/* Kill and reap all other processes of the namespace. */
static bool end_all(void)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	pid_t pid;

	/* Elsewhere the signal would be for all processes of the machine. */
	if (getpid() != 1)
		return false;
	kill(-1, SIGKILL);
	do {
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
		if (!pid)
			ut_sleep_ms(TICK_MS);
	} while (pid >= 0 && ut_now_ms() < end);
	if (pid >= 0)
		print_all();
	return pid < 0;
}

/* The debuggers are to see the numbers of their own namespace. */
static int mount_proc(void)
{
	return unshare(CLONE_NEWNS) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("proc", "/proc", "proc", 0, NULL) ? errno : 0;
}

/* Function of a target: init of the namespace. */
static int init(struct ut_target *t)
{
	struct rlimit none = {};

	(void)t;
	sh->no_proc = mount_proc();
	if (sh->no_proc || getpid() != 1)
		return 97;
	/* gdb is not to ask a server, and SIGSEGV is to write no core. */
	setenv("DEBUGINFOD_URLS", "", 1);
	setrlimit(RLIMIT_CORE, &none);
	storm();
	sh->empty = end_all();
	return 0;
}

/* The test */

FIXTURE(debuggers) {
	struct ut_target init;
	int before;		/* the limit of tracers before the test */
};

FIXTURE_SETUP(debuggers)
{
	if (access(STRACE, X_OK))
		SKIP(return, "no " STRACE);
	if (access(GDB, X_OK))
		SKIP(return, "no " GDB);
	if (!ut_has_pid_ns())
		SKIP(return, "no pid namespaces");
	self->before = two_limit_now();
	if (!self->before)
		SKIP(return, "no " TWO_SYSCTL);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sh);
	ASSERT_TRUE(make_files());
	/* This comes last: a setup that fails has no teardown. */
	ASSERT_EQ(0, two_limit(TWO_LIMIT));
}

FIXTURE_TEARDOWN(debuggers)
{
	if (self->before)
		EXPECT_EQ(0, two_limit(self->before));
	ut_kill_targets();
}

/* The end of init within the time of the storm, as waitpid() returns it. */
static pid_t reap_init(pid_t pid, int *status)
{
	long end = ut_now_ms() + 1000 * storm_seconds() + MORE_MS +
		   2 * UT_DEADLINE_MS;
	pid_t ret;

	while (!(ret = waitpid(pid, status, WNOHANG)) && ut_now_ms() < end)
		ut_sleep_ms(TICK_MS);
	return ret;
}

static void print_counts(struct __test_metadata *_metadata)
{
	int i;

	TH_LOG("%ld lives; %ld debuggers at a time, %ld killed; %ld wrong ends",
	       sh->lives[IS_VICTIM], sh->most, sh->killed, sh->crashed);
	for (i = IS_STRACE; i < KINDS; i++)
		TH_LOG("%s: %ld attached, %ld ended", i == IS_GDB ? "gdb" :
		       "strace", sh->attached[i], sh->lives[i]);
	for (i = 0; i < ACTIONS; i++)
		TH_LOG("action %d: %ld", i, sh->did[i]);
}

TEST_F_TIMEOUT(debuggers, all_end, storm_seconds() + 240 * ut_patience())
{
	int status = 0, i;
	pid_t ended;

	ASSERT_TRUE(ut_spawn_in_new(&self->init, init, 0));
	ended = reap_init(self->init.pid, &status);
	if (sh->no_proc)
		SKIP(return, "no /proc: %s", strerror(sh->no_proc));
	print_counts(_metadata);
	EXPECT_EQ(0, sh->late);
	EXPECT_TRUE(sh->empty);
	EXPECT_EQ(self->init.pid, ended) {
		TH_LOG("init does not end: %s", sh->empty ?
		       "a number has leaked" : "a process is left");
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sh->wrong);
	EXPECT_EQ(0, sh->crashed);
	EXPECT_LT(1, sh->lives[IS_VICTIM]);
	EXPECT_EQ(DEBUGGERS, sh->most);
	for (i = IS_STRACE; i < KINDS; i++)
		EXPECT_LT(0, sh->attached[i]);
	for (i = 0; i < ACTIONS; i++)
		EXPECT_LT(0, sh->did[i]);
}

TEST_HARNESS_MAIN
