// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - process 1 of the guest, which measures
 *
 * The program prints one line "row NAME VALUE" for each figure and reboots,
 * which ends the guest.  The guest runs under -icount shift=0,sleep=off on one
 * CPU, where every clock advances by one nanosecond an instruction.  So the TSC
 * counts the instructions of user and kernel together.  Most figures are the
 * least of many blocks, since the timer adds instructions to some blocks;
 * comments say where a figure is made otherwise.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <x86intrin.h>

#include "bench.h"

#define CONTROL	"/sys/module/utrace_bench/parameters/do"

static bool patched, quick, brief;
double *shared;

void die(const char *what)
{
	printf("failed: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_AUTOBOOT);
}

void say(const char *name, double value)
{
	printf("row %s %.3f\n", name, value);
	fflush(stdout);
}

static bool write_text(const char *path, const char *format, va_list args)
{
	char text[128];
	int n = vsnprintf(text, sizeof(text), format, args);
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, n) != n) {
		close(fd);
		return false;
	}
	close(fd);
	return true;
}

void must(bool ok, const char *what)
{
	if (!ok)
		die(what);
}

void write_file(const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	must(write_text(path, format, args), path);
	va_end(args);
}

bool write_file_if(const char *path, const char *format, ...)
{
	va_list args;
	bool ok;

	va_start(args, format);
	ok = write_text(path, format, args);
	va_end(args);
	return ok;
}

/* Give one command to utrace_bench.ko.  Returns false if the command fails. */
bool control(const char *format, ...)
{
	va_list args;
	bool ok;

	va_start(args, format);
	ok = write_text(CONTROL, format, args);
	va_end(args);
	return ok;
}

void read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, buf, size - 1);

	must(n >= 0, path);
	buf[n] = 0;
	close(fd);
}

/* Read the answer of the last command to utrace_bench.ko. */
void reply(char *buf, size_t size)
{
	read_file(CONTROL, buf, size);
}

void load_module(const char *path)
{
	int fd = open(path, O_RDONLY);

	must(!syscall(SYS_finit_module, fd, "", 0), path);
	close(fd);
}

/* Loops. */

static inline long raw_call(long nr)
{
	long ret;

	asm volatile("syscall" : "=a" (ret) : "a" (nr)
		     : "rcx", "r11", "memory");
	return ret;
}

long all_calls;

void getppids(long n)
{
	all_calls += n;
	while (n--)
		raw_call(SYS_getppid);
}

static void million_nops(long n)
{
	while (n--)
		asm volatile(".rept 1000000\n\tnop\n\t.endr");
}

static void signals(long n)
{
	pid_t pid = getpid(), tid = pid;

	while (n--)
		syscall(SYS_tgkill, pid, tid, SIGUSR1);
}

static int ping[2], pong[2];

static void switches(long n)
{
	char c = 0;

	while (n--)
		if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
			die("ping");
}

double per_op(void (*loop)(long n), long ops, int blocks)
{
	unsigned long least = ULONG_MAX;

	loop(ops);
	while (blocks--) {
		unsigned long begun = __rdtsc();

		loop(ops);
		begun = __rdtsc() - begun;
		if (begun < least)
			least = begun;
	}
	return (double)least / ops;
}

double call_cost(void)
{
	return per_op(getppids, 1000, quick ? 20 : 50);
}

/* As call_cost(), in a child that calls @prepare first. */
static double child_call_cost(void (*prepare)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prepare();
		*shared = call_cost();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return *shared;
}

/* States of a task. */

static int seccomp_filter(unsigned int ret, int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, ret),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter all[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	bool allow = ret == SECCOMP_RET_ALLOW;
	struct sock_fprog prog = {
		.len = allow ? 1 : 4,
		.filter = allow ? all : code,
	};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static void allow_all(void)
{
	must(!seccomp_filter(SECCOMP_RET_ALLOW, 0), "seccomp filter");
}

/* A child that sleeps until it is killed. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	while (!pid)
		pause();
	must(pid > 0, "fork");
	sched_yield();
	return pid;
}

void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Attach a BPF program to a raw tracepoint.  The program does nothing, or for a
 * @pid compares the current process with @pid and then does nothing.  Returns
 * the descriptor that keeps the program attached.
 */
static int bpf_attach(const char *tracepoint, pid_t pid)
{
	struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL,
		  .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0,
		  .imm = 32 },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0,
		  .imm = pid, .off = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)(pid ? code : code + 4),
		.insn_cnt = pid ? 6 : 2,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr attach = {
		.raw_tracepoint.name = (uintptr_t)tracepoint,
	};
	int prog = syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	int fd;

	must(prog >= 0, "BPF program");
	attach.raw_tracepoint.prog_fd = prog;
	fd = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attach, sizeof(attach));
	must(fd >= 0, "BPF raw tracepoint");
	close(prog);
	return fd;
}

