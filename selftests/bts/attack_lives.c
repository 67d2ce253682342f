// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: attacks by new tasks, other programs and seccomp
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "attack.h"

/* The call that a filter is about. */
#define CALL		SYS_getppid

static char *true_argv[] = { "true", NULL };

static void wait_for_child(pid_t pid, int i)
{
	int status = -1;

	waitpid(pid, &status, __WALL);
	attack->seen[i] = status;
}

static void use_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		visible();
		_exit(3);
	}
	wait_for_child(pid, 0);
	visible();
	pid = vfork();
	if (!pid) {
		execve("/bin/true", true_argv, environ);
		_exit(4);
	}
	wait_for_child(pid, 1);
}

static int be_clone(void *arg)
{
	attack->seen[4] |= flags() & TF;
	visible();
	return (long)arg;
}

/* A process that shares the memory of its parent. */
static void share_memory(void)
{
	static char stack[2][1 << 16];
	pid_t pid[2];
	int i;

	for (i = 0; i < 2; i++)
		pid[i] = clone(be_clone, stack[i] + sizeof(stack[i]),
			       CLONE_VM | (i ? CLONE_FILES | SIGCHLD : 0),
			       (void *)(5L + i));
	visible();
	for (i = 0; i < 2; i++)
		wait_for_child(pid[i], i);
}

static void spawn_programs(void)
{
	pid_t pid;
	int i;

	for (i = 0; i < 2; i++) {
		attack->seen[4 + i] = posix_spawn(&pid, "/bin/true", NULL, NULL,
						  true_argv, environ);
		wait_for_child(pid, i);
	}
	attack->seen[6] = posix_spawn(&pid, "/nowhere", NULL, NULL, true_argv,
				      environ);
}

static void fork_deep(void)
{
	pid_t pid;
	int i;

	for (i = 0; i < 8; i++) {
		attack->seen[8] |= flags() & TF;
		pid = fork();
		if (pid) {
			visible();
			wait_for_child(pid, i);
			if (i)
				_exit(i);
			return;
		}
		visible();
	}
	_exit(i);
}

static void *outlive(void *arg)
{
	usleep(50000);
	visible();
	_exit(0);
}

static void *execute(void *arg)
{
	visible();
	attack->without_end++;
	execve("/bin/true", true_argv, environ);
	_exit(93);
}

/* The leader ends before the other threads. */
static void leave_threads(void)
{
	pthread_t thread;

	visible();
	pthread_create(&thread, NULL, outlive, NULL);
	pthread_exit(NULL);
}

/* A thread that is not the leader executes a program. */
static void execute_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute, NULL);
	for (;;)
		pause();
}

static void filter_call(__u32 answer)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(94);
}

static void take_sigsys(int signal, siginfo_t *info, void *context)
{
	attack->seen[0]++;
	attack->seen[1] += info->si_syscall;
	attack->seen[2] |= *reg(context, REG_EFL) & TF;
	*reg(context, REG_RAX) = 77;
	visible();
}

static void trap_call(void)
{
	int i;

	take_signal(SIGSYS, 0, take_sigsys);
	filter_call(SECCOMP_RET_TRAP);
	for (i = 0; i < 5; i++) {
		attack->seen[3] += syscall(CALL);
		visible();
	}
}

static void refuse_call(void)
{
	filter_call(SECCOMP_RET_ERRNO | EXDEV);
	attack->seen[0] = syscall(CALL);
	attack->seen[1] = errno;
}

/* The call has no tracer, so it fails with ENOSYS. */
static void trace_call(void)
{
	filter_call(SECCOMP_RET_TRACE | 5);
	attack->seen[0] = syscall(CALL);
	attack->seen[1] = errno;
}

static void kill_at_call(void)
{
	visible();
	filter_call(SECCOMP_RET_KILL_PROCESS);
	syscall(CALL);
	attack->seen[0] = 1;
}

static void *call(void *arg)
{
	visible();
	syscall(CALL);
	attack->seen[0] = 1;
	return NULL;
}

/* Only the thread that makes the call dies. */
static void kill_thread_at_call(void)
{
	pthread_t thread;

	filter_call(SECCOMP_RET_KILL_THREAD);
	pthread_create(&thread, NULL, call, NULL);
	usleep(100000);
}

/* A debugger and its target, both followed: the target makes so many steps. */
static void step_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		visible();
		_exit(6);
	}
	waitpid(pid, &status, 0);
	while (WIFSTOPPED(status)) {
		attack->seen[0]++;
		attack->seen[1] = attack->seen[1] * 31 +
				  ptrace(PTRACE_PEEKUSER, pid,
					 offsetof(struct user, regs.rip), 0);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &status, 0);
	}
	attack->seen[2] = status;
}

FIXTURE_VARIANT_ADD(attack, use_vfork) { .run = use_vfork };
FIXTURE_VARIANT_ADD(attack, share_memory) { .run = share_memory };
FIXTURE_VARIANT_ADD(attack, spawn_programs) { .run = spawn_programs };
FIXTURE_VARIANT_ADD(attack, fork_deep) { .run = fork_deep };
FIXTURE_VARIANT_ADD(attack, leave_threads) { .run = leave_threads };
FIXTURE_VARIANT_ADD(attack, execute_in_thread) { .run = execute_in_thread };
FIXTURE_VARIANT_ADD(attack, trap_call) { .run = trap_call };
FIXTURE_VARIANT_ADD(attack, refuse_call) { .run = refuse_call };
FIXTURE_VARIANT_ADD(attack, trace_call) { .run = trace_call };
FIXTURE_VARIANT_ADD(attack, kill_thread_at_call) { .run = kill_thread_at_call };
FIXTURE_VARIANT_ADD(attack, step_child) { .run = step_child };

FIXTURE_VARIANT_ADD(attack, kill_at_call) {
	.run = kill_at_call,
	.status = SIGSYS,
};

TEST_HARNESS_MAIN
