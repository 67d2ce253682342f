// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command on ptrace(2): the tracer
 *
 * Makes of each ptrace stop the record that /dev/utrace gives for the event,
 * and writes it to a pipe.  The number of a task in records is its thread id.
 * What ptrace does not tell is 0: the handler of a signal, the flags of a fork.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/audit.h>

#include "format/namespaces.h"
#include "lib/memory.h"
#include "requests.h"

/* The bit of asm/unistd.h, whose other names <sys/syscall.h> has. */
#define X32_BIT		0x40000000

/* Numbers of sigreturn(2) and rt_sigreturn(2) in the table of 32-bit calls. */
#define IA32_SIGRETURN		(119 | UTRACE_NR_IA32)
#define IA32_RT_SIGRETURN	(173 | UTRACE_NR_IA32)

/**
 * struct task - a traced task
 * @tgid: its process
 * @number: number of its last record
 * @nr: number of the call that it is in
 * @asked: see struct utrace_rec_sys_enter
 * @args: arguments of that call
 * @compat: the call is one of the 32-bit table or of x32
 * @in_call: its last stop was the entry of a call
 * @stopped: it has reported a stop of job control and not its end
 * @ended: its exit was recorded
 */
struct task {
	pid_t tgid;
	__u32 number;
	__u32 nr;
	__u32 asked;
	__u64 args[6];
	bool compat;
	bool in_call;
	bool stopped;
	bool ended;
};

/*
 * The tasks by their ids, and how many there are; where the records go; what is
 * recorded; and whether new children are traced.
 */
static struct task **tasks;
static pid_t most;
static unsigned int ntasks;
static int out;
static struct request chosen;
static struct capture_choice choice;
static bool follows;

/* Tasks */

static pid_t process_of(pid_t tid)
{
	struct pid_numbers numbers;

	return pid_numbers_read(&numbers, tid) ? numbers.of[1][0] : tid;
}

static void read_most(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	int number;

	most = file && fscanf(file, "%d", &number) == 1 ? number : 1 << 22;
	if (file)
		fclose(file);
	tasks = checked(calloc(most + 1, sizeof(*tasks)));
}

static struct task *task_of(pid_t tid)
{
	struct task *task = tasks[tid];

	if (task)
		return task;
	task = checked(calloc(1, sizeof(*task)));
	task->tgid = process_of(tid);
	tasks[tid] = task;
	ntasks++;
	return task;
}

static void drop_task(pid_t tid)
{
	free(tasks[tid]);
	tasks[tid] = NULL;
	ntasks--;
}

/* Records */

static __u64 now(void)
{
	static __u64 last;
	struct timespec time;
	__u64 ns;

	clock_gettime(CLOCK_MONOTONIC, &time);
	ns = time.tv_sec * 1000000000ULL + time.tv_nsec;
	/* Records have different times. */
	last = ns > last ? ns : last + 1;
	return last;
}

/* If the command has exited, so does the tracer, which detaches all tasks. */
static void write_all(const void *from, size_t n)
{
	ssize_t part;

	for (; n; n -= part, from += part) {
		part = write(out, from, n);
		if (part <= 0)
			_exit(1);
	}
}

/* Write a record; @rec has room for @size bytes, with its header. */
static void write_record(pid_t tid, struct task *task, void *at,
			 enum utrace_rec_type type, size_t size,
			 const struct captured *items)
{
	struct utrace_rec *rec = at;

	*rec = (struct utrace_rec){
		.size = size + (items ? items->size : 0),
		.type = type,
		.items = items && items->size ? size : 0,
		.time = now(),
		.task = tid,
		.pid = task->tgid,
		.tid = tid,
		.number = ++task->number,
		.target = 1,
		.settings = 1,
		.flags = items ? items->flags : 0,
	};
	if (type == UTRACE_REC_SYS_ENTER)
		((struct utrace_rec_sys_enter *)at)->began = rec->time;
	write_all(at, size);
	if (items)
		write_all(items->data, items->size);
}

static bool is_wanted(const struct task *task)
{
	unsigned int i;

	for (i = 0; i < chosen.events.ncalls; i++)
		if (chosen.calls[i] == task->nr)
			return true;
	return !chosen.events.ncalls;
}

static void set_traced(pid_t tid, const struct task *task)
{
	traced = (struct traced){
		.tid = tid, .tgid = task->tgid, .compat = task->compat,
	};
}

static void unsigned_args(unsigned long to[6], const __u64 from[6])
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		to[i] = from[i];
}

/* Calls */