/* Groups of rows. */

static void calibrate(void)
{
	double n = per_op(million_nops, 1, 10);

	say("calibration", n);
	if (n < 1000000 || n > 1000100) {
		errno = 0;
		die("the TSC does not count instructions");
	}
}

static void count_signal(int sig)
{
}

/*
 * Choose a scheduling policy.  Which averages the fair scheduler updates
 * depends on the time, and so does its cost; SCHED_FIFO has no such averages.
 */
static void scheduler(int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	must(!sched_setscheduler(0, policy, &param), "scheduler");
}

/*
 * Print one row for each fork, as forks differ: one flushes a counter, another
 * finds a page that is there already.  bench/summary compares the rows of two
 * kernels.
 */
static void fork_rows(const char *name)
{
	int i;

	for (i = 0; i < (quick ? 50 : 150); i++) {
		unsigned long begun = __rdtsc();
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		say(name, __rdtsc() - begun);
	}
}

/* Cost of switches between a child and a grandchild. */
static double child_switch_cost(void)
{
	pid_t pid = fork(), echo;
	char c;

	if (!pid) {
		echo = fork();
		if (!echo) {
			while (read(ping[0], &c, 1) == 1 &&
			       write(pong[1], &c, 1) == 1)
				;
			_exit(0);
		}
		*shared = per_op(switches, 100, 50);
		end(echo);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return *shared;
}

/*
 * A CPU remembers six address spaces (TLB_NR_DYN_ASIDS), and a switch searches
 * them from the first on.  So the cost depends on the place of a process, and
 * that on the processes before it.  Thirteen pairs of processes get every
 * place in turn, and the least cost counts.
 */
static double switch_cost(void)
{
	double least = child_switch_cost(), cost;
	int i;

	for (i = 0; i < 12; i++) {
		cost = child_switch_cost();
		if (cost < least)
			least = cost;
	}
	return least;
}

static void untraced_rows(void)
{
	say("base", call_cost());
	say("seccomp", child_call_cost(allow_all));
	scheduler(SCHED_FIFO);
	fork_rows("fork_exit_wait");
	signal(SIGUSR1, count_signal);
	say("signal", per_op(signals, 100, 50));
	wait_row("wait");

	must(!pipe(ping) && !pipe(pong), "pipe");
	say("context_switch", switch_cost());
	scheduler(SCHED_OTHER);
}

/* Cost from execve() to main(), as the second image of this program reports. */
static void exec_rows(void)
{
	double took;
	int i, fd[2];

	scheduler(SCHED_FIFO);
	for (i = 0; i < (quick ? 50 : 150); i++) {
		char begun[32];
		pid_t pid;

		must(!pipe(fd), "pipe");
		pid = fork();
		if (!pid) {
			dup2(fd[1], 1);
			snprintf(begun, sizeof(begun), "%llu",
				 (unsigned long long)__rdtsc());
			execl("/init", "init", begun, NULL);
			_exit(1);
		}
		must(read(fd[0], &took, sizeof(took)) == sizeof(took), "exec");
		close(fd[0]);
		close(fd[1]);
		waitpid(pid, NULL, 0);
		say("exec", took);
	}
	scheduler(SCHED_OTHER);
}

static void tracepoint_rows(void)
{
	int enter, exit;

	must(control("probes 1"), "probes");
	say("tracepoint_pair", call_cost());
	must(control("probes 0"), "probes off");
	enter = bpf_attach("sys_enter", 0);
	exit = bpf_attach("sys_exit", 0);
	say("bpf_pair", call_cost());
	close(exit);
	close(enter);
	/* Wait until the probes are unregistered. */
	usleep(100000);
	say("base_again", call_cost());
}

/* The cost for the current task of tracers that trace only @other. */
static void bystander_rows(pid_t other)
{
	int enter, exit;

	write_file(TRACING "/events/raw_syscalls/filter", "common_pid == %d", other);
	write_file(TRACING "/events/raw_syscalls/enable", "1");
	say("bystander_filter", call_cost());
	write_file(TRACING "/events/raw_syscalls/enable", "0");
	write_file(TRACING "/events/raw_syscalls/filter", "0");
	write_file(TRACING "/set_event_pid", "%d", other);
	write_file(TRACING "/events/raw_syscalls/enable", "1");
	say("bystander_event_pid", call_cost());
	write_file(TRACING "/events/raw_syscalls/enable", "0");
	write_file(TRACING "/set_event_pid", "%s", " ");
	enter = bpf_attach("sys_enter", other);
	exit = bpf_attach("sys_exit", other);
	say("bystander_bpf", call_cost());
	close(exit);
	close(enter);
	usleep(100000);
}

static bool is_traced(pid_t pid)
{
	char path[64], line[128];
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (f)
		fclose(f);
	return tracer;
}

/* Under Debian's strace, which decodes every call and writes to /dev/null. */
static void strace_row(void)
{
	pid_t pid, strace;
	char text[16];
	int fd[2];

	must(!pipe(fd), "pipe");
	pid = fork();
	if (!pid) {
		must(read(fd[0], text, 1) == 1, "strace is installed");
		*shared = per_op(getppids, 100, 10);
		_exit(0);
	}
	snprintf(text, sizeof(text), "%d", pid);
	strace = fork();
	if (!strace) {
		execl("/usr/bin/strace", "strace", "-qq", "-o", "/dev/null",
		      "-p", text, NULL);
		die("strace");
	}
	while (!is_traced(pid))
		usleep(1000);
	usleep(100000);
	must(write(fd[1], "", 1) == 1, "pipe");
	waitpid(pid, NULL, 0);
	waitpid(strace, NULL, 0);
	close(fd[0]);
	close(fd[1]);
	say("strace", *shared);
}

/* Answer every notification of a child with "continue" until the child ends. */
static void supervise(pid_t pid, int listener)
{
	int there = syscall(SYS_pidfd_open, pid, 0);
	int here = syscall(SYS_pidfd_getfd, there, listener, 0);
	struct seccomp_notif req;
	struct seccomp_notif_resp resp;

	must(here >= 0, "seccomp listener");
	for (;;) {
		memset(&req, 0, sizeof(req));
		if (ioctl(here, SECCOMP_IOCTL_NOTIF_RECV, &req))
			break;
		resp = (struct seccomp_notif_resp) {
			.id = req.id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
		};
		ioctl(here, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
	close(here);
	close(there);
}

static void notify_row(void)
{
	int fd[2];
	pid_t pid;
	int *listener = (int *)(shared + 1);

	must(!pipe(fd), "pipe");
	*listener = -1;
	pid = fork();
	if (!pid) {
		/* Hand the parent the number, for pidfd_getfd(). */
		*listener = seccomp_filter(SECCOMP_RET_USER_NOTIF,
					   SECCOMP_FILTER_FLAG_NEW_LISTENER);
		*shared = per_op(getppids, 100, 10);
		kill(getpid(), SIGKILL);
	}
	while (*listener < 0)
		sched_yield();
	supervise(pid, *listener);
	waitpid(pid, NULL, 0);
	say("seccomp_notify", *shared);
}

static void seccomp_and_engine(void)
{
	allow_all();
	must(control("engines pair %d 1", getpid()), "pair");
}

/* Cost of a call with @n engines of a kind on the current task. */
static double with_engines(const char *kind, int n)
{
	double cost;

	must(control("engines %s %d %d", kind, getpid(), n), kind);
	cost = call_cost();
	must(control("detach"), "detach");
	return cost;
}

static void engine_rows(void)
{
	static const int counts[] = { 1, 2, 4, 8, 16, 32, 48 };
	char name[32];
	unsigned int i;
	pid_t other;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		snprintf(name, sizeof(name), "engines_%d", counts[i]);
		say(name, with_engines("pair", counts[i]));
	}
	for (i = 0; i < sizeof(counts) / sizeof(*counts) - 1; i++) {
		/* with_engines() adds one engine that wants system calls. */
		must(control("engines masked %d %d", getpid(), counts[i]),
		     "masked");
		snprintf(name, sizeof(name), "masked_%d", counts[i]);
		say(name, with_engines("pair", 1));
	}
	say("filtered", with_engines("filtered", 1));
	must(control("engines pair %d 2", getpid()), "pair");
	must(control("park"), "park");
	say("parked", call_cost());
	must(control("detach"), "detach");
	say("seccomp_engine", child_call_cost(seccomp_and_engine));
	must(control("detach"), "detach");
	other = sleeper();
	must(control("engines pair %d 1", other), "bystander");
	say("bystander", call_cost());
	must(control("detach"), "detach");
	bystander_rows(other);
	end(other);
	say("detached", call_cost());
}

/* Each call stops the task; a kernel thread lets the task go on. */
static void stop_row(void)
{
	must(control("stopper %d", getpid()), "stopper");
	say("stop_resume", per_op(getppids, 100, 10));
	must(control("detach"), "detach");
}

static double recorded(const char *file, const char *on, const char *off)
{
	double cost;

	write_file(TRACING "/trace", " ");
	write_file(file, "%s", on);
	cost = call_cost();
	write_file(file, "%s", off);
	usleep(100000);
	return cost;
}

/* Cost of recording this task's calls: raw_syscalls and process tracer. */
static void record_rows(void)
{
	write_file(TRACING "/set_event_pid", "%d", getpid());
	say("raw_record", recorded(TRACING "/events/raw_syscalls/enable", "1", "0"));
	say("process_record", recorded(TRACING "/current_tracer", "process", "nop"));
	write_file(TRACING "/process/events", "stat\n");
	say("process_stat", recorded(TRACING "/current_tracer", "process", "nop"));
	write_file(TRACING "/process/events", "stat cpu\n");
	say("process_stat_cpu",
	    recorded(TRACING "/current_tracer", "process", "nop"));
	write_file(TRACING "/process/events", "sys_enter sys_exit\n");
	write_file(TRACING "/set_event_pid", "%s", " ");
	say("process_after", call_cost());
}

/* Forks under an engine of the system, and under one that rejects them. */
static void system_fork_rows(void)
{
	scheduler(SCHED_FIFO);
	fork_rows("fork_without");
	must(control("system"), "system");
	fork_rows("fork_system");
	must(control("detach"), "detach");
	usleep(100000);
	write_file(TRACING "/process/comms", "nobody\n");
	write_file(TRACING "/process/events", "sys_enter sys_exit fork exec exit\n");
	write_file(TRACING "/current_tracer", "process");
	fork_rows("fork_match");
	write_file(TRACING "/current_tracer", "nop");
	write_file(TRACING "/process/comms", "\n");
	scheduler(SCHED_OTHER);
	usleep(100000);
}

static void size_rows(void)
{
	double task, engine, growth;
	char said[64];
	int n;

	if (patched) {
		slab("utrace", &task);
		say("task_bytes", task);
	}
	must(control("sizes"), "sizes");
	reply(said, sizeof(said));
	n = sscanf(said, "%lf %lf %lf", &task, &engine, &growth);
	say("task_struct", task);
	if (n == 3) {
		say("engine_bytes", engine);
		say("task_struct_growth", growth);
	}
}

static void set_up(void)
{
	mount("none", "/proc", "proc", 0, NULL);
	mount("none", "/sys", "sysfs", 0, NULL);
	mount("none", TRACING, "tracefs", 0, NULL);
	must(!mkdir("/dev", 0755) || errno == EEXIST, "/dev");
	must(!mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3)) ||
	     errno == EEXIST, "/dev/null");
	patched = !access("/proc/self/utrace", F_OK);
	quick = getenv("bench_quick");
	brief = getenv("bench_brief");
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	write_file("/proc/sys/kernel/threads-max", "100000");
	write_file("/proc/sys/kernel/pid_max", "100000");
	load_module("/utrace_bench.ko");
}

