/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - an execve() by a thread that is not the leader
 *
 * The thread gets the number of the leader in de_thread(), and its old number
 * is free from then on.  The tracers know the thread by the number of the
 * leader.
 *
 * Tracers and tracees have no rights.
 */
#ifndef UTRACE_EXEC_THREAD_H
#define UTRACE_EXEC_THREAD_H

#include <linux/sched.h>
#include <sys/resource.h>

#include "two.h"

/* What go[1] of the target is: the file that its thread executes. */
enum { BAD_FILE = 1, GOOD_FILE };

static struct two_tracer exec_first, exec_further[2];

/*
 * Copies of the helper.  They have no name, and so need no clean-up, and a
 * program without rights can execute them wherever the helper is.
 */
static char files[GOOD_FILE + 1][32];

/* Make a segment larger in the file than in memory. */
static inline void spoil(Elf64_Ehdr *eh)
{
	Elf64_Phdr *ph = (void *)eh + eh->e_phoff;
	int i;

	for (i = 0; i < eh->e_phnum && ph[i].p_type != PT_LOAD; i++)
		;
	ph[i].p_memsz = ph[i].p_filesz - 1;
}

static inline bool write_file(int number, const void *image, size_t size)
{
	int fd = memfd_create("helper", 0);

	snprintf(files[number], sizeof(files[number]), "/proc/self/fd/%d", fd);
	return fd >= 0 && write(fd, image, size) == size;
}

/* load_elf_binary() sees what is bad after begin_new_exec(). */
static inline bool make_files(void)
{
	int fd = open(ut_helper(), O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *image;
	bool made;

	if (fd < 0 || fstat(fd, &st))
		return false;
	image = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
		     0);
	close(fd);
	if (image == MAP_FAILED)
		return false;
	made = write_file(GOOD_FILE, image, st.st_size);
	spoil(image);
	made = made && write_file(BAD_FILE, image, st.st_size);
	return !munmap(image, st.st_size) && made;
}

/* The number of the thread for the test, also in another pid namespace. */
static inline pid_t outer_tid(void)
{
	char path[64] = "", *p;

	/* The mount of /proc is that of the test's namespace. */
	if (readlink("/proc/thread-self", path, sizeof(path) - 1) <= 0)
		return -1;
	p = strrchr(path, '/');
	return p ? atoi(p + 1) : -1;
}

static inline void *executes(void *arg)
{
	char * const argv[] = { (char *)"helper", (char *)"pause", NULL };
	char * const envp[] = { NULL };
	struct ut_target *t = arg;

	t->sh->tid[1] = outer_tid();
	while (!t->sh->go[1])
		sched_yield();
	execve(files[t->sh->go[1]], argv, envp);
	_exit(99);
}

/* Function of a target: a leader that sleeps, and a thread that executes. */
static inline int exec_target(struct ut_target *t)
{
	struct rlimit none = {};
	pthread_t thread;

	if (setrlimit(RLIMIT_CORE, &none) || !two_become(TWO_NOBODY) ||
	    pthread_create(&thread, NULL, executes, t))
		return 97;
	while (!t->sh->tid[1])
		sched_yield();
	ut_say(t);
	for (;;)
		pause();
}

/* Start the target, again if it is over. */
static inline bool exec_start(struct ut_target *t)
{
	if (!t->sh)
		return ut_spawn(t, exec_target) && ut_hear(t);
	memset(t->sh, 0, sizeof(*t->sh));
	t->pid = fork();
	if (!t->pid) {
		ut_be_child();
		_exit(exec_target(t));
	}
	/* The number before was reaped. */
	ut_pids[ut_npids - 1] = t->pid;
	return t->pid > 0 && ut_hear(t);
}

/* The tracers of the thread. */
struct scene {
	int further;	/* further tracers */
	bool stays;	/* the first tracer does */
	bool leader;	/* is traced by the same tracers */
	long options;
};

static inline bool attach_to(pid_t tid, const struct scene *sc)
{
	int i;

	if (two_seize(&exec_first, tid, sc->options))
		return false;
	for (i = 0; i < sc->further; i++)
		if (two_seize(&exec_further[i], tid, sc->options))
			return false;
	return sc->stays || two_leave(&exec_first, tid);
}

static inline bool exec_attach(struct ut_target *t, const struct scene *sc)
{
	return attach_to(t->sh->tid[1], sc) &&
	       (!sc->leader || attach_to(t->pid, sc));
}

/* The tracers of a scene, one by one; NULL after the last one. */
static inline struct two_tracer *tracer_of(const struct scene *sc, int i)
{
	if (sc->stays)
		i--;
	return i < 0 ? &exec_first : i < sc->further ? &exec_further[i] : NULL;
}

/* Each tracer, in any order, gets the signal and passes it. */
static inline bool all_pass(const struct scene *sc, pid_t pid, int sig)
{
	int n = sc->further + sc->stays, passed = 0, i = 0;
	long end = ut_now_ms() + UT_DEADLINE_MS, status;
	struct two_tracer *tr;

	while (passed < n && ut_now_ms() < end) {
		tr = tracer_of(sc, i++ % n);
		status = two_poll(tr, -1);
		if (status == TWO_NONE)
			continue;
		if (status != two_stop(sig) || tr->call->pid != pid ||
		    two_cont(tr, pid, sig)) {
			printf("# got %d %#lx; expected %d, signal %d\n",
			       tr->call->pid, status, pid, sig);
			return false;
		}
		passed++;
	}
	return passed == n;
}

/* Check that the tracer reads the end of @pid by @sig, and nothing after it. */
static inline bool is_told_end(struct two_tracer *tr, pid_t pid, int sig)
{
	long status = two_wait(tr, -1);
	pid_t told = tr->call->pid;
	long next = two_poll(tr, -1);

	if (told == pid && status == two_killed(sig) && next == -ECHILD)
		return true;
	printf("# got %d %#lx, then %ld; expected %d, end by %d\n", told,
	       status, next, pid, sig);
	return false;
}

static inline bool all_are_told_end(const struct scene *sc, pid_t pid, int sig)
{
	struct two_tracer *tr;
	bool told = true;
	int i;

	for (i = 0; (tr = tracer_of(sc, i)); i++)
		told = is_told_end(tr, pid, sig) && told;
	return told;
}

/* Make a child with this number; 0 if that fails. */
static inline pid_t child_with(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)&number,
		.set_tid_size = 1,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid)
		return pid < 0 ? 0 : pid;
	ut_be_child();
	for (;;)
		pause();
}

/* Check that a lookup of the number finds the child. */
static inline bool is_there(pid_t pid)
{
	return !kill(pid, 0) && ut_status(pid, "Pid:") == pid;
}

static inline pid_t child_when_free(pid_t number)
{
	pid_t pid = 0;

	ut_until((pid = child_with(number)));
	return pid;
}

/* Check that a new process can get the number. */
static inline bool is_free(pid_t number)
{
	pid_t pid = child_when_free(number);

	return pid && is_there(pid) && !kill(pid, SIGKILL) &&
	       ut_waitpid(pid, NULL, 0) == 1;
}

/* Make the files, and start the tracers. */
static inline bool exec_setup(void)
{
	return make_files() && two_start_as(&exec_first, TWO_NOBODY) &&
	       two_start_nobodies(&exec_further[0], &exec_further[1]);
}

#endif /* UTRACE_EXEC_THREAD_H */