static void take_entry(pid_t tid, struct task *task,
		       const struct __ptrace_syscall_info *info)
{
	bool ia32 = info->arch == AUDIT_ARCH_I386;
	__u32 nr = info->entry.nr;
	unsigned int i;

	task->in_call = true;
	task->compat = ia32 || nr & X32_BIT;
	task->asked = 0;
	if (nr & UTRACE_NR_IA32 || nr == UTRACE_NR_NONE) {
		task->asked = nr;
		nr = UTRACE_NR_NONE;
	} else if (ia32) {
		nr |= UTRACE_NR_IA32;
	}
	task->nr = nr;
	for (i = 0; i < 6; i++)
		task->args[i] = ia32 ? (__u32)info->entry.args[i] :
				info->entry.args[i];
	set_traced(tid, task);
}

static void record_entry(pid_t tid, struct task *task)
{
	struct utrace_rec_sys_enter rec = {
		.nr = task->nr, .asked = task->asked,
	};
	struct captured items = {};
	unsigned long args[6];

	if (!(chosen.events.events & UTRACE_REC_BIT(SYS_ENTER)) ||
	    !is_wanted(task))
		return;
	memcpy(rec.args, task->args, sizeof(rec.args));
	unsigned_args(args, task->args);
	if (choice.what)
		captured_entry(&items, &choice, task->nr, args);
	write_record(tid, task, &rec, UTRACE_REC_SYS_ENTER, sizeof(rec), &items);
	captured_free(&items);
}

static bool is_sigreturn(__u32 nr)
{
	return nr == SYS_rt_sigreturn || nr == IA32_SIGRETURN ||
	       nr == IA32_RT_SIGRETURN;
}

static void record_exit(pid_t tid, struct task *task, __s64 ret)
{
	struct utrace_rec_sys_exit rec = {
		.nr = task->nr, .asked = task->asked, .ret = ret,
	};
	struct captured items = {};
	unsigned long args[6];

	task->in_call = false;
	if (!(chosen.events.events & UTRACE_REC_BIT(SYS_EXIT)) ||
	    !is_wanted(task))
		return;
	set_traced(tid, task);
	unsigned_args(args, task->args);
	if (is_sigreturn(task->nr)) {
		rec.nr = UTRACE_NR_NONE;
		rec.asked = ~0U;
	} else if (choice.what) {
		captured_exit(&items, &choice, task->nr, args, ret);
	}
	write_record(tid, task, &rec, UTRACE_REC_SYS_EXIT, sizeof(rec), &items);
	captured_free(&items);
}

static void take_call(pid_t tid, struct task *task)
{
	struct __ptrace_syscall_info info = {};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) < 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		take_entry(tid, task, &info);
		record_entry(tid, task);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->in_call) {
		record_exit(tid, task, info.exit.rval);
	}
}

/* Other events */

static void record_fork(pid_t tid, struct task *task, int event, pid_t child)
{
	/* The child may have ended by now: its first stop adds it, not this. */
	struct utrace_rec_fork rec = {
		.child_task = child,
		.child_pid = tasks[child] ? tasks[child]->tgid : process_of(child),
		.child_tid = child,
		.exit_signal = event == PTRACE_EVENT_CLONE ? 0 : SIGCHLD,
	};

	write_record(tid, task, &rec, UTRACE_REC_FORK, sizeof(rec), NULL);
}

/* The leader of a process takes over from thread @old, which has executed. */
static struct task *take_over(pid_t tid, pid_t old)
{
	struct task *task = task_of(old), *leader = task_of(tid);

	if (old == tid)
		return task;
	*leader = *task;
	drop_task(old);
	return leader;
}

static void record_exec(pid_t tid, pid_t old)
{
	struct task *task = take_over(tid, old);
	struct utrace_rec_exec rec = { .old_task = old, .old_tid = old };
	struct captured items = {};

	set_traced(tid, task);
	captured_program(&items, &choice);
	write_record(tid, task, &rec, UTRACE_REC_EXEC, sizeof(rec), &items);
	captured_free(&items);
}

static bool is_in_exec(const struct task *task)
{
	return task && task->in_call &&
	       (task->nr == SYS_execve || task->nr == SYS_execveat);
}

/* Return the thread that ends this leader by its execve(), 0 if none does. */
static pid_t successor_of(pid_t leader)
{
	pid_t tid, found = 0;
	struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid_in_proc(leader));
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		tid = atoi(entry->d_name);
		if (tid != leader && is_in_exec(tasks[tid]))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void record_end(pid_t tid, struct task *task, int status)
{
	struct utrace_rec_exit rec = { .code = status };

	if (task->ended)
		return;
	if (tid == task->tgid)
		rec.exec_tid = successor_of(tid);
	task->ended = true;
	write_record(tid, task, &rec, UTRACE_REC_EXIT, sizeof(rec), NULL);
}

static void record_signal(pid_t tid, struct task *task)
{
	struct utrace_rec_signal rec = {};
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return;
	memcpy(rec.info, &info, sizeof(rec.info));
	write_record(tid, task, &rec, UTRACE_REC_SIGNAL, sizeof(rec), NULL);
}