static void all_other_rows(void)
{
	int n;

	ptrace_row("ptrace");
	strace_row();
	notify_row();
	if (!patched)
		return;
	engine_rows();
	stop_row();
	record_rows();
	dev_rows();
	must(control("system"), "system");
	say("system_pair", call_cost());
	must(control("detach"), "detach");
	system_fork_rows();
	for (n = 1; n <= (quick ? 3000 : 30000); n = n == 1 ? 30 : n * 10)
		attach_rows(n);
	for (n = 3000; n <= (quick ? 3000 : 30000); n *= 10)
		system_rows(n);
	load_module("/utrace_watch.ko");
	for (n = 1; n <= (quick ? 300 : 30000); n = n == 1 ? 300 : n * 100)
		barrier_rows(n);
	/* The last rows: the feature that they switch on stays on. */
	ptracers_rows();
}

/* Rows to compare with the unpatched kernel, or with one of these rows. */
static void usual_rows(void)
{
	calibrate();
	untraced_rows();
	exec_rows();
	size_rows();
	tracepoint_rows();
	if (brief)
		say("engines_1", with_engines("pair", 1));
	else
		all_other_rows();
}

int main(int argc, char **argv)
{
	unsigned long now = __rdtsc();

	if (getpid() != 1 && argc == 2) {
		if (!isdigit(*argv[1]))
			return 0;
		double took = now - strtoull(argv[1], NULL, 10);

		return write(1, &took, sizeof(took)) != sizeof(took);
	}
	set_up();
	if (getenv("bench_locks"))
		storm_rows();
	else if (getenv("bench_calls"))
		calls_to_look_at();
	else if (getenv("bench_holds"))
		holds_rows();
	else
		usual_rows();
	printf("complete\n");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}
