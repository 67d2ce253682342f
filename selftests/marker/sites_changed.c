// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: files and memory that change under a breakpoint
 *
 * A function returns a number that its first instruction has.  Whoever calls the function
 * of the present file has the present number, whatever breakpoints were there before.  The
 * marker and the file are those of root or of a user without privileges; root probes the
 * same file in another process.
 */
#include "code.h"
#include "sites_events.h"

#include <elf.h>

/* mov $0, %eax; movb $1, 8(%rdi); 1: mov (%rdi), %edx; test %edx, %edx; je 1b; ret */
static const unsigned char function[] = {
	MOV, 0, 0, 0, 0, 0xc6, 0x47, 8, 1, 0x8b, 0x17, 0x85, 0xd2, 0x74, 0xfa, 0xc3,
};

/* Where the file is mapped to write to it. */
#define DATA		(PLACE + CODE_MOST)

static long map_data(long unused)
{
	int fd = open(code_path(), O_RDONLY | O_CLOEXEC);

	if (mmap(DATA, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != DATA)
		_exit(94);
	close(fd);
	return 0;
}

/* Map the file at PLACE. */
static long map_file(long unused)
{
	map_code(code_path(), PAGE);
	return 0;
}

/* Call the function, which waits for number 2 * @n. */
static long call_waiting(long n)
{
	return call_code(FUNCTION, (void *)&stage->number[2 * n]);
}

/* Drop the process's own copy of the page. */
static long drop_copy(long unused)
{
	if (madvise(PLACE, PAGE, MADV_DONTNEED))
		_exit(93);
	return 0;
}

/* Write the function that returns @number to the file, in place. */
static void write_function(int fd, int number)
{
	unsigned char bytes[sizeof(function)];

	memcpy(bytes, function, sizeof(function));
	memcpy(bytes + 1, &number, sizeof(number));
	write_code(fd, PAGE, bytes, sizeof(bytes));
}

static int make_function(int number)
{
	int fd = make_code(code_path());

	write_function(fd, number);
	stage->number[0] = 1;
	return fd;
}

static long call_function(struct target *target)
{
	return have(target, SELF, call_waiting, 0);
}

/* Who arms and changes the file */

/* Have the ids of root or of the user, and be able to have those of root again. */
static void act_as(uid_t uid)
{
	/* Only root may change the group. */
	need(!setresuid(0, 0, 0) && !setresgid(uid, uid, 0) && !setresuid(uid, uid, 0),
	     "setresuid");
}

/* Make the file, which belongs to @uid, and let @uid trace. */
static int make_function_of(uid_t uid)
{
	int fd = make_function(1);

	need(!fchown(fd, uid, uid), code_path());
	if (uid)
		allow_users();
	return fd;
}

/* Begin as @uid, whose process the target becomes.  Returns the file. */
static int begin(struct target *target, struct tracer *tracer, uid_t uid)
{
	int fd = make_function_of(uid);

	if (uid)
		have(target, SELF, be_user, 0);
	have(target, SELF, map_file, 0);
	act_as(uid);
	trace(tracer, target->pid, UTRACE_SCOPE_PROCESS);
	return fd;
}

static void end(struct tracer *tracer, int fd)
{
	act_as(0);
	untrace(tracer);
	close(fd);
	unlink(code_path());
}

static int open_perf_of_function(pid_t pid, __u64 semaphore)
{
	return open_perf(pid, perf_at(code_path(), FUNCTION, semaphore));
}

/* As root, probe the process, which maps the file and calls the function; then be @uid. */
static void probed_returns(struct target *target, long number, uid_t uid, const char *what)
{
	int fd;

	act_as(0);
	fd = open_perf_of_function(target->pid, 0);
	need(fd >= 0, "perf");
	have(target, SELF, map_file, 0);
	is(number, call_function(target), what);
	is(1, perf_hits(fd), "hits of perf");
	close(fd);
	is(number, call_function(target), "without perf");
	act_as(uid);
}

/* Disarm the marker after its page was truncated; then write another function. */
static void check_truncated(struct target *target, uid_t uid)
{
	struct marker marker;
	struct tracer tracer;
	struct target other;
	int fd;

	start_sites(&other);
	fd = begin(target, &tracer, uid);
	marker = marker_in(fd, FUNCTION, 0);
	marker.id = arm_marker(&tracer, marker);
	is(1, call_function(target), "armed");
	need(!ftruncate(fd, 0), "ftruncate");
	is(0, try_disarm(&tracer, &marker), "disarm what is gone");
	write_function(fd, 2);
	probed_returns(&other, 2, uid, "the file that was written anew");
	end(&tracer, fd);
	stop(&other);
}

TEST_F(sites, truncated)
{
	check_truncated(&self->target, 0);
}

TEST_F(sites, truncated_by_a_user)
{
	check_truncated(&self->target, USER);
}

/* The marker is taken back while a thread is in the function whose return it was. */
static void check_changed_before_a_return(struct target *target, uid_t uid)
{
	struct marker marker;
	struct tracer tracer;
	struct target other;
	int fd;

	start_sites(&other);
	fd = begin(target, &tracer, uid);
	marker = marker_in(fd, FUNCTION, 0);
	marker.site.flags = UTRACE_MARKER_F_RETURN;
	marker.id = arm_marker(&tracer, marker);
	tell(target, SELF, call_waiting, 1);
	need(until(stage->number[3]), "the function");
	disarm_marker(&tracer, marker.id);
	untrace(&tracer);
	write_function(fd, 2);
	probed_returns(&other, 2, uid, "the file that was changed");
	stage->number[2] = 1;
	is(1, hear(target, SELF), "the function that was begun");
	act_as(0);
	stop(&other);
	close(fd);
	unlink(code_path());
}

TEST_F(sites, changed_before_a_return)
{
	check_changed_before_a_return(&self->target, 0);
}

TEST_F(sites, changed_before_a_return_by_a_user)
{
	check_changed_before_a_return(&self->target, USER);
}

/* The file is changed in place while a process has the marker. */
static void check_changed_in_place(struct target *target, uid_t uid)
{
	struct target other;
	struct tracer tracer;
	int fd, i;

	start_sites(&other);
	fd = begin(target, &tracer, uid);
	arm_marker(&tracer, marker_in(fd, FUNCTION, 0));
	for (i = 2; i < 5; i++) {
		write_function(fd, i);
		probed_returns(&other, i, uid, "the present file");
	}
	/* A page with a breakpoint is the process's own. */
	is(1, call_function(target), "the file as it was mapped");
	is(1, gather(tracer.session, 1), "a hit");
	have(target, SELF, map_file, 0);
	is(4, call_function(target), "mapped again");
	is(1, gather(tracer.session, 1), "a hit");
	end(&tracer, fd);
	is(4, call_function(target), "without a marker");
	stop(&other);
}

TEST_F(sites, changed_in_place)
{
	check_changed_in_place(&self->target, 0);
}

TEST_F(sites, changed_in_place_by_a_user)
{
	check_changed_in_place(&self->target, USER);
}

/* Holes in the file */

static void punch(int fd)
{
	need(!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE),
	     "a hole in the file");
}

