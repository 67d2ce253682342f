// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: records, and how they are read
 *
 * Order and numbers of records, read() and poll(), the loss of records, and
 * what the types of records and their captures contain.
 */
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "dev.h"

/*
 * Check that the numbers of one task's records start at @number and have no
 * gap.  Returns the number after the last record.
 */
static __u32 in_order(__u32 number, bool *good)
{
	struct utrace_rec *rec;
	__u64 time = 0;

	for_each_record(rec) {
		*good = *good && rec->number == number && rec->time > time &&
			!(rec->size % 8) && rec->items <= rec->size;
		time = rec->time;
		number++;
	}
	return number;
}

TEST_F(dev, record)
{
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec_sys_exit *exit;
	struct timespec before, after;
	struct target target;
	int fd, j, id, pidfd;
	struct stat inode;

	start(&target);
	fd = session();
	id = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	need(id > 0, "attach");
	need(!choose_marks(fd), "choose");
	clock_gettime(CLOCK_MONOTONIC, &before);
	have(&target, SELF, mark, 1);
	clock_gettime(CLOCK_MONOTONIC, &after);
	is(2, take(fd), "a call is two records");
	enter = (void *)find(UTRACE_REC_SYS_ENTER, target.pid);
	exit = (void *)find(UTRACE_REC_SYS_EXIT, target.pid);
	if (!holds(enter && exit, "an entry and an exit"))
		return;
	/* Where the clock does not advance, each record is 1 ns later. */
	holds(enter->head.time >= before.tv_sec * 1000000000ULL +
					  before.tv_nsec &&
		      enter->head.time < exit->head.time &&
		      exit->head.time <= after.tv_sec * 1000000000ULL +
						 after.tv_nsec + 2,
	      "the times lie between those before and after");
	is(enter->head.time, enter->began, "the call began at the entry");
	holds(enter->head.cpu < sysconf(_SC_NPROCESSORS_CONF), "a CPU");
	holds(enter->head.target == (__u32)id && exit->head.target == (__u32)id,
	      "the target");
	holds(enter->head.settings == 1 && exit->head.settings == 1,
	      "the settings");
	pidfd = pidfd_of(target.pid, 0);
	need(!fstat(pidfd, &inode), "fstat");
	holds(enter->head.task == inode.st_ino && exit->head.task == inode.st_ino,
	      "the task has the inode number of its pidfd");
	close(pidfd);
	holds(enter->head.size == sizeof(*enter) &&
	      exit->head.size == sizeof(*exit),
	      "their sizes");
	holds(enter->head.pid == target.pid && exit->head.pid == target.pid,
	      "their process");
	holds(enter->head.number == 1 && exit->head.number == 2,
	      "their numbers");
	for (j = 0; j < 6 && enter->args[j] == (__u64)j + 1; j++)
		;
	is(6, j, "arguments of the entry");
	is(getpid(), exit->ret, "the result");
	is(0, exit->head.flags, "no flags");
	close(fd);
	stop(&target);
}

