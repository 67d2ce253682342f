// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - words and markers of one process among many
 *
 * The program is process 1 of a guest whose clock counts instructions.  It makes a
 * file with a marker, which processes map.  Arming is measured by the CPU time of
 * the task that arms, as ftrace sleeps, and the clock of the guest leaps ahead to the
 * next timer then; the other rows are measured by the TSC.
 */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/utrace.h>
#include <linux/utrace_marker.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "markers.h"

#define DEVICE		"/dev/utrace"
#define EVENTS		TRACING "/uprobe_events"
#define ENABLE		TRACING "/events/bench/marked/enable"
#define REPORT		"/sys/module/utrace_report/parameters/"
#define UPROBE_TYPE	"/sys/bus/event_source/devices/uprobe/type"
#define RING_SIZE	(16 << 20)

struct owner owner;

static bool quick;

/* Memory of all processes: how many have begun to sleep so far. */
static struct shared {
	_Atomic int ready;
} *shared;

static long number_in(const char *path)
{
	int fd = open(path, O_RDONLY);
	char text[32] = "";

	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, path);
	close(fd);
	return atol(text);
}

/* Clocks */

/* Instructions of the current task: the CPU time in ns. */
unsigned long cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Instructions for one of the @ops operations of @loop, the least of @blocks. */
double per_op(unsigned long (*clock)(void), void (*loop)(long n), long ops, int blocks)
{
	unsigned long least = -1;

	loop(ops);
	while (blocks--) {
		unsigned long begun = clock();

		loop(ops);
		begun = clock() - begun;
		if (begun < least)
			least = begun;
	}
	return (double)least / ops;
}

static void million_nops(long n)
{
	while (n--)
		asm volatile(".rept 1000000\n\tnop\n\t.endr");
}

/* The CPU time has the instructions of reading it as well. */
static void calibrate(void)
{
	double n = per_op(tsc, million_nops, 1, 10);

	errno = 0;
	must(n >= 1000000 && n <= 1000100, "the TSC counts instructions");
	n = per_op(cpu_time, million_nops, 1, 10);
	must(n >= 1000000 && n <= 1005000, "CPU time counts instructions");
}