/* Disarm the marker, of which nothing is left: the process has @byte at the place. */
static void is_disarmed(struct target *target, struct tracer *tracer,
			struct marker *marker, int byte)
{
	is(0, try_disarm(tracer, marker), "disarm");
	is(-ENOENT, try_disarm(tracer, marker), "  a second time");
	is(byte, code_byte(target->pid, FUNCTION), "  the byte");
}

/* A page with a breakpoint is the process's own, which stays when the file gets a hole. */
TEST_F(sites, hole_in_the_file)
{
	struct target *target = &self->target;
	struct marker marker;
	struct tracer tracer;
	int fd = begin(target, &tracer, 0);

	marker = marker_in(fd, FUNCTION, 0);
	marker.id = arm_marker(&tracer, marker);
	punch(fd);
	is(1, call_function(target), "with a hole in the file");
	is(1, gather(tracer.session, 1), "  a hit");
	is_disarmed(target, &tracer, &marker, MOV);
	is(1, call_function(target), "  the function of the process");
	is(-EBUSY, try_arm(&tracer, &marker), "  which is not that of the file");
	have(target, SELF, map_file, 0);
	is(0, try_arm(&tracer, &marker), "the hole is mapped and armed");
	is_disarmed(target, &tracer, &marker, 0);
	write_function(fd, 2);
	have(target, SELF, map_file, 0);
	is(2, call_function(target), "the file that was written anew");
	are_none(&tracer, "  hits");
	arm_marker(&tracer, marker);
	is(2, call_function(target), "armed again");
	is(1, gather(tracer.session, 1), "  a hit");
	end(&tracer, fd);
	is(2, call_function(target), "at the end");
	holds(until(!word_engines(target->pid)), "  no engine");
}