TEST_F(dev, read)
{
	char buffer[512], *page;
	struct utrace_rec *rec = (void *)buffer;
	struct target target;
	bool good = true;
	int fd, i;
	__u32 number;

	start(&target);
	fd = session();
	is(-1, read(fd, buffer, sizeof(buffer)),
	   "read: a new session has nothing");
	is(EAGAIN, errno, "read: that is EAGAIN");
	need(!setup(fd, 64 << 10), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	errno = 0;
	holds(read(fd, buffer, sizeof(buffer)) == -1 && errno == EAGAIN,
	      "read: nothing is EAGAIN");
	holds(read(fd, buffer, 0) == -1 && errno == EINVAL,
	      "read: 0 bytes are EINVAL, with nothing to read");
	holds(write(fd, buffer, 8) == -1, "there is nothing to write");
	have(&target, SELF, mark, 4);
	errno = 0;
	holds(read(fd, buffer, sizeof(struct utrace_rec_sys_enter) - 1) == -1 &&
	      errno == EINVAL,
	      "read: a buffer that is one byte too small is EINVAL");
	errno = 0;
	holds(read(fd, buffer, 0) == -1 && errno == EINVAL,
	      "read: so are 0 bytes");
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(page != MAP_FAILED && !munmap(page + 4096, 4096), "mmap");
	errno = 0;
	holds(read(fd, page + 4096, 4096) == -1 && errno == EFAULT,
	      "read: a bad buffer is EFAULT");
	errno = 0;
	holds(read(fd, page + 4096 - 8, 4096) == -1 && errno == EFAULT,
	      "read: so is one that begins well");
	is(sizeof(struct utrace_rec_sys_enter),
	   read(fd, buffer, sizeof(struct utrace_rec_sys_enter) + 8),
	   "read: one whole record and no part of the next");
	holds(rec->number == 1 && rec->type == UTRACE_REC_SYS_ENTER,
	      "read: it was there all the time");
	is(sizeof(struct utrace_rec_sys_exit) +
		   sizeof(struct utrace_rec_sys_enter),
	   read(fd, buffer,
		sizeof(struct utrace_rec_sys_exit) +
			sizeof(struct utrace_rec_sys_enter)),
	   "read: two that just fit");
	is(2, rec->number, "read: these follow");
	is(5, take(fd), "read: the rest");
	number = in_order(4, &good);
	holds(good && number == 9, "read: numbers without a gap");
	/* Records pass the end of the ring many times. */
	for (i = 0; i < 60; i++) {
		have(&target, SELF, mark, 53);
		take(fd);
		number = in_order(number, &good);
		good = good && marks(UTRACE_REC_SYS_ENTER, target.pid) == 53 &&
		       marks(UTRACE_REC_SYS_EXIT, target.pid) == 53;
	}
	holds(good && number == 9 + 60 * 106,
	      "read: numbers without a gap, round the ring");
	is(number - 1, info(fd).records, "INFO has as many");
	is(0, info(fd).lost, "INFO: none is lost");
	munmap(page, 4096);
	close(fd);
	stop(&target);
}

static void *mark_later(void *target)
{
	usleep(300000);
	tell(target, SELF, mark, 1);
	return NULL;
}

static void no_handler(int sig)
{
}

static void *signal_later(void *thread)
{
	int i;

	for (i = 0; i < 20; i++) {
		usleep(100000);
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
	}
	return NULL;
}

TEST_F(dev, wait)
{
	struct sigaction action = { .sa_handler = no_handler };
	pthread_t thread, reader = pthread_self();
	struct pollfd pfd = { .events = POLLIN };
	struct target target;
	char buffer[4096];
	time_t began;
	int fd;

	start(&target);
	fd = session();
	pfd.fd = fd;
	need(!setup(fd, 0), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	is(0, poll(&pfd, 1, 0), "poll: nothing is there");
	is(0, poll(&pfd, 1, 200), "poll: nor for a while");
	need(!pthread_create(&thread, NULL, mark_later, &target), "thread");
	began = time(NULL);
	is(1, poll(&pfd, 1, DEADLINE_MS), "poll: wakes");
	/* poll() checks again at its timeout, even if no event woke it. */
	holds(time(NULL) - began < DEADLINE_MS / 2000, "poll: at once");
	is(POLLIN, pfd.revents, "poll: POLLIN");
	pthread_join(thread, NULL);
	hear(&target, SELF);
	is(1, poll(&pfd, 1, 0), "poll: something is there");
	is(2, take(fd), "poll: the records are");
	is(0, poll(&pfd, 1, 0), "poll: all is read");
	fcntl(fd, F_SETFL, 0);
	need(!pthread_create(&thread, NULL, mark_later, &target), "thread");
	holds(read(fd, buffer, sizeof(buffer)) >=
		      (ssize_t)sizeof(struct utrace_rec_sys_enter),
	      "read: wakes");
	pthread_join(thread, NULL);
	hear(&target, SELF);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	take(fd);
	fcntl(fd, F_SETFL, 0);
	sigaction(SIGUSR1, &action, NULL);
	need(!pthread_create(&thread, NULL, signal_later, &reader), "thread");
	errno = 0;
	holds(read(fd, buffer, sizeof(buffer)) == -1 && errno == EINTR,
	      "read: a signal ends the wait");
	pthread_join(thread, NULL);
	close(fd);
	stop(&target);
}

/*
 * Check that each gap in the numbers of the only task has a LOST record with
 * the right count.  Returns the number of records, or 0 if the check fails.
 */
static __u64 add_up(__u64 *lost, __u32 *last)
{
	struct utrace_rec_lost *of;
	struct utrace_rec *rec;
	__u64 n = 0, gap = 0;
	bool good = true;

	for_each_record(rec) {
		if (rec->type == UTRACE_REC_LOST) {
			of = (void *)rec;
			gap += of->lost;
			*lost += of->lost;
			good = good && of->lost && rec->size == sizeof(*of) &&
			       rec->target == 1 && !rec->pid && !rec->tid &&
			       !rec->task && !rec->number;
			continue;
		}
		good = good && rec->number == *last + gap + 1;
		*last = rec->number;
		gap = 0;
		n++;
	}
	return good ? n : 0;
}

TEST_F(dev, lost)
{
	struct target target;
	__u64 n = 0, lost = 0, part;
	__u32 last = 0;
	int fd, i;

	start(&target);
	pin_to_cpu(target.pid, 0);
	fd = session();
	need(!setup(fd, 64 << 10), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 3000);
	is(6000, info(fd).records + info(fd).lost,
	   "INFO counts records and lost ones");
	take(fd);
	part = add_up(&lost, &last);
	holds(part > info(fd).ring_size / 112 &&
	      part <= info(fd).ring_size / 80,
	      "the ring of a CPU is full (%llu)", part);
	is(6000 - part, info(fd).lost, "INFO: the others are lost");
	is(0, lost, "LOST comes with the next record");
	is(last, part, "what was not read is not overwritten");
	n += part;
	have(&target, SELF, mark, 1);
	is(3, take(fd), "LOST and two records");
	part = add_up(&lost, &last);
	is(2, part, "LOST: the numbers before and behind it fit");
	is(info(fd).lost, lost, "LOST has the number of them");
	n += part;
	for (i = 0; i < 20; i++) {
		have(&target, SELF, mark, 300 + 7 * i);
		take(fd);
		part = add_up(&lost, &last);
		if (!part)
			break;
		n += part;
	}
	is(20, i, "each gap has the right number, again and again");
	have(&target, SELF, mark, 1);
	take(fd);
	n += add_up(&lost, &last);
	is(last, n + lost, "records and lost ones are the last number");
	is(info(fd).records, n, "and what INFO says");
	is(info(fd).lost, lost, "of these the lost ones");
	close(fd);
	stop(&target);
}

/*
 * Numbers that no table has.  Without the bit of the 32-bit table the first one
 * would be getpid() there, and 39 is getpid() of the other table.
 */
static const __u32 odd_numbers[] = {
	UTRACE_NR_IA32 | 20, UTRACE_NR_IA32 | 0xdfffffff, UTRACE_NR_NONE,
	0x80000000 | 39, 9999,
};

static long call_odd_numbers(long unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(odd_numbers); i++)
		syscall(odd_numbers[i], 1, 2, 3, 4, 5, 6);
	return 0;
}

static long handle_a_signal(long unused)
{
	struct sigaction action = { .sa_handler = no_handler };

	sigaction(SIGUSR2, &action, NULL);
	return raise(SIGUSR2);
}

static long execute_with_argument(long unused)
{
	static char * const argv[] = { "true", "an argument", NULL };
	static char * const envp[] = { NULL };

	if (chdir("/proc"))
		_exit(1);
	execve("/bin/true", argv, envp);
	_exit(1);
}

static long use_files(long unused)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX,
				   .sun_path = "/no/such/socket"};
	int fd;

	fd = open("/no-such-file", O_RDONLY);
	fd = open("/dev/null", O_WRONLY);
	if (write(fd, "some bytes", 10) != 10)
		_exit(1);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (!connect(fd, (void *)&name, sizeof(name)))
		_exit(1);
	return close(fd);
}

