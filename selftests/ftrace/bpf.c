// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a BPF program on a trace event
 *
 * Usage: bpf EVENT-ID OFFSET VALUE
 *
 * The BPF program is attached as bpftrace attaches it, and counts the records
 * whose 64-bit field at OFFSET is VALUE.  The output is "ready", and the count
 * when there is a line to read.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSN(c, d, s, o, i) \
	((struct bpf_insn) { .code = (c), .dst_reg = (d), .src_reg = (s), \
			     .off = (o), .imm = (i) })

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4, .value_size = 8, .max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int load(int map, int offset, int value)
{
	struct bpf_insn prog[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, offset, 0),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 6, 0, 9, value),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char log[8192];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.insns = (unsigned long)prog,
		.insn_cnt = sizeof(prog) / sizeof(*prog),
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		fputs(log, stderr);
	return fd;
}

static int attach(int prog, int event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event,
		.sample_period = 1,
	};
	/*
	 * The perf event is on one CPU, but the program runs for events on all
	 * CPUs.
	 */
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd < 0)
		return -1;
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ||
	       ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -1 : fd;
}

int main(int argc, char **argv)
{
	int map = make_map(), key = 0;
	unsigned long long count = 0;
	union bpf_attr lookup = {
		.map_fd = map,
		.key = (unsigned long)&key,
		.value = (unsigned long)&count,
	};
	int prog;

	if (argc != 4 || map < 0)
		return 2;
	prog = load(map, atoi(argv[2]), atoi(argv[3]));
	if (prog < 0 || attach(prog, atoi(argv[1])) < 0) {
		perror("bpf");
		return 1;
	}
	dprintf(1, "ready\n");
	getchar();
	if (bpf(BPF_MAP_LOOKUP_ELEM, &lookup))
		return 1;
	dprintf(1, "%llu\n", count);
	return 0;
}
