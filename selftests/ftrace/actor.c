// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a program that carries out commands
 *
 * The program reads commands, one a line, and answers each by a line when the
 * command is done.  Between two answers it does only what the command says,
 * besides reading and writing these lines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int handled;

static void handler(int sig)
{
	handled = sig;
}

static void *mark(void *path)
{
	access(path, F_OK);
	return NULL;
}

/* A child or a thread that tries to find a file. */
static long do_child(const char *path, int status)
{
	pid_t pid = fork();

	if (!pid) {
		access(path, F_OK);
		_exit(status);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

static long do_thread(char *path)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, mark, path))
		pthread_join(thread, NULL);
	return 0;
}

static long do_open(const char *path)
{
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd;
}

/* No socket listens on the port. */
static long do_connect(int port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	long ret = connect(fd, (struct sockaddr *)&in, sizeof(in));

	close(fd);
	return ret;
}

static long do_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	long ret = write(fd, text, strlen(text));

	close(fd);
	return ret;
}

static long do_read(const char *path, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[256];
	long ret = read(fd, buf, n < sizeof(buf) ? n : sizeof(buf));

	close(fd);
	return ret;
}

/* A system call of the 32-bit table. */
static long do_i386(long nr)
{
	long ret = -ENOSYS;

#ifdef __x86_64__
	asm volatile("int $0x80" : "=a" (ret) : "a" (nr)
		     : "memory", "r8", "r9", "r10", "r11");
#endif
	return ret;
}

static long do_signal(int sig)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(sig, &action, NULL);
	raise(sig);
	return handled;
}

/* Sleep until a signal comes that has a handler. */
static long do_pause(void)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR1, &action, NULL);
	return syscall(SYS_pause);
}

/*
 * A child traces this process by ptrace(2), sends it SIGSTOP, and leaves it in the stop.
 * Returns 0 if the tracer has seen the stop.
 */
static long do_leave_stopped(void)
{
	const int group_stop = SIGSTOP | PTRACE_EVENT_STOP << 8;
	const pid_t self = getpid();
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_SEIZE, self, 0, 0) || kill(self, SIGSTOP) ||
		    waitpid(self, &status, 0) != self || status >> 8 != SIGSTOP ||
		    ptrace(PTRACE_CONT, self, 0, SIGSTOP) ||
		    waitpid(self, &status, 0) != self || status >> 8 != group_stop)
			_exit(1);
		_exit(ptrace(PTRACE_DETACH, self, 0, 0) ? 1 : 0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int wait_for_parent(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pause() < 0)
		;
	return 0;
}

/* Sleep as vfork() does: only a fatal signal ends the sleep. */
static long do_vfork(void)
{
	static _Alignas(16) char stack[16384];

	return clone(wait_for_parent, stack + sizeof(stack),
		     CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}

/* A read() that works. */
static long do_zeros(size_t n)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *buf = malloc(n);
	long ret = read(fd, buf, n);

	free(buf);
	close(fd);
	return ret;
}

static long repeat(long nr, long n)
{
	long ret = 0;

	while (n-- > 0)
		ret = syscall(nr, -1, 0, 0, 0, 0, 0);
	return ret;
}

/* Four strings, each longer than the tracer captures. */
static long do_large(void)
{
	char text[600];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	return syscall(SYS_request_key, text, text, text, 0);
}

/* Execute a program by a path of the greatest length. */
static long do_exec_long(const char *path, const char *answer)
{
	char name[PATH_MAX], arg[600];
	size_t slashes = sizeof(name) - 1 - strlen(path);

	memset(name, '/', slashes);
	memcpy(name + slashes, path, strlen(path) + 1);
	memset(arg, 'x', sizeof(arg) - 1);
	arg[sizeof(arg) - 1] = '\0';
	return execl(name, "actor", answer, arg, arg, arg, NULL);
}

static void *run(void *word)
{
	execl(((char **)word)[1], "actor", ((char **)word)[2], NULL);
	return NULL;
}

/* A thread other than the leader executes the program. */
static long do_exec_thread(char *word[4])
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, run, word))
		pthread_join(thread, NULL);
	return -1;
}