/* Check whether a record has an item of @kind that begins with these bytes. */
static bool has_item(struct utrace_rec *rec, size_t head, int kind,
		     const void *begin, size_t size)
{
	struct utrace_item *item;
	size_t at;

	for (at = head; rec && at < rec->size;
	     at += sizeof(*item) + ((item->len + 7) & ~7)) {
		item = (void *)((char *)rec + at);
		if (item->kind == kind && item->len >= size &&
		    !memcmp(item->data, begin, size))
			return true;
	}
	return false;
}

static bool any_has_item(int type, size_t head, int kind, const void *begin,
			 size_t size)
{
	struct utrace_rec *rec;

	for_each_record(rec)
		if (rec->type == type && has_item(rec, head, kind, begin, size))
			return true;
	return false;
}

static bool await_type(int fd, int type)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 20; i++) {
		take(fd);
		if (find(type, 0))
			return true;
		usleep(20000);
	}
	return false;
}

static int count_exits(__u32 nr)
{
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec)
		n += rec->type == UTRACE_REC_SYS_EXIT &&
		     ((struct utrace_rec_sys_exit *)rec)->nr == nr;
	return n;
}

TEST_F(dev, types)
{
	struct utrace_rec_jobctl *jobctl;
	struct utrace_rec_signal *signal;
	struct utrace_rec_fork *forked;
	struct utrace_rec_exit *exit;
	struct target target;
	siginfo_t si;
	pid_t child;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd,
		     ALL_EVENTS & ~(UTRACE_REC_BIT(SYS_ENTER) |
					UTRACE_REC_BIT(SYS_EXIT)),
		     0, NULL, 0),
	     "choose");
	child = have(&target, SELF, fork_and_mark, 0);
	take(fd);
	forked = (void *)find(UTRACE_REC_FORK, target.pid);
	holds(forked && forked->child_pid == child &&
	      forked->child_tid == child,
	      "FORK: the child");
	holds(forked && forked->child_task > forked->head.task,
	      "FORK: its number");
	holds(forked && forked->exit_signal == SIGCHLD && !forked->reserved &&
	      !(forked->flags & CLONE_VM),
	      "FORK: its flags");
	is(0, count(UTRACE_REC_SYS_ENTER, 0) + count(UTRACE_REC_SYS_EXIT, 0),
	   "no calls");
	have(&target, SELF, handle_a_signal, 0);
	take(fd);
	signal = (void *)find(UTRACE_REC_SIGNAL, target.pid);
	memset(&si, 0, sizeof(si));
	if (signal)
		memcpy(&si, signal->info, sizeof(si));
	holds(si.si_signo == SIGUSR2 && si.si_code == SI_TKILL &&
	      si.si_pid == target.pid,
	      "SIGNAL: its siginfo_t");
	holds(signal && signal->handler == (unsigned long)no_handler,
	      "SIGNAL: its handler");
	need(!choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0), "choose");
	have(&target, SELF, handle_a_signal, 0);
	take(fd);
	is(1, count_exits(UTRACE_NR_NONE),
	   "SYS_EXIT: that of sigreturn has no number");
	is(0, count_exits(SYS_rt_sigreturn), "SYS_EXIT: not that of sigreturn");
	need(!choose(fd,
		     ALL_EVENTS & ~(UTRACE_REC_BIT(SYS_ENTER) |
					UTRACE_REC_BIT(SYS_EXIT)),
		     0, NULL, 0),
	     "choose");
	kill(target.pid, SIGSTOP);
	jobctl = await_type(fd, UTRACE_REC_JOBCTL)
			 ? (void *)find(UTRACE_REC_JOBCTL, 0)
			 : NULL;
	holds(jobctl && jobctl->type == CLD_STOPPED, "JOBCTL: stopped");
	kill(target.pid, SIGCONT);
	jobctl = await_type(fd, UTRACE_REC_JOBCTL)
			 ? (void *)find(UTRACE_REC_JOBCTL, 0)
			 : NULL;
	holds(jobctl && jobctl->type == CLD_CONTINUED, "JOBCTL: continued");
	tell(&target, SELF, exit_with, 7);
	holds(await_type(fd, UTRACE_REC_EXIT), "EXIT");
	exit = (void *)find(UTRACE_REC_EXIT, target.pid);
	is(7 << 8, exit ? exit->code : -1, "EXIT: its code");
	close(fd);
	stop(&target);
}

