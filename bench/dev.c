// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - system calls that a session of /dev/utrace records
 *
 * The records go to rings that are large enough, so that none is lost and no
 * reader takes part; a row is refused unless each call has its records.  A BPF
 * program that writes the same members to a ring of BPF stands beside.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/utrace.h>
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
		.ring_size = RING_SIZE,
		.full = UTRACE_FULL_DROP,
	};
	struct utrace_ioc_attach attach = { .scope = UTRACE_SCOPE_PROCESS };
	struct utrace_ioc_events choose = {
		.events = events,
		.count = count,
	};
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	must(fd >= 0, DEVICE);
	must(!ioctl(fd, UTRACE_IOC_SETUP, &setup), "UTRACE_IOC_SETUP");
	attach.fd = syscall(SYS_pidfd_open, getpid(), 0);
	must(attach.fd >= 0, "pidfd_open");
	must(!ioctl(fd, UTRACE_IOC_ATTACH, &attach), "UTRACE_IOC_ATTACH");
	close(attach.fd);
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
		.rows = (uintptr_t)rows,
		.n = sizeof(rows) / sizeof(*rows),
	};
	long calls = all_calls, found = 0;
	int fd = session(0, count);
	double cost = call_cost();
	unsigned int i;

	calls = all_calls - calls;
	must(!ioctl(fd, UTRACE_IOC_COUNTS, &counts), "UTRACE_IOC_COUNTS");
	for (i = 0; i < counts.n; i++)
		if (rows[i].nr == SYS_getppid)
			found = rows[i].calls;
	must(found == calls && !counts.lost, "a count for each call");
	close(fd);
	usleep(100000);
	return cost;
}

/* What BPF's programs write: the members of the device's records. */
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

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOVI(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADDI(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define LOAD(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, s, o)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define MAP(d, fd) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd), \
	INSN(0, 0, 0, 0, 0)
#define EXIT()		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Registers 6 to 9 survive calls: the context, the record, pt_regs. */
#define BEGIN(map, size) \
	MOV(6, 1), MAP(1, map), MOVI(2, size), MOVI(3, 0), \
	CALL(ringbuf_reserve), \
	INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0), \
	MOVI(0, 0), EXIT(), \
	MOV(7, 0), \
	CALL(ktime_get_ns), STORE(7, 0, 0), \
	CALL(get_current_pid_tgid), STORE(7, 0, 8), \
	LOAD(9, 6, 0)
#define END() \
	MOV(1, 7), MOVI(2, BPF_RB_NO_WAKEUP), CALL(ringbuf_submit), \
	MOVI(0, 0), EXIT()
/* Copy @size bytes at offset @at of pt_regs to the stack, below @stack. */
#define REGS(stack, size, at) \
	MOV(1, 10), ADDI(1, stack), MOVI(2, size), MOV(3, 9), ADDI(3, at), \
	CALL(probe_read_kernel)
#define ARG(stack, to)	LOAD(1, 10, stack), STORE(7, 1, to)

/* Offsets in pt_regs of x86_64: r10, r9, r8, ax, cx, dx, si, di, orig_ax. */
#define PT_R10	56
#define PT_AX	80
#define PT_ORIG	120

static int attach_program(const char *tracepoint, struct bpf_insn *code,
			  unsigned int n)
{
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)code,
		.insn_cnt = n,
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
	struct bpf_insn code[] = {
		BEGIN(map, sizeof(struct bpf_enter)),
		LOAD(1, 6, 8), STORE(7, 1, 16),
		REGS(-64, 64, PT_R10),
		ARG(-8, 24), ARG(-16, 32), ARG(-24, 40),
		ARG(-64, 48), ARG(-48, 56), ARG(-56, 64),
		END(),
	};

	return attach_program("sys_enter", code, sizeof(code) / sizeof(*code));
}

static int attach_exit(int map)
{
	struct bpf_insn code[] = {
		BEGIN(map, sizeof(struct bpf_exit)),
		REGS(-8, 8, PT_ORIG),
		ARG(-8, 16),
		LOAD(1, 6, 8), STORE(7, 1, 24),
		END(),
	};

	return attach_program("sys_exit", code, sizeof(code) / sizeof(*code));
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
	bpf_row();
	say("dev_after", call_cost());
}