static void record_jobctl(pid_t tid, struct task *task, int type, int signal)
{
	struct utrace_rec_jobctl rec = { .type = type, .signal = signal };

	task->stopped = type == CLD_STOPPED;
	write_record(tid, task, &rec, UTRACE_REC_JOBCTL, sizeof(rec), NULL);
}

/*
 * PTRACE_EVENT_STOP: a stop of job control, its end, or the first stop of a
 * task.  Returns the request that continues the task.
 */
static int take_stop(pid_t tid, struct task *task, int signal)
{
	if (signal != SIGTRAP) {
		record_jobctl(tid, task, CLD_STOPPED, signal);
		return PTRACE_LISTEN;
	}
	if (task->stopped)
		record_jobctl(tid, task, CLD_CONTINUED, 0);
	return PTRACE_SYSCALL;
}

/* Wait until the command has read all records, for a second at most. */
static void await_reader(void)
{
	unsigned int turns = 5000;
	int unread;

	while (turns-- && !ioctl(out, FIONREAD, &unread) && unread)
		usleep(200);
}

/*
 * The command looks names and numbers of a task up when it prints a record.  Let
 * the task exit after that, so that what is printed does not depend on how busy
 * the machine is.  The command reads the padding after it has printed the rest.
 */
static void await_command(void)
{
	struct utrace_rec pad = { .size = sizeof(pad), .type = UTRACE_REC_PAD };

	await_reader();
	write_all(&pad, sizeof(pad));
	await_reader();
}

static void take_status(pid_t tid, int status)
{
	int event = status >> 16, signal = 0, go = PTRACE_SYSCALL;
	unsigned long message = 0;
	struct task *task;

	/* CLONE_PTRACE makes a child a tracee that nobody has asked for. */
	if (!tasks[tid] && !follows) {
		ptrace(PTRACE_DETACH, tid, NULL, 0);
		return;
	}
	task = task_of(tid);
	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		record_end(tid, task, status);
		drop_task(tid);
		return;
	}
	if (event)
		ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message);
	switch (event) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		record_fork(tid, task, event, message);
		break;
	case PTRACE_EVENT_EXEC:
		record_exec(tid, message);
		break;
	case PTRACE_EVENT_EXIT:
		await_command();
		record_end(tid, task, message);
		break;
	case PTRACE_EVENT_STOP:
		go = take_stop(tid, task, WSTOPSIG(status));
		break;
	default:
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			take_call(tid, task);
			break;
		}
		record_signal(tid, task);
		signal = WSTOPSIG(status);
	}
	ptrace(go, tid, NULL, signal);
}

/* Requests */

static int attach_task(pid_t tid, bool follow)
{
	unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
				PTRACE_O_TRACEEXIT;

	follows |= follow;
	if (follow)
		options |= PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			   PTRACE_O_TRACEVFORK;
	if (ptrace(PTRACE_SEIZE, tid, NULL, options) ||
	    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return errno;
	task_of(tid);
	return 0;
}

static int attach_process(pid_t tid)
{
	int error = attach_task(tid, true);
	struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", tid);
	dir = error ? NULL : opendir(path);
	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) && atoi(entry->d_name) != tid)
			attach_task(atoi(entry->d_name), true);
	if (dir)
		closedir(dir);
	return error;
}

static int choose(const struct request *request)
{
	chosen = *request;
	choice = (struct capture_choice){
		.what = chosen.events.capture,
		.strings = chosen.events.string_size,
		.buffers = chosen.events.buffer_size,
	};
	return 0;
}

static void take_request(int control)
{
	static struct request request;
	int error;

	if (read(control, &request, sizeof(request)) != sizeof(request) ||
	    request.kind == REQUEST_END)
		_exit(0);
	if (request.kind == REQUEST_CHOOSE)
		error = choose(&request);
	else if (request.scope == UTRACE_SCOPE_TREE)
		error = attach_process(request.tid);
	else
		error = attach_task(request.tid, false);
	if (write(control, &error, sizeof(error)) != sizeof(error))
		_exit(1);
}

/* Handle the stops of all tasks.  Returns false if the last task has ended. */
static bool take_stops(void)
{
	pid_t tid;
	int status;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		take_status(tid, status);
	return ntasks;
}

static int child_signals(void)
{
	sigset_t set;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, i == SIGCHLD ? SIG_DFL : SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/**
 * tracer_run() - trace until the last task has ended
 * @control: socket of requests
 * @records: pipe for the records
 *
 * The tasks run on when the tracer exits.
 */
void tracer_run(int control, int records)
{
	struct pollfd fds[] = {
		{ .fd = child_signals(), .events = POLLIN },
		{ .fd = control, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	bool began = false;

	out = records;
	read_most();
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			take_request(control);
		if (!fds[0].revents)
			continue;
		/* The signal before the tasks, so that no stop is missed. */
		(void)!read(fds[0].fd, &info, sizeof(info));
		if (take_stops())
			began = true;
		else if (began)
			_exit(0);
	}
}