/* Count the records of a type whose call the program asked for by this number. */
static int count_asked(int type, __u32 asked)
{
	/* These members have the same offset in all records of calls. */
	struct utrace_rec_sys_exit *call;
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec) {
		call = (void *)rec;
		if (rec->type == type)
			n += call->nr == UTRACE_NR_NONE ?
			     call->asked == asked :
			     call->nr == asked && !call->asked;
	}
	return n;
}

/* A byte that is no signal, but has the bit of CLONE_NEWTIME: clone(2) takes it. */
static long clone_without_signal(long unused)
{
	pid_t pid = syscall(SYS_clone, 0x91, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, __WALL) != pid)
		_exit(97);
	return pid;
}

TEST_F(dev, clone_without_a_signal)
{
	struct utrace_rec_fork *fork;
	struct target target;
	int fd = session();

	start(&target);
	need(!choose(fd, UTRACE_REC_BIT(FORK), 0, NULL, 0), "choose");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	have(&target, SELF, clone_without_signal, 0);
	take(fd);
	fork = (void *)find(UTRACE_REC_FORK, target.pid);
	need(fork, "FORK");
	is(0, fork->flags, "FORK: no flag, not CLONE_NEWTIME either");
	is(0, fork->exit_signal, "FORK: no signal");
	close(fd);
	stop(&target);
}