/* Children that have a name for one call only. */
static long do_renamed(const char *name, long n)
{
	pid_t pid;

	while (n-- > 0) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_NAME, name);
			syscall(SYS_getuid);
			prctl(PR_SET_NAME, "nobody");
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* Children that make many different calls, which do no harm without a file. */
static long do_many(long n)
{
	static const short calls[] = {
		SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_lseek, SYS_ioctl,
		SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_dup,
		SYS_getpid, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg,
		SYS_shutdown, SYS_bind, SYS_listen, SYS_getsockname,
		SYS_getpeername, SYS_fcntl, SYS_flock, SYS_fsync, SYS_fdatasync,
		SYS_ftruncate, SYS_getdents, SYS_fchdir, SYS_fchmod, SYS_fchown,
		SYS_getuid, SYS_getgid, SYS_geteuid, SYS_getegid, SYS_getppid,
		SYS_getpgrp, SYS_fstatfs, SYS_gettid, SYS_readahead,
		SYS_fsetxattr, SYS_fgetxattr, SYS_flistxattr, SYS_fremovexattr,
		SYS_getdents64, SYS_fadvise64, SYS_epoll_wait, SYS_epoll_ctl,
		SYS_openat, SYS_mkdirat, SYS_mknodat, SYS_fchownat,
		SYS_newfstatat, SYS_unlinkat, SYS_renameat, SYS_linkat,
		SYS_readlinkat, SYS_fchmodat, SYS_faccessat, SYS_splice,
		SYS_tee, SYS_sync_file_range, SYS_vmsplice, SYS_fallocate,
		SYS_timerfd_settime, SYS_timerfd_gettime, SYS_accept4,
		SYS_preadv, SYS_pwritev, SYS_syncfs, SYS_copy_file_range,
	};
	const long ncalls = sizeof(calls) / sizeof(*calls);
	pid_t pid;
	long i;

	while (n-- > 0) {
		pid = fork();
		if (!pid) {
			for (i = 0; i < ncalls; i++)
				syscall(calls[i], -1, 0, 0, 0, 0, 0);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return ncalls;
}

static long act(char *word[4])
{
	const char *what = word[0];

	if (!strcmp(what, "mark"))
		return access(word[1], F_OK);
	if (!strcmp(what, "open"))
		return do_open(word[1]);
	if (!strcmp(what, "write"))
		return do_write(word[1], word[2]);
	if (!strcmp(what, "read"))
		return do_read(word[1], atol(word[2]));
	if (!strcmp(what, "connect"))
		return do_connect(atoi(word[1]));
	if (!strcmp(what, "call"))
		return repeat(atol(word[1]), word[2] ? atol(word[2]) : 1);
	if (!strcmp(what, "pause"))
		return do_pause();
	if (!strcmp(what, "leave-stopped"))
		return do_leave_stopped();
	if (!strcmp(what, "vfork"))
		return do_vfork();
	if (!strcmp(what, "zeros"))
		return do_zeros(atol(word[1]));
	if (!strcmp(what, "i386"))
		return do_i386(atol(word[1]));
	if (!strcmp(what, "comm"))
		return prctl(PR_SET_NAME, word[1]);
	if (!strcmp(what, "euid"))
		return seteuid(atoi(word[1]));
	if (!strcmp(what, "child"))
		return do_child(word[1], atoi(word[2]));
	if (!strcmp(what, "thread"))
		return do_thread(word[1]);
	if (!strcmp(what, "signal"))
		return do_signal(atoi(word[1]));
	if (!strcmp(what, "exec"))
		return execl(word[1], "actor", word[2], NULL);
	if (!strcmp(what, "exec-long"))
		return do_exec_long(word[1], word[2]);
	if (!strcmp(what, "exec-thread"))
		return do_exec_thread(word);
	if (!strcmp(what, "large"))
		return do_large();
	if (!strcmp(what, "renamed"))
		return do_renamed(word[1], atol(word[2]));
	if (!strcmp(what, "many"))
		return do_many(atol(word[1]));
	return -1;
}

int main(int argc, char **argv)
{
	char line[512], *word[4], *rest;
	int i;

	/* After an execve() of its own the program answers, and goes on. */
	if (argc > 1)
		dprintf(1, "%s\n", argv[1]);
	while (fgets(line, sizeof(line), stdin)) {
		rest = line;
		for (i = 0; i < 4; i++)
			word[i] = strtok_r(i ? NULL : line, "\n ", &rest);
		if (word[0])
			dprintf(1, "%ld\n", act(word));
	}
	return 0;
}
