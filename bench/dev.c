// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - system calls that a session of /dev/utrace records
 *
 * The records go to rings that are large enough, so that none is lost and no
 * reader takes part; a row is refused unless each call has its records.  For
 * comparison, a BPF program writes the same members to a ring of BPF.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/utrace.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bench.h"

#define DEVICE		"/dev/utrace"
#define RING_SIZE	(64 << 20)

static void make_device(void)
{
	unsigned int major, minor;
	char text[32];

	read_file("/sys/class/misc/utrace/dev", text, sizeof(text));
	must(sscanf(text, "%u:%u", &major, &minor) == 2, "/sys/class/misc/utrace");
	must(!mknod(DEVICE, S_IFCHR | 0600, makedev(major, minor)) ||
	     errno == EEXIST, DEVICE);
}

/* Open a session that records @events of the current task. */
static int session(__u64 events, __u32 count)
{
	struct utrace_ioc_setup setup = {
		.rings_size = RING_SIZE,
		.full = UTRACE_FULL_DROP,
		.flags = UTRACE_SETUP_F_MAPPED,
	};
	struct utrace_ioc_attach attach = {
		.where.scope = UTRACE_SCOPE_PROCESS,
	};
	struct utrace_ioc_events choose = {
		.events = events,
		.count = count,
	};
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	must(fd >= 0, DEVICE);
	must(!ioctl(fd, UTRACE_IOC_SETUP, &setup), "UTRACE_IOC_SETUP");
	attach.where.fd = syscall(SYS_pidfd_open, getpid(), 0);
	must(attach.where.fd >= 0, "pidfd_open");
	must(!ioctl(fd, UTRACE_IOC_ATTACH, &attach), "UTRACE_IOC_ATTACH");
	close(attach.where.fd);
	must(!ioctl(fd, UTRACE_IOC_EVENTS, &choose), "UTRACE_IOC_EVENTS");
	return fd;
}

static struct utrace_ioc_info info(int fd)
{
	struct utrace_ioc_info info;

	must(!ioctl(fd, UTRACE_IOC_INFO, &info), "UTRACE_IOC_INFO");
	return info;
}

/* The cost of a call of which a session makes @each records. */
static double recorded(__u64 events, unsigned int each)
{
	struct utrace_ioc_info begun, ended;
	int fd = session(events, 0);
	double cost;
	long calls;

	begun = info(fd);
	calls = all_calls;
	cost = call_cost();
	calls = all_calls - calls;
	ended = info(fd);
	must(!ended.lost && ended.records - begun.records >= each * calls &&
	     ended.records - begun.records <= each * (calls + 10),
	     "a record for each call");
	close(fd);
	/* Wait until the engine is gone. */
	usleep(100000);
	return cost;
}

/* The cost of a call that a session counts. */
static double counted(__u32 count)
{
	struct utrace_call_count rows[8];
	struct utrace_ioc_counts counts = {
		.rows = {
			.at = (uintptr_t)rows,
			.n = sizeof(rows) / sizeof(*rows),
			.size = sizeof(*rows),
		},
	};
	long calls = all_calls, found = 0;
	int fd = session(0, count);
	double cost = call_cost();
	unsigned int i;

	calls = all_calls - calls;
	must(!ioctl(fd, UTRACE_IOC_COUNTS, &counts), "UTRACE_IOC_COUNTS");
	for (i = 0; i < counts.rows.n; i++)
		if (rows[i].nr == SYS_getppid)
			found = rows[i].calls;
	must(found == calls && !counts.lost, "a count for each call");
	close(fd);
	usleep(100000);
	return cost;
}

/* The cost of a record that a program reads from the mapped rings. */
static double mapped(void)
{
	int fd = session(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
			 0);
	double cost = reader_cost(fd);

	must(!info(fd).lost, "no record is lost");
	close(fd);
	usleep(100000);
	return cost;
}

/* The records of the BPF programs: the members of the device's records. */
struct bpf_enter {
	__u64 time, id, nr, args[6];
};

struct bpf_exit {
	__u64 time, id, nr, ret;
};

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A program under construction. */
struct program {
	struct bpf_insn code[64];
	unsigned int n;
};

static void insn(struct program *p, int code, int dst, int src, int off, int imm)
{
	p->code[p->n++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off,
		.imm = imm,
	};
}