/* A record has the number that a program asked for, whatever bits it has. */
TEST_F(dev, numbers)
{
	static const struct {
		const char *name;
		__u64 events;
		int type;
	} ways[] = {
		{ "entries", UTRACE_REC_BIT(SYS_ENTER), UTRACE_REC_SYS_ENTER },
		{ "exits", UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		  UTRACE_REC_SYS_EXIT },
		{ "whole calls", UTRACE_REC_BIT(SYS_CALL), UTRACE_REC_SYS_CALL },
	};
	struct target target;
	unsigned int i, j;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		settle(&target, SELF);
		take(fd);
		need(!choose(fd, ways[i].events, 0, NULL, 0), "choose");
		have(&target, SELF, call_odd_numbers, 0);
		take(fd);
		for (j = 0; j < ARRAY_SIZE(odd_numbers); j++)
			holds(count_asked(ways[i].type, odd_numbers[j]) == 1,
			      "%s: the number 0x%x", ways[i].name,
			      odd_numbers[j]);
	}
	close(fd);
	stop(&target);
}

static bool is_in_state(pid_t tid, char state)
{
	char line[512], *at;

	at = of_task(tid, "stat", line, sizeof(line)) ? strrchr(line, ')') : NULL;
	return at && at[1] == ' ' && at[2] == state;
}

static bool await_state(pid_t tid, char state)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (is_in_state(tid, state))
			return true;
		usleep(2000);
	}
	return false;
}

/* Count the JOBCTL records of this type and signal. */
static int count_jobctl(int type, int signal)
{
	struct utrace_rec_jobctl *jobctl;
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec) {
		jobctl = (void *)rec;
		n += rec->type == UTRACE_REC_JOBCTL && jobctl->type == type &&
		     jobctl->signal == signal;
	}
	return n;
}

/*
 * A task that its ptracer leaves in a group stop takes part in the stop again.
 * That is one stop.
 */
TEST_F(dev, one_stop)
{
	const int group_stop = SIGSTOP | PTRACE_EVENT_STOP << 8;
	struct target target;
	int fd, status;
	pid_t pid;

	start(&target);
	pid = target.pid;
	fd = session();
	need(attach(fd, pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, UTRACE_REC_BIT(JOBCTL), 0, NULL, 0), "choose");
	need(!ptrace(PTRACE_SEIZE, pid, 0, 0), "PTRACE_SEIZE");
	kill(pid, SIGSTOP);
	need(waitpid(pid, &status, 0) == pid && status >> 8 == SIGSTOP,
	     "the tracer sees the signal");
	need(!ptrace(PTRACE_CONT, pid, 0, SIGSTOP), "PTRACE_CONT");
	need(waitpid(pid, &status, 0) == pid && status >> 8 == group_stop,
	     "the tracer sees the stop");
	need(!ptrace(PTRACE_DETACH, pid, 0, 0), "PTRACE_DETACH");
	holds(await_state(pid, 'T'), "the task is stopped for job control");
	take(fd);
	is(1, count_jobctl(CLD_STOPPED, SIGSTOP), "one record of the stop");
	is(1, count(UTRACE_REC_JOBCTL, 0), "and no other");
	kill(pid, SIGCONT);
	holds(await_state(pid, 'S'), "it goes on");
	kill(pid, SIGSTOP);
	holds(await_state(pid, 'T'), "it is stopped once more");
	take(fd);
	is(1, count_jobctl(CLD_CONTINUED, 0), "one record of that it goes on");
	is(1, count_jobctl(CLD_STOPPED, SIGSTOP), "one of the next stop");
	kill(pid, SIGCONT);
	close(fd);
	stop(&target);
}

/* The flags of the exits from read(), the first one and the others. */
static void read_exits(__u16 *first, __u16 *others)
{
	struct utrace_rec_sys_exit *exit;
	struct utrace_rec *rec;
	bool was = false;

	*first = 0;
	*others = 0;
	for_each_record(rec) {
		exit = (void *)rec;
		if (rec->type != UTRACE_REC_SYS_EXIT || exit->nr != SYS_read)
			continue;
		if (was)
			*others |= rec->flags;
		else
			*first = rec->flags;
		was = true;
	}
}