/* The process drops its own page, and with the page the breakpoint. */
TEST_F(sites, hole_in_the_process)
{
	struct target *target = &self->target;
	struct marker marker;
	struct tracer tracer;
	int fd = begin(target, &tracer, 0);

	marker = marker_in(fd, FUNCTION, 0);
	marker.id = arm_marker(&tracer, marker);
	punch(fd);
	have(target, SELF, drop_copy, 0);
	write_function(fd, 2);
	is(2, call_function(target), "the file that was written anew");
	holds(gather(tracer.session, 0) <= 1, "  at most one hit");
	punch(fd);
	have(target, SELF, drop_copy, 0);
	is_disarmed(target, &tracer, &marker, 0);
	write_function(fd, 3);
	is(3, call_function(target), "the file that was written again");
	are_none(&tracer, "  hits");
	arm_marker(&tracer, marker);
	is(3, call_function(target), "armed again");
	is(1, gather(tracer.session, 1), "  a hit");
	end(&tracer, fd);
	is(3, call_function(target), "at the end");
	holds(until(!word_engines(target->pid)), "  no engine");
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

/* Start a 32-bit process of @uid that maps the file @fd.  Returns 0 if there are none. */
static pid_t start_32(int fd, uid_t uid)
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
		if (uid)
			become_user();
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
		strstr(maps, code_path()) || n <= 0;
	})), "a 32-bit process");
	unlink(path);
	return n > 0 ? pid : 0;
}

/* A 32-bit process has the marker first, where the bytes are another instruction. */
static bool check_32_bits(struct target *target, uid_t uid)
{
	int fd = make_function_of(uid);
	struct tracer tracer;
	pid_t pid;

	put_code(fd, FUNCTION, relative, sizeof(relative));
	pid = start_32(fd, uid);
	if (!pid) {
		close(fd);
		unlink(code_path());
		return false;
	}
	act_as(uid);
	trace(&tracer, pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, marker_in(fd, FUNCTION, 0));
	probed_returns(target, RELATIVE, uid, "in 64 bits");
	end(&tracer, fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return true;
}

#define NO_32_BITS	"no 32-bit programs (IA32_EMULATION)"

TEST_F(sites, first_in_32_bits)
{
	if (!check_32_bits(&self->target, 0))
		SKIP(return, NO_32_BITS);
}

TEST_F(sites, first_in_32_bits_by_a_user)
{
	if (!check_32_bits(&self->target, USER))
		SKIP(return, NO_32_BITS);
}

/* A debugger has a breakpoint at the place, or the process has other text there. */
static void is_kept_out(struct target *target, unsigned char byte)
{
	struct marker marker;
	struct tracer tracer;
	int fd = begin(target, &tracer, 0);

	marker = marker_in(fd, FUNCTION, 0);
	write_memory(target->pid, PLACE + FUNCTION, &byte, 1);
	is(-EBUSY, try_arm(&tracer, &marker), "arm");
	is(byte, code_byte(target->pid, FUNCTION), "the byte");
	end(&tracer, fd);
	is(byte, code_byte(target->pid, FUNCTION), "the byte afterwards");
}

TEST_F(sites, breakpoint_of_a_debugger)
{
	is_kept_out(&self->target, INT3);
}

TEST_F(sites, text_of_the_process)
{
	is_kept_out(&self->target, 0xba);	/* mov $..., %edx */
}

/* Counters of the file, which are 0 there. */
#define FIRST_COUNTER	0x80
#define OTHER_COUNTER	0x90

static void are_counters(struct target *target, long first, long other, const char *text)
{
	is(first, read_word(target->pid, DATA + FIRST_COUNTER, 2), text);
	is(other, read_word(target->pid, DATA + OTHER_COUNTER, 2), "  and the other one");
}

/* Whatever counter one user names, no other one is kept out. */
TEST_F(sites, counters)
{
	static const int named[] = { 0, FIRST_COUNTER, OTHER_COUNTER, 0 };
	static const unsigned char zeros[2];
	struct target *target = &self->target;
	int fd = make_function(1), perf[4], i;

	put_code(fd, FIRST_COUNTER, zeros, sizeof(zeros));
	put_code(fd, OTHER_COUNTER, zeros, sizeof(zeros));
	have(target, SELF, map_file, 0);
	have(target, SELF, map_data, 0);
	for (i = 0; i < 4; i++) {
		perf[i] = open_perf_of_function(target->pid, named[i]);
		holds(perf[i] >= 0, "a counter at %#x: %d", named[i], perf[i]);
	}
	are_counters(target, 1, 1, "the first counter");
	is(1, call_function(target), "a hit");
	for (i = 0; i < 4; i++)
		is(1, perf_hits(perf[i]), "hits of perf");
	close(perf[1]);
	are_counters(target, 0, 1, "without its user, the first counter");
	is(1, call_function(target), "another hit");
	is(2, perf_hits(perf[2]), "hits of perf");
	for (i = 0; i < 4; i++)
		if (i != 1)
			close(perf[i]);
	are_counters(target, 0, 0, "at the end, the first counter");
	is(MOV, code_byte(target->pid, FUNCTION), "  and the byte");
	close(fd);
	unlink(code_path());
}

TEST_HARNESS_MAIN