static void mov(struct program *p, int dst, int src)
{
	insn(p, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void set(struct program *p, int dst, int value)
{
	insn(p, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static void add(struct program *p, int dst, int value)
{
	insn(p, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

static void call(struct program *p, int function)
{
	insn(p, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static void load(struct program *p, int dst, int src, int off)
{
	insn(p, BPF_LDX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

static void store(struct program *p, int dst, int src, int off)
{
	insn(p, BPF_STX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

/*
 * Reserve @size bytes of the ring, and write time and ids.  Registers 6 to 9
 * survive calls: the context, the record, nothing, pt_regs.
 */
static void begin(struct program *p, int map, int size)
{
	mov(p, 6, 1);
	insn(p, BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map);
	insn(p, 0, 0, 0, 0, 0);
	set(p, 2, size);
	set(p, 3, 0);
	call(p, BPF_FUNC_ringbuf_reserve);
	insn(p, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
	set(p, 0, 0);
	insn(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	mov(p, 7, 0);
	call(p, BPF_FUNC_ktime_get_ns);
	store(p, 7, 0, 0);
	call(p, BPF_FUNC_get_current_pid_tgid);
	store(p, 7, 0, 8);
	load(p, 9, 6, 0);
}

static void finish(struct program *p)
{
	mov(p, 1, 7);
	set(p, 2, BPF_RB_NO_WAKEUP);
	call(p, BPF_FUNC_ringbuf_submit);
	set(p, 0, 0);
	insn(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Copy @size bytes at offset @at of pt_regs to the stack, below @stack. */
static void copy_regs(struct program *p, int stack, int size, int at)
{
	mov(p, 1, 10);
	add(p, 1, stack);
	set(p, 2, size);
	mov(p, 3, 9);
	add(p, 3, at);
	call(p, BPF_FUNC_probe_read_kernel);
}

/* Copy 8 bytes of the stack to the record. */
static void copy_arg(struct program *p, int stack, int to)
{
	load(p, 1, 10, stack);
	store(p, 7, 1, to);
}

/* Offsets in pt_regs of x86_64: r10, r9, r8, ax, cx, dx, si, di; orig_ax. */
#define PT_R10	56
#define PT_ORIG	120

static int attach_program(const char *tracepoint, const struct program *p)
{
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)p->code,
		.insn_cnt = p->n,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr attach = {
		.raw_tracepoint.name = (uintptr_t)tracepoint,
	};
	int prog = bpf(BPF_PROG_LOAD, &load), fd;

	must(prog >= 0, "BPF program");
	attach.raw_tracepoint.prog_fd = prog;
	fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attach);
	must(fd >= 0, "BPF raw tracepoint");
	close(prog);
	return fd;
}

static int attach_enter(int map)
{
	/* Where the six arguments are on the stack. */
	static const int args[] = { -8, -16, -24, -64, -48, -56 };
	struct program p = {};
	unsigned int i;

	begin(&p, map, sizeof(struct bpf_enter));
	load(&p, 1, 6, 8);
	store(&p, 7, 1, offsetof(struct bpf_enter, nr));
	copy_regs(&p, -64, 64, PT_R10);
	for (i = 0; i < 6; i++)
		copy_arg(&p, args[i], offsetof(struct bpf_enter, args[i]));
	finish(&p);
	return attach_program("sys_enter", &p);
}

static int attach_exit(int map)
{
	struct program p = {};

	begin(&p, map, sizeof(struct bpf_exit));
	copy_regs(&p, -8, 8, PT_ORIG);
	copy_arg(&p, -8, offsetof(struct bpf_exit, nr));
	load(&p, 1, 6, 8);
	store(&p, 7, 1, offsetof(struct bpf_exit, ret));
	finish(&p);
	return attach_program("sys_exit", &p);
}

static void bpf_row(void)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_RINGBUF,
		.max_entries = RING_SIZE,
	};
	int map = bpf(BPF_MAP_CREATE, &create), enter, exit;

	must(map >= 0, "BPF ring");
	enter = attach_enter(map);
	exit = attach_exit(map);
	say("bpf_ring_pair", call_cost());
	close(enter);
	close(exit);
	close(map);
	usleep(100000);
}

/* What recording the current task's calls costs. */
void dev_rows(void)
{
	make_device();
	say("dev_pair", recorded(UTRACE_REC_BIT(SYS_ENTER) |
				 UTRACE_REC_BIT(SYS_EXIT), 2));
	say("dev_whole", recorded(UTRACE_REC_BIT(SYS_CALL), 1));
	say("dev_count", counted(UTRACE_COUNT_CALLS));
	say("dev_count_cpu", counted(UTRACE_COUNT_CALLS | UTRACE_COUNT_CPU));
	say("dev_reader", mapped());
	bpf_row();
	say("dev_after", call_cost());
}