/* The target waits for orders in a read() when it is attached. */
TEST_F(dev, unpaired)
{
	static const struct {
		const char *name;
		__u64 events;
		bool always;
		__u32 count;
	} ways[] = {
		{ "entries and exits", UTRACE_REC_BIT(SYS_ENTER) |
				       UTRACE_REC_BIT(SYS_EXIT) },
		{ "whole calls", UTRACE_REC_BIT(SYS_CALL) },
		{ "exits only", UTRACE_REC_BIT(SYS_EXIT), true },
		{ "exits only, and counts", UTRACE_REC_BIT(SYS_EXIT), true,
		  UTRACE_COUNT_CALLS },
	};
	struct utrace_ioc_events events;
	struct target target;
	__u16 first, others;
	unsigned int i;
	int fd;

	start(&target);
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		settle(&target, SELF);
		fd = session();
		events = (struct utrace_ioc_events){
			.events = ways[i].events, .count = ways[i].count,
		};
		need(!command(fd, UTRACE_IOC_EVENTS, &events), "choose");
		need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0,
		     "attach");
		have(&target, SELF, mark, 1);
		have(&target, SELF, mark, 1);
		take(fd);
		read_exits(&first, &others);
		holds(first & UTRACE_REC_F_UNPAIRED,
		      "%s: the call of the attach is unpaired", ways[i].name);
		holds(!!(others & UTRACE_REC_F_UNPAIRED) == ways[i].always,
		      "%s: those after it are%s", ways[i].name,
		      ways[i].always ? ", too" : " not");
		close(fd);
	}
	stop(&target);
}

TEST_F(dev, captures)
{
	static const char no_ids[32];
	struct target target;
	struct utrace_rec *rec;
	size_t enter = sizeof(struct utrace_rec_sys_enter);
	size_t head = sizeof(struct utrace_rec_exec);
	int fd, i;
	bool none;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	for (i = 0; i < 7; i++) {
		__u64 what = i < 6 ? 1 << i : 0;

		settle(&target, SELF);
		take(fd);
		need(!choose(fd,
			     UTRACE_REC_BIT(SYS_ENTER) |
				     UTRACE_REC_BIT(SYS_EXIT),
			     what, NULL, 0),
		     "choose");
		have(&target, SELF, use_files, 0);
		take(fd);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_STRING, "/no-such-file",
				   13) == (what == UTRACE_CAPTURE_STRINGS),
		      "capture %llx: the name of a file", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_BYTES, "some bytes",
				   10) == (what == UTRACE_CAPTURE_BUFFERS),
		      "capture %llx: what is written", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_SOCKADDR, "\1\0/no/such/socket",
				   17) == (what == UTRACE_CAPTURE_SOCKETS),
		      "capture %llx: a socket's name", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_FILE, "/dev/null",
				   9) == (what == UTRACE_CAPTURE_FILES),
		      "capture %llx: the file of a descriptor", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_STACK, "",
				   0) == (what == UTRACE_CAPTURE_STACK),
		      "capture %llx: the stack", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_RAW_STACK, "",
				   0) == (what == UTRACE_CAPTURE_RAW_STACK),
		      "capture %llx: the raw stack", what);
	}
	none = true;
	for_each_record(rec)
		if (rec->type == UTRACE_REC_SYS_ENTER)
			none = none && rec->size == enter;
	holds(none, "no capture: no items");
	settle(&target, SELF);
	need(!choose(fd, UTRACE_REC_BIT(EXEC), 0, NULL, 0), "choose");
	tell(&target, SELF, execute_with_argument, 0);
	holds(await_type(fd, UTRACE_REC_EXEC), "EXEC");
	rec = find(UTRACE_REC_EXEC, target.pid);
	holds(rec && any_has_item(UTRACE_REC_EXEC, head,
				  UTRACE_ITEM_ARGV, "true\0an argument", 17),
	      "EXEC: its arguments");
	holds(any_has_item(UTRACE_REC_EXEC, head, UTRACE_ITEM_CWD,
			   "/proc", 5),
	      "EXEC: its directory");
	holds(any_has_item(UTRACE_REC_EXEC, head, UTRACE_ITEM_EXE, "/",
			   1),
	      "EXEC: its program");
	holds(any_has_item(UTRACE_REC_EXEC, head, UTRACE_ITEM_CREDS,
			   no_ids, sizeof(no_ids)),
	      "EXEC: its credentials, those of root");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