/* The fair scheduler updates averages by the time, SCHED_FIFO has none. */
static void be_fifo(void)
{
	struct sched_param param = { .sched_priority = 1 };

	must(!sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO");
}

/* The file */

static const struct marked file = {
	.pass = {
		.cmp = { 0x66, 0x83, 0x3d },
		.distance = OFFSET(semaphore) - OFFSET(pass.jne),
		.jne = { 0x75, OFFSET(site) - OFFSET(pass.ret) },
		.ret = 0xc3,
	},
	.site = { [0 ... SITES - 1] = { 0x90, 0xc3 } },
	.further = { [0 ... FURTHER - 1] = { 0x90, 0xc3 } },
};

typedef void (*marked)(long a, long b);

static void make_file(void)
{
	int fd = open(FILE_PATH, O_WRONLY | O_CREAT, 0755);

	must(fd >= 0 && write(fd, &file, sizeof(file)) == sizeof(file),
	     FILE_PATH);
	close(fd);
}

static void map_page(int fd, unsigned long offset, int prot)
{
	void *at = (void *)(PLACE + offset);

	must(mmap(at, PAGE, prot, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd,
		  offset) == at, "mmap of the file");
}

/* Map the file, and have both pages in memory. */
void map_file(void)
{
	int fd = open(FILE_PATH, O_RDONLY);

	must(fd >= 0, FILE_PATH);
	map_page(fd, 0, PROT_READ | PROT_EXEC);
	map_page(fd, PAGE, PROT_READ | PROT_WRITE);
	close(fd);
	((marked)MAPPED(pass))(0, 0);
	((struct marked *)PLACE)->touched = 1;
}

/* Processes */

/* A process that sleeps, once it has done @begin. */
pid_t sleeper(void (*begin)(void))
{
	int before = shared->ready;
	pid_t pid = fork();

	if (!pid) {
		begin();
		shared->ready++;
		for (;;)
			pause();
	}
	must(pid > 0, "fork");
	while (shared->ready == before)
		usleep(1000);
	return pid;
}

void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void grow_crowd(struct crowd *crowd, int n, void (*begin)(void))
{
	while (crowd->n < n)
		crowd->pids[crowd->n++] = sleeper(begin);
}

void end_crowd(struct crowd *crowd)
{
	while (crowd->n)
		end(crowd->pids[--crowd->n]);
}

void crowd_rows(void (*begin)(void), void (*rows)(const struct crowd *crowd))
{
	static const int counts[] = { 1, 10, 100, 1000, MOST };
	static struct crowd crowd;
	int i;

	for (i = 0; i < (int)(sizeof(counts) / sizeof(*counts)); i++) {
		if (quick && counts[i] == MOST)
			break;
		grow_crowd(&crowd, counts[i], begin);
		if (!owner.target)
			owner = own(crowd.pids[0], 0);
		rows(&crowd);
	}
	end_crowd(&crowd);
}

/* Run something in a process of its own, so that it leaves nothing behind. */
static void in_child(void (*run)(void))
{
	pid_t pid = fork();

	if (!pid) {
		run();
		_exit(0);
	}
	must(pid > 0, "fork");
	waitpid(pid, NULL, 0);
	/* Wait until engines and probes are gone. */
	usleep(100000);
}

/* Tracers */

/* Records are dropped if there is no room, so the target may be the current process. */
struct owner own(pid_t pid, __u64 ring_size)
{
	struct utrace_ioc_setup setup = {
		.rings_size = ring_size,
		.full = UTRACE_FULL_DROP,
	};
	struct utrace_ioc_attach attach = {
		.where = {
			.scope = UTRACE_SCOPE_PROCESS,
			.fd = syscall(SYS_pidfd_open, pid, 0),
		},
	};
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	must(fd >= 0, DEVICE);
	must(attach.where.fd >= 0, "pidfd_open");
	must(!ioctl(fd, UTRACE_IOC_SETUP, &setup), "UTRACE_IOC_SETUP");
	must(!ioctl(fd, UTRACE_IOC_ATTACH, &attach), "UTRACE_IOC_ATTACH");
	close(attach.where.fd);
	return (struct owner){ fd, attach.id };
}

__u64 hits_of(const struct owner *by)
{
	struct utrace_hit_count count = {};
	struct utrace_ioc_hits read = {
		.rows = { .at = (__u64)&count, .n = 1, .size = sizeof(count) },
		.target = by->target,
		.what = UTRACE_HITS_COUNT,
	};

	must(!ioctl(by->session, UTRACE_IOC_HITS, &read) && read.rows.total == 1,
	     "UTRACE_IOC_HITS");
	return count.hits;
}

__u32 arm_word(unsigned long addr)
{
	const struct utrace_word word = {
		.addr = addr, .kind = UTRACE_WORD_BIT32,
	};
	struct utrace_ioc_arm arm = {
		.target = owner.target,
		.type = UTRACE_ARM_WORD,
		.spec = (__u64)&word,
		.spec_size = sizeof(word),
	};

	must(!ioctl(owner.session, UTRACE_IOC_ARM, &arm) &&
	     arm.state == UTRACE_ARM_STATE_ARMED, "UTRACE_IOC_ARM of a word");
	return arm.id;
}

void disarm(__u32 id)
{
	struct utrace_ioc_disarm disarm = { .id = id };

	must(!ioctl(owner.session, UTRACE_IOC_DISARM, &disarm),
	     "UTRACE_IOC_DISARM");
}

/* A marker with two arguments: those of the function. */
static struct utrace_marker marker(int i)
{
	return (struct utrace_marker){
		.fd = open(FILE_PATH, O_RDONLY),
		.offset = OFFSET(site[i]),
		.semaphore = OFFSET(semaphore),
		.nargs = 2,
		.args = {
			{ .size = 8, .kind = UTRACE_ARG_REG,
			  .reg = PERF_REG_X86_DI,
			  .index = UTRACE_ARG_NO_REG },
			{ .size = -4, .kind = UTRACE_ARG_REG,
			  .reg = PERF_REG_X86_SI,
			  .index = UTRACE_ARG_NO_REG },
		},
	};
}

static __u32 arm_marker(const struct utrace_marker *site, __u32 flags)
{
	struct utrace_ioc_arm arm = {
		.target = owner.target,
		.type = UTRACE_ARM_MARKER,
		.flags = flags,
		.spec = (__u64)site,
		.spec_size = sizeof(*site),
	};

	must(!ioctl(owner.session, UTRACE_IOC_ARM, &arm),
	     "UTRACE_IOC_ARM of a site");
	return arm.id;
}

void arm_site(int i, __u32 flags)
{
	const struct utrace_marker site = marker(i);

	arm_marker(&site, flags);
	close(site.fd);
}

int value_at(pid_t pid, unsigned long addr)
{
	__u16 value;
	struct iovec here = { &value, sizeof(value) };
	struct iovec there = { (void *)addr, sizeof(value) };

	must(process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(value),
	     "process_vm_readv");
	return value;
}

/* Arming in one of many processes */

static void words_loop(long n)
{
	while (n--)
		disarm(arm_word(MAPPED(word[0])));
}

void sites_loop(long n)
{
	const struct utrace_marker site = marker(0);

	while (n--)
		disarm(arm_marker(&site, UTRACE_ARM_F_COUNT));
	close(site.fd);
}

/* ftrace arms the marker in all processes. */
void tracefs_loop(long n)
{
	while (n--) {
		write_file(ENABLE, "1");
		write_file(ENABLE, "0");
	}
}

int perf_arm(pid_t pid, int i)
{
	static int type;
	struct perf_event_attr attr = {
		.type = type ?: (type = number_in(UPROBE_TYPE)),
		.size = sizeof(attr),
		/* The high half is the place of the semaphore in the file. */
		.config = OFFSET(semaphore) << 32,
		.uprobe_path = (unsigned long)FILE_PATH,
		.probe_offset = OFFSET(site[i]),
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	must(fd >= 0, "perf_event_open");
	return fd;
}

/* The process in which perf_loop() arms. */
static pid_t perf_target;

static void perf_loop(long n)
{
	while (n--)
		close(perf_arm(perf_target, 0));
}

void add_probe(void)
{
	char probe[128];

	snprintf(probe, sizeof(probe), "p:bench/marked %s:0x%lx(0x%lx)",
		 FILE_PATH, OFFSET(site[SITES - 1]), OFFSET(semaphore));
	write_file(EVENTS, probe);
}

void remove_probe(void)
{
	write_file(ENABLE, "0");
	write_file(EVENTS, "-:bench/marked");
}

void arm_row(const char *name, int n, void (*loop)(long n), long ops,
	     int blocks)
{
	char full[64];

	snprintf(full, sizeof(full), "%s_%d", name, n);
	say(full, per_op(cpu_time, loop, ops, blocks));
}

/* Check that perf raises the semaphore of the first process only. */
static void check_perf(const struct crowd *crowd)
{
	const unsigned long at = MAPPED(semaphore);
	int fd = perf_arm(crowd->pids[0], 0);

	must(value_at(crowd->pids[0], at) == 1 &&
	     (crowd->n == 1 || !value_at(crowd->pids[crowd->n - 1], at)),
	     "perf arms the marker of one process");
	close(fd);
}

/* All processes have the file mapped. */
static void arm_rows(const struct crowd *crowd)
{
	const int n = crowd->n;

	arm_row("arm_word_one_of", n, words_loop, 20, 20);
	arm_row("arm_site_one_of", n, sites_loop, 5, 10);
	must(!value_at(crowd->pids[0], MAPPED(semaphore)), "no semaphore is raised");
	check_perf(crowd);
	perf_target = crowd->pids[0];
	arm_row("perf_uprobe_one_of", n, perf_loop, 1, 2);
	arm_row("tracefs_uprobe_enable", n, tracefs_loop, 1, 2);
}

static void arming(void)
{
	add_probe();
	crowd_rows(map_file, arm_rows);
	remove_probe();
}

/* Hits */

static long all_hits;

static void hits(long n)
{
	marked site = (marked)MAPPED(site[0]);
	long i;

	all_hits += n;
	for (i = 0; i < n; i++)
		site(i, -i);
}

static double hit_cost(void)
{
	return per_op(tsc, hits, 100, 20);
}

static void plain_hits(void)
{
	map_file();
	say("hit_plain", hit_cost());
}

/* Have a module of bench/probe at the marker. */
static void load_at_marker(const char *path, const char *more)
{
	char args[128];

	snprintf(args, sizeof(args), "path=%s offset=%lu %s", FILE_PATH,
		 OFFSET(site[0]), more);
	load_module(path, args);
}

static void unload_module(const char *name)
{
	must(!syscall(SYS_delete_module, name, 0), name);
}

static void probe_hits(void)
{
	map_file();
	load_at_marker("/utrace_probe.ko", "");
	say("hit_uprobe", hit_cost());
	unload_module("utrace_probe");
}

/* A row is refused unless the module gets each hit and its reports. */
static void module_hits(const char *name, bool report, const char *more)
{
	char args[64];

	snprintf(args, sizeof(args), "report=%d %s", report, more);
	map_file();
	load_at_marker("/utrace_report.ko", args);
	say(name, hit_cost());
	must(number_in(REPORT "hits") == all_hits &&
	     number_in(REPORT "reports") == (report ? all_hits : 0),
	     "a callback for each hit");
	unload_module("utrace_report");
}

static void client_hits(void)
{
	module_hits("hit_client", false, "");
}

static void report_hits(void)
{
	module_hits("hit_report", true, "");
}

/* As before, and the owner has further markers. */
static void report_hits_among(void)
{
	char more[48];

	snprintf(more, sizeof(more), "more=%d more_offset=%lu", FURTHER,
		 OFFSET(further));
	module_hits("hit_report_among", true, more);
}

/* A row is refused unless each hit is counted, and has its record, if any. */
static void marker_hits(const char *name, __u32 flags)
{
	struct utrace_ioc_info begun, ended;
	long records;

	map_file();
	owner = own(getpid(), RING_SIZE);
	arm_site(0, flags);
	must(!ioctl(owner.session, UTRACE_IOC_INFO, &begun), "UTRACE_IOC_INFO");
	say(name, hit_cost());
	must(!ioctl(owner.session, UTRACE_IOC_INFO, &ended), "UTRACE_IOC_INFO");
	records = ended.records - begun.records;
	must(hits_of(&owner) == (__u64)all_hits && !ended.lost &&
	     records == (flags & UTRACE_ARM_F_COUNT ? 0 : all_hits),
	     "a record or a count for each hit");
}

static void recorded_hits(void)
{
	marker_hits("hit_record", 0);
}

static void counted_hits(void)
{
	marker_hits("hit_count", UTRACE_ARM_F_COUNT);
}

/* Bystanders */

static void passes(long n)
{
	marked pass = (marked)MAPPED(pass);

	while (n--)
		pass(0, 0);
}

/* Passes of a marker that another process has armed. */
static void bystander(void)
{
	pid_t other = sleeper(map_file);

	map_file();
	say("pass_alone", per_op(tsc, passes, 1000, 20));
	owner = own(other, 0);
	arm_site(0, UTRACE_ARM_F_COUNT);
	must(value_at(other, MAPPED(semaphore)) == 1 &&
	     !value_at(getpid(), MAPPED(semaphore)),
	     "the semaphore of the other process only");
	say("pass_bystander", per_op(tsc, passes, 1000, 20));
	end(other);
}

static void set_up(void)
{
	mount("none", "/proc", "proc", 0, NULL);
	mount("none", "/sys", "sysfs", 0, NULL);
	must(!mount("none", TRACING, "tracefs", 0, NULL), TRACING);
	must(!mount("none", "/dev", "devtmpfs", 0, NULL), "/dev");
	quick = getenv("bench_quick");
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	be_fifo();
	make_file();
}

static void usual_rows(void)
{
	/* First, as the hooks for markers stay on for a second after the last. */
	in_child(forks_beside_perf);
	in_child(forks);
	in_child(plain_hits);
	in_child(probe_hits);
	in_child(recorded_hits);
	in_child(counted_hits);
	in_child(client_hits);
	in_child(report_hits);
	in_child(report_hits_among);
	in_child(bystander);
	in_child(bystander_sites);
	in_child(arming);
	in_child(user_events);
	in_child(absent_pages);
	in_child(event_writes);
}

/* Rows that a kernel without utrace has, too. */
static void probe_rows(void)
{
	in_child(plain_hits);
	in_child(probe_hits);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		be_crowded();
	set_up();
	calibrate();
	if (getenv("bench_forks"))
		in_child(forks_while_arming);
	else if (getenv("bench_probe"))
		probe_rows();
	else
		usual_rows();
	all_said();
	return 0;
}
