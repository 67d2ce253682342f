// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: programs that the reader may not see
 *
 * A user without privileges follows a process of his own, which executes set-id
 * programs.  No address that such a program has used may come to the user, and no
 * address at all while kernel.utrace.unprivileged is 0.
 */
#include <elf.h>
#include <sys/stat.h>

#include "branches.h"

/* Where the programs of this test are, and how large they are at most. */
#define PROGRAM_AT	0x10000000UL
#define PROGRAM_SIZE	4096UL

/*
 * Programs without a library, so that the test knows each branch.  Those with
 * arguments execute the program that the first one names.
 */
asm("	.pushsection .rodata\n"
	/* Branches and dies, without a system call. */
	"quit:	jmp 1f\n"
	"1:	jmp 2f\n"
	"2:	ud2\n"
	/* Becomes root, also as its real user. */
	"rise:	xor %edi, %edi\n"
	"	xor %esi, %esi\n"
	"	xor %edx, %edx\n"
	"	jmp become\n"
	/* Becomes its real user. */
	"fall:	mov $102, %eax\n"	/* getuid */
	"	syscall\n"
	"	mov %eax, %edi\n"
	"	mov %eax, %esi\n"
	"	mov %eax, %edx\n"
	"become:	mov $117, %eax\n"	/* setresuid */
	"	syscall\n"
	"	mov 16(%rsp), %rdi\n"
	"	lea 16(%rsp), %rsi\n"
	"	xor %edx, %edx\n"
	"	mov $59, %eax\n"	/* execve */
	"	syscall\n"
	"	ud2\n"
	/* Forks, and branches in both processes. */
	"work:	mov $57, %eax\n"	/* fork */
	"	syscall\n"
	"	mov $1000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	mov $60, %eax\n"	/* exit */
	"	xor %edi, %edi\n"
	"	syscall\n"
	"programs_end:\n"
	"	.popsection\n");

/* Where a label of the assembly above is. */
#define ADDRESS(label)							\
	({								\
		const char *at;						\
									\
		asm("lea " #label "(%%rip), %0" : "=r"(at));		\
		at;							\
	})

static char folder[32];
static char setid[64], plain[64];

static void write_program(const char *path, const char *code, mode_t mode)
{
	const size_t size = ADDRESS(programs_end) - code;
	struct {
		Elf64_Ehdr file;
		Elf64_Phdr code;
	} head = {
		.file = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = PROGRAM_AT + sizeof(head),
			.e_phoff = sizeof(head.file),
			.e_ehsize = sizeof(head.file),
			.e_phentsize = sizeof(head.code),
			.e_phnum = 1,
		},
		.code = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = PROGRAM_AT,
			.p_filesz = sizeof(head) + size,
			.p_memsz = sizeof(head) + size,
			.p_align = 4096,
		},
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	need(fd >= 0 && write(fd, &head, sizeof(head)) == sizeof(head) &&
	     write(fd, code, size) == (ssize_t)size && !fchmod(fd, mode), path);
	close(fd);
}

static bool is_in_program(__u64 address)
{
	return address - PROGRAM_AT < PROGRAM_SIZE;
}

/* Count the branches from or to the programs of this test. */
static size_t branches_in_programs(const struct trace *trace)
{
	size_t i, n = 0;

	for (i = 0; i < trace->n; i++)
		n += is_in_program(trace->records[i].from) ||
		     is_in_program(trace->records[i].to);
	return n;
}

static long execute_setid(long unused)
{
	char * const argv[] = { setid, plain, NULL };
	char * const envp[] = { NULL };

	execve(setid, argv, envp);
	_exit(1);
}

static long execute_plain(long unused)
{
	char * const argv[] = { plain, NULL };
	char * const envp[] = { NULL };

	execve(plain, argv, envp);
	_exit(1);
}

/* Return the records that a user reads whose process executes the set-id program. */
static struct trace execute(__u32 scope)
{
	struct trace all = {};
	struct target target;
	int fd;

	become_nobody();
	start(&target);
	fd = consumer(target.pid, scope, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 300);
	tell(&target, SELF, execute_setid, 0);
	read_on(fd, &all, SIZE_MAX);
	holds(all.n > 300, "earlier branches of the process are recorded");
	close(fd);
	stop(&target);
	return all;
}

/* The set-id program dies before anything is written. */
static void see_quit(void)
{
	struct trace all = execute(UTRACE_SCOPE_PROCESS);

	is(0, branches_in_programs(&all),
	   "no address of the program is recorded");
	is(1, count_type(&all, UTRACE_BRANCH_HIDDEN), "the program is hidden");
	is(0, count_type(&all, UTRACE_BRANCH_END), "no END");
}

/* The set-id program becomes root, and executes a program that forks. */
static void see_rise(void)
{
	struct trace all = execute(UTRACE_SCOPE_TREE);

	is(0, branches_in_programs(&all),
	   "no address of the programs is recorded");
	is(1, count_type(&all, UTRACE_BRANCH_HIDDEN),
	   "the programs are hidden once");
	is(1, count_type(&all, UTRACE_BRANCH_START), "nothing else begins");
	is(0, count_type(&all, UTRACE_BRANCH_END), "no END");
}

