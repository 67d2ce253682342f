// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a program that makes system calls with hostile arguments
 *
 * Usage: hostile_calls SEED CALLS
 * A filter of seccomp answers all calls, so that none is executed.  The arguments
 * are numbers of all kinds, and addresses of memory with hostile contents, which
 * may end within a structure.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/btrfs.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/random.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof(*(array)))

#define MEMORY		(4UL * 4096)

/* Numbers of calls are below this. */
#define NUMBERS		470

/* Calls of uprobes, which a filter does not keep from the kernel. */
#define NR_URETPROBE	335
#define NR_UPROBE	336

/* The filter allows a call with this sixth argument. */
#define ALLOW		0x600d

/* The number of ioctl() in the 32-bit table. */
#define NR_IOCTL_IA32	54

/* Memory for both tables of calls, below 4 GB. */
static char *memory;

static uint64_t number(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t below(uint64_t n)
{
	return number() % n;
}

/* Return an address, after which there may be too few bytes. */
static uint64_t address(void)
{
	if (below(2))
		return (uint64_t)memory + 8 * below(MEMORY / 8);
	return (uint64_t)memory + MEMORY - below(160);
}

static uint64_t limit(void)
{
	static const uint64_t limits[] = {
		INT32_MAX, (uint64_t)INT32_MIN, UINT32_MAX, INT64_MAX,
		(uint64_t)INT64_MIN, UINT64_MAX, UINT64_MAX - 7, 1000000000, 4096,
	};

	return below(2) ? limits[below(ARRAY_SIZE(limits))] : 1ULL << below(64);
}

static uint64_t word(void)
{
	switch (below(6)) {
	case 0:
	case 1:
		return address();
	case 2:
		return number();
	case 3:
		return limit();
	default:
		return below(below(2) ? 16 : 300);
	}
}

/* Write other contents to the memory: runs of words of one kind. */
static void fill(void)
{
	uint64_t *at = (uint64_t *)memory, *end = at + MEMORY / sizeof(*at);

	while (at < end) {
		unsigned int kind = below(5), n = 1 + below(64);

		for (; n && at < end; n--)
			*at++ = kind == 0 ? UINT64_MAX : kind == 1 ? number() :
				kind == 2 ? below(32) | below(32) << 32 : word();
	}
}

static uint64_t command(void)
{
	static const unsigned int commands[] = {
		BLKFRASET, BTRFS_IOC_SNAP_CREATE, FICLONERANGE, FIDEDUPERANGE,
		FS_IOC_FIEMAP, LOOP_GET_STATUS64, LOOP_SET_STATUS, RNDADDENTROPY,
		SIOCBRADDBR, SIOCGIFADDR, SIOCGIFCONF, SIOCGIFHWADDR, SIOCGIFMAP,
		TCGETS, TCSETS, TIOCGWINSZ, TIOCSTI, UFFDIO_API, UFFDIO_COPY,
		UFFDIO_REGISTER,
	};
	static const unsigned char types[] = { 'T', 0x89, 0x94, 'f', 0xaa };

	switch (below(3)) {
	case 0:
		return _IOC(below(4), types[below(ARRAY_SIZE(types))], below(256), below(64));
	case 1:
		return below(2) ? 0x5400 + below(128) : 0x8900 + below(256);
	default:
		return commands[below(ARRAY_SIZE(commands))];
	}
}

static void call(int ia32)
{
	uint64_t args[6], nr = below(NUMBERS);
	unsigned int i;

	for (i = 0; i < 6; i++)
		args[i] = below(2) ? word() : address();
	if (!below(16))
		nr = ia32 ? NR_IOCTL_IA32 : SYS_ioctl;
	if (!ia32 && (nr == NR_URETPROBE || nr == NR_UPROBE))
		nr = 0;
	if (nr == (ia32 ? NR_IOCTL_IA32 : SYS_ioctl))
		args[1] = command();
	if (!ia32) {
		if ((uint32_t)args[5] == ALLOW)
			args[5] = 0;
		syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
		return;
	}
	/* The sixth argument is the frame pointer, which stays as it is. */
	asm volatile("int $0x80" : "+a" (nr) : "b" (args[0]), "c" (args[1]),
		     "d" (args[2]), "S" (args[3]), "D" (args[4]) :
		     "memory", "r8", "r9", "r10", "r11");
}

/* Answer calls with 0 or an error, by a bit of the first argument. */
static int set_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ALLOW, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A kernel without calls of 32-bit programs kills a process that makes one. */
static int has_ia32(void)
{
	int status = -1, nr = 20 /* getpid() */;
	pid_t child = fork();

	if (!child) {
		asm volatile("int $0x80" : "+a" (nr) : : "memory", "r8", "r9", "r10", "r11");
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && !status;
}

int main(int argc, char **argv)
{
	unsigned long i, calls, seed;
	int ia32 = has_ia32();

	if (argc != 3)
		return 2;
	seed = strtoul(argv[1], NULL, 0);
	calls = strtoul(argv[2], NULL, 0);
	memory = mmap(NULL, MEMORY + 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (memory == MAP_FAILED || munmap(memory + MEMORY, 4096) || set_filter())
		return 2;
	for (i = 0; i < 16 + seed % 1000; i++)
		number();
	for (i = 0; i < calls; i++) {
		if (!(i % 16))
			fill();
		call(ia32 && below(3) == 0);
	}
	syscall(SYS_exit_group, 0, 0, 0, 0, 0, ALLOW);
	return 1;
}
