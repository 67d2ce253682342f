// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: files and memory that change under a breakpoint
 *
 * A function returns a number that its first instruction has.  Whoever calls the function
 * of the present file has the present number, whatever breakpoints were there before.
 */
#include "sites.h"

#include <elf.h>

#include <linux/perf_event.h>

#define FUNCTION	0x40	/* in the file */
#define NUMBER		1	/* of the first instruction, behind its opcode */

/* mov $0, %eax; movb $1, 8(%rdi); 1: mov (%rdi), %edx; test %edx, %edx; je 1b; ret */
static const unsigned char function[] = {
	0xb8, 0, 0, 0, 0, 0xc6, 0x47, 8, 1, 0x8b, 0x17, 0x85, 0xd2, 0x74, 0xfa, 0xc3,
};

/* The file of the function. */
static char code[64];

static void name_code(void)
{
	snprintf(code, sizeof(code), "%s/code", folder);
}

/* 'K': map the file at PLACE.  'k': call the function, which waits for number 2 * n. */
static void obey_here(struct target *target, struct order *order)
{
	long (*call)(_Atomic long *go);
	int fd;

	name_code();
	switch (order->what) {
	case 'K':
		fd = open(code, O_RDONLY | O_CLOEXEC);
		if (mmap(PLACE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE |
			 MAP_FIXED, fd, 0) != PLACE)
			_exit(95);
		close(fd);
		break;
	case 'k':
		call = (void *)(PLACE + FUNCTION);
		stage->result = call(&stage->number[2 * order->n]);
		break;
	default:
		obey_sites(target, order);
	}
}

/* Write the function that returns @number to the file, in place. */
static void write_code(int fd, int number)
{
	static unsigned char bytes[PAGE];

	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes + FUNCTION, function, sizeof(function));
	memcpy(bytes + FUNCTION + NUMBER, &number, sizeof(number));
	need(pwrite(fd, bytes, sizeof(bytes), 0) == sizeof(bytes), code);
}

static int make_code(int number)
{
	int fd;

	name_code();
	fd = open(code, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	need(fd >= 0, code);
	write_code(fd, number);
	stage->number[0] = 1;
	return fd;
}

static struct utrace_ioc_marker marker_in(int fd, __u32 flags)
{
	return (struct utrace_ioc_marker){
		.fd = fd, .offset = FUNCTION, .id = ID(0), .flags = flags,
	};
}

static long call_function(struct target *target)
{
	have(target, SELF, 'k', 0);
	return stage->result;
}

/* Open an event of perf at the function, with a counter at @semaphore. */
static int open_perf(pid_t pid, __u64 semaphore)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = semaphore << 32,
		.uprobe_path = (uintptr_t)code,
		.probe_offset = FUNCTION,
	};
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int fd;

	if (!type || fscanf(type, "%u", &attr.type) != 1)
		return -ENOENT;
	fclose(type);
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What the function returns in a process that perf probes before it maps the file. */
static void probed_returns(struct target *target, long number, const char *what)
{
	int fd = open_perf(target->pid, 0);
	__u64 hits;

	need(fd >= 0, "perf");
	have(target, SELF, 'K', 0);
	is(number, call_function(target), what);
	need(read(fd, &hits, sizeof(hits)) == sizeof(hits), "a perf event");
	is(1, hits, "hits of perf");
	close(fd);
	is(number, call_function(target), "without perf");
}

/* The marker is taken back when its page has gone; then the file has another function. */
TEST_F(sites, truncated)
{
	struct target *target = &self->target, other;
	int fd = make_code(1);
	struct utrace_ioc_marker marker = marker_in(fd, 0);
	struct tracer tracer;

	start_sites(&other);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, 'K', 0);
	arm_marker(&tracer, marker);
	is(1, call_function(target), "armed");
	need(!ftruncate(fd, 0), "ftruncate");
	is(0, try_disarm(tracer.fd, &marker), "disarm what is gone");
	write_code(fd, 2);
	probed_returns(&other, 2, "the file that was written anew");
	untrace(&tracer);
	stop(&other);
	close(fd);
	unlink(code);
}

/* The marker is taken back while a thread is in the function whose return it was. */
TEST_F(sites, changed_before_a_return)
{
	struct target *target = &self->target, other;
	int fd = make_code(1);
	struct utrace_ioc_marker marker = marker_in(fd, UTRACE_MARKER_RETURN);
	struct tracer tracer;

	start_sites(&other);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, 'K', 0);
	arm_marker(&tracer, marker);
	tell(target, SELF, 'k', 1);
	need(until(stage->number[3]), "the function");
	disarm_marker(&tracer, marker);
	untrace(&tracer);
	write_code(fd, 2);
	probed_returns(&other, 2, "the file that was changed");
	stage->number[2] = 1;
	need(hear(target, SELF) >= 0, "the return");
	is(1, stage->result, "the function that was begun");
	stop(&other);
	close(fd);
	unlink(code);
}

/* The file is changed in place while a process has the marker. */
TEST_F(sites, changed_in_place)
{
	struct target *target = &self->target, other;
	int fd = make_code(1), i;
	struct tracer tracer;

	start_sites(&other);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, 'K', 0);
	arm_marker(&tracer, marker_in(fd, 0));
	for (i = 2; i < 5; i++) {
		write_code(fd, i);
		probed_returns(&other, i, "the present file");
	}
	/* A page that has a breakpoint is the process's own. */
	is(1, call_function(target), "the file as it was mapped");
	is(1, gather(tracer.session, 1), "a hit");
	have(target, SELF, 'K', 0);
	is(4, call_function(target), "mapped again");
	is(1, gather(tracer.session, 1), "a hit");
	untrace(&tracer);
	is(4, call_function(target), "without a marker");
	stop(&other);
	close(fd);
	unlink(code);
}