/* The set-id program gives up its rights, and executes a program that forks. */
static void see_fall(void)
{
	struct trace all = execute(UTRACE_SCOPE_TREE);

	is(1, count_type(&all, UTRACE_BRANCH_HIDDEN),
	   "the first program is hidden");
	is(3, count_type(&all, UTRACE_BRANCH_START), "two processes begin");
	is(2, count_type(&all, UTRACE_BRANCH_END), "two processes end");
	holds(branches_in_programs(&all) >= 2000,
	      "branches of the programs are recorded");
}

/* The ring is full when the process becomes one that may not be seen. */
static void see_full_ring(void)
{
	struct utrace_ioc_branches arg = {
		.full = UTRACE_FULL_DROP,
		.capacity = 512,
		.where.scope = UTRACE_SCOPE_PROCESS,
	};
	struct trace all = {};
	struct target target;
	int dev, fd;

	become_nobody();
	start(&target);
	dev = open("/dev/utrace", O_RDWR | O_CLOEXEC);
	arg.where.fd = pidfd_of(target.pid, 0);
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 2000);
	have(&target, SELF, set_dumpable, 0);
	have(&target, SELF, make_branches, 2000);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	is(513, all.n, "the records that had room, and one LOST");
	is(UTRACE_BRANCH_LOST, type_of(&all.records[all.n - 1]),
	   "the last record is LOST");
	holds(all.records[all.n - 1].from > 1500, "%llu records are lost",
	      all.records[all.n - 1].from);
	close(fd);
	close(dev);
	stop(&target);
}

/* The number of records that the consumer has ever had. */
static __u64 written(int fd)
{
	struct utrace_ioc_branch_info info = {};

	need(!command(fd, UTRACE_IOC_BRANCH_INFO, &info), "UTRACE_IOC_BRANCH_INFO");
	return info.written;
}

/*
 * A user may not trace for a while; after that the process executes a program.
 */
static int see_sysctl(void *unused)
{
	struct trace all = {};
	struct target target;
	__u64 before, after;
	int fd;

	become_nobody();
	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 300);
	/* A thread delivers its records before a system call. */
	settle(&target, SELF);
	before = written(fd);
	have_sysctl(UNPRIVILEGED, "0");
	have(&target, SELF, make_branches, 5000);
	settle(&target, SELF);
	after = written(fd);
	is(1, after - before, "0: one more record is read");
	have_sysctl(UNPRIVILEGED, "1");
	tell(&target, SELF, execute_plain, 0);
	read_on(fd, &all, SIZE_MAX);
	holds(before > 300, "1: %llu records are read", before);
	is(UTRACE_BRANCH_HIDDEN, type_of(&all.records[before]),
	   "0: that record is HIDDEN");
	is(1, count_type(&all, UTRACE_BRANCH_HIDDEN), "one HIDDEN");
	is(0, count_type(&all, UTRACE_BRANCH_LOST), "nothing is lost");
	is(2, count_type(&all, UTRACE_BRANCH_START), "1: the program begins");
	is(1, count_type(&all, UTRACE_BRANCH_END), "1: the program ends");
	holds(branches_in_programs(&all) >= 1000,
	      "1: branches of the program are recorded");
	close(fd);
	stop(&target);
	return dev_test->exit_code;
}

FIXTURE(rights) {
};

FIXTURE_SETUP(rights)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	need(!set_unprivileged("1"), "the sysctl");
	need(!chmod("/dev/utrace", 0666), "the device");
	snprintf(folder, sizeof(folder), "/tmp/utrace-bts.XXXXXX");
	need(mkdtemp(folder) && !chmod(folder, 0755), folder);
	snprintf(setid, sizeof(setid), "%s/setid", folder);
	snprintf(plain, sizeof(plain), "%s/plain", folder);
	write_program(plain, ADDRESS(work), 0755);
}

FIXTURE_TEARDOWN(rights)
{
	unlink(plain);
	unlink(setid);
	rmdir(folder);
	set_unprivileged("0");
	dev_end();
}

/* Have a user see what the set-id program @code does. */
static void as_nobody(void (*see)(void), const char *code)
{
	int status;
	pid_t pid;

	if (code)
		write_program(setid, code, 04755);
	pid = fork();
	if (!pid) {
		see();
		exit(dev_test->exit_code);
	}
	need(waitpid(pid, &status, 0) == pid, "wait");
	is(0, status, "the checks of a user without privileges");
}

TEST_F(rights, quit)
{
	as_nobody(see_quit, ADDRESS(quit));
}

TEST_F(rights, rise)
{
	as_nobody(see_rise, ADDRESS(rise));
}

TEST_F(rights, fall)
{
	as_nobody(see_fall, ADDRESS(fall));
}

TEST_F(rights, full_ring)
{
	as_nobody(see_full_ring, NULL);
}

TEST_F(rights, sysctl)
{
	is(0, in_child_with_sysctls(see_sysctl, NULL),
	   "the checks of a user without privileges");
}

TEST_HARNESS_MAIN