/* lea 16(%rip), %rax; ret: for a 32-bit process the first byte is an instruction. */
static const unsigned char relative[] = { 0x48, 0x8d, 0x05, 16, 0, 0, 0, 0xc3 };

#define RELATIVE	((long)(uintptr_t)PLACE + FUNCTION + 7 + 16)

/* The descriptor that a 32-bit program maps, and then sleeps. */
#define FD32		100

static const struct {
	Elf32_Ehdr head;
	Elf32_Phdr load;
	unsigned char text[42];
} program32 = {
	.head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_entry = 0x08048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
		.e_phoff = sizeof(Elf32_Ehdr),
		.e_ehsize = sizeof(Elf32_Ehdr),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
	},
	.load = {
		.p_type = PT_LOAD,
		.p_vaddr = 0x08048000,
		.p_filesz = 4096,
		.p_memsz = 4096,
		.p_flags = PF_R | PF_X,
		.p_align = 4096,
	},
	.text = {
		0xb8, 192, 0, 0, 0,		/* mov $__NR_mmap2, %eax */
		0x31, 0xdb,			/* xor %ebx, %ebx */
		0xb9, 0, 0x10, 0, 0,		/* mov $4096, %ecx */
		0xba, 5, 0, 0, 0,		/* mov $PROT_READ|PROT_EXEC, %edx */
		0xbe, 2, 0, 0, 0,		/* mov $MAP_PRIVATE, %esi */
		0xbf, FD32, 0, 0, 0,		/* mov $FD32, %edi */
		0x31, 0xed,			/* xor %ebp, %ebp */
		0xcd, 0x80,			/* int $0x80 */
		0xb8, 29, 0, 0, 0,		/* 1: mov $__NR_pause, %eax */
		0xcd, 0x80,			/* int $0x80 */
		0xeb, 0xf7,			/* jmp 1b */
	},
};

/* Start a 32-bit process that maps the file @fd.  Returns 0 if there are none. */
static pid_t start_32(int fd)
{
	static char bytes[PAGE], path[64], maps[1 << 14];
	int program, n;
	pid_t pid;

	memcpy(bytes, &program32, sizeof(program32));
	snprintf(path, sizeof(path), "%s/32", folder);
	program = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	need(write(program, bytes, sizeof(bytes)) == sizeof(bytes), path);
	close(program);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, FD32);
		execl(path, path, NULL);
		_exit(errno);
	}
	snprintf(bytes, sizeof(bytes), "/proc/%d/maps", pid);
	need(until(({
		program = open(bytes, O_RDONLY | O_CLOEXEC);
		n = read(program, maps, sizeof(maps) - 1);
		maps[n > 0 ? n : 0] = '\0';
		close(program);
		strstr(maps, code) || n <= 0;
	})), "a 32-bit process");
	unlink(path);
	return n > 0 ? pid : 0;
}

/* A 32-bit process has the marker first, where the bytes are another instruction. */
TEST_F(sites, first_in_32_bits)
{
	struct target *target = &self->target;
	int fd = make_code(1);
	struct utrace_ioc_marker marker = marker_in(fd, 0);
	struct tracer tracer;
	pid_t pid;

	need(pwrite(fd, relative, sizeof(relative), FUNCTION) == sizeof(relative), code);
	pid = start_32(fd);
	if (!pid)
		SKIP(return, "no 32-bit programs (IA32_EMULATION)");
	trace(&tracer, pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, marker);
	probed_returns(target, RELATIVE, "in 64 bits");
	untrace(&tracer);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	unlink(code);
}

static int byte_at(struct target *target, int memory)
{
	unsigned char byte;

	need(pread(memory, &byte, 1, (uintptr_t)PLACE + FUNCTION) == 1, "memory");
	return byte;
}

/* A debugger has a breakpoint at the place, or the process has other text there. */
static void is_kept_out(struct __test_metadata *_metadata, struct target *target,
			unsigned char byte)
{
	int fd = make_code(1), memory;
	struct utrace_ioc_marker marker = marker_in(fd, 0);
	struct tracer tracer;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", target->pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
	need(memory >= 0, path);
	have(target, SELF, 'K', 0);
	need(pwrite(memory, &byte, 1, (uintptr_t)PLACE + FUNCTION) == 1, "memory");
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is(-EBUSY, try_arm(tracer.fd, &marker), "arm");
	is(byte, byte_at(target, memory), "the byte");
	untrace(&tracer);
	is(byte, byte_at(target, memory), "the byte afterwards");
	close(memory);
	close(fd);
	unlink(code);
}

TEST_F(sites, breakpoint_of_a_debugger)
{
	is_kept_out(_metadata, &self->target, 0xcc);
}

TEST_F(sites, text_of_the_process)
{
	is_kept_out(_metadata, &self->target, 0xba);	/* mov $..., %edx */
}

/* Whatever counter one user names, no other one is kept out. */
TEST_F(sites, counters)
{
	struct target *target = &self->target;
	static const int named[] = { 0, 0x80, 0x90, 0 };
	int fd = make_code(1), perf[4], i;

	have(target, SELF, 'K', 0);
	for (i = 0; i < 4; i++) {
		perf[i] = open_perf(target->pid, named[i]);
		holds(perf[i] >= 0, "a counter at %#x: %d", named[i], perf[i]);
	}
	is(1, call_function(target), "a hit");
	for (i = 0; i < 4; i++)
		close(perf[i]);
	close(fd);
	unlink(code);
}

TEST_HARNESS_MAIN
