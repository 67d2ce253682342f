// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: arguments of ARM, DISARM, LIST and READ
 */
#include "words.h"

#define BIT		UTRACE_WORD_BIT32
#define COUNT16		UTRACE_WORD_COUNT16

#define BIT_SET		0x80000000

#define WORD		(area + PAGE)
#define OTHER		(area + PAGE + 64)

static unsigned long of_size(unsigned long cmd, size_t size)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
}

/* The word that most arguments of ARM describe. */
static const struct utrace_word bit_of_word = {
	.addr = (uintptr_t)WORD,
	.kind = BIT,
	.bit = 31,
};

/*
 * Open a session and attach it to what the descriptor @where stands for.  Returns -1 if
 * this kernel lacks the scope.
 */
static int open_scope(int where, __u32 scope)
{
	int fd = session(), ret;

	need(!setup(fd, small_rings()), "setup");
	ret = attach_fd(fd, where, scope);
	if (where >= 0)
		close(where);
	if (ret > 0)
		return fd;
	close(fd);
	return -1;
}

/* ARM refuses words if the target is neither a process nor a tree. */
static void check_no_words(int fd, const char *text)
{
	struct utrace_ioc_arm arg = word_argument(&bit_of_word);
	struct utrace_armed row;
	__u32 total;

	if (fd < 0) {
		printf("#   %s: not here\n", text);
		return;
	}
	is(-EOPNOTSUPP, command(fd, UTRACE_IOC_ARM, &arg), text);
	is(0, word_list(fd, &row, 1, &total), "  it has nothing to list");
	close(fd);
}

TEST_F(dev, scopes_without_words)
{
	struct target target;

	start_words(&target);
	check_no_words(open_scope(pidfd_of(target.pid, PIDFD_THREAD),
				  UTRACE_SCOPE_THREAD), "a thread");
	check_no_words(open_scope(-1, UTRACE_SCOPE_SYSTEM), "the system");
	check_no_words(open_scope(open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC),
				  UTRACE_SCOPE_CGROUP), "a cgroup");
	check_no_words(open_scope(open("/bin/true", O_RDONLY | O_CLOEXEC),
				  UTRACE_SCOPE_EXE), "an executable");
	is(0, look(&target, WORD, 4), "nothing is armed");
	is(0, word_engines(target.pid), "and there is no engine");
	stop(&target);
}

/* Call ARM with an argument of which one member is wrong. */
static void check_arm(int fd, int error, struct utrace_ioc_arm arg,
		      const char *text)
{
	is(error, command(fd, UTRACE_IOC_ARM, &arg), text);
}

static void check_members(int fd)
{
	const struct utrace_ioc_arm good = word_argument(&bit_of_word);
	static const __u32 types[] = { 0, 4, 32, 1 << 16, ~0U };
	static const __u32 flags[] = {
		UTRACE_ARM_F_COUNT, UTRACE_ARM_F_HISTOGRAM, 4, 1U << 31, ~0U,
	};
	static const __u32 targets[] = { 0, 2, 1 << 16, ~0U };
	static const __u64 specs[] = { 0, 8, 1ULL << 63, ~0ULL };
	struct utrace_ioc_arm arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		arg = good;
		arg.type = types[i];
		check_arm(fd, -EINVAL, arg, "no such type");
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		arg = good;
		arg.flags = flags[i];
		check_arm(fd, -EINVAL, arg, "no flag of a word");
	}
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		arg = good;
		arg.target = targets[i];
		check_arm(fd, -ENOENT, arg, "no such target");
	}
	for (i = 0; i < ARRAY_SIZE(specs); i++) {
		arg = good;
		arg.spec = specs[i];
		check_arm(fd, -EFAULT, arg, "no structure");
	}
	arg = good;
	arg.reserved = 1;
	check_arm(fd, -EINVAL, arg, "what is reserved");
}

/* ARM refuses a struct utrace_word of a wrong size. */
static void check_spec_sizes(int fd)
{
	union {
		struct utrace_word word;
		unsigned char bytes[8192];
	} spec = { .word = bit_of_word };
	struct utrace_ioc_arm arg = word_argument(&spec.word);
	static const __u32 small[] = { 0, 1, 8, UTRACE_WORD_SIZE_VER0 - 1 };
	static const __u32 large[] = { 4097, 4104, 8192, ~0U };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(small); i++) {
		arg.spec_size = small[i];
		check_arm(fd, -EINVAL, arg, "a word that is too small");
	}
	for (i = 0; i < ARRAY_SIZE(large); i++) {
		arg.spec_size = large[i];
		check_arm(fd, -E2BIG, arg, "a word that is too large");
	}
	for (i = 1; i <= 8; i++) {
		spec.bytes[sizeof(spec.word) + i - 1] = 1;
		arg.spec_size = sizeof(spec.word) + i;
		check_arm(fd, -E2BIG, arg, "a larger word, and not 0");
		spec.bytes[sizeof(spec.word) + i - 1] = 0;
	}
	spec.bytes[4095] = 1;
	arg.spec_size = 4096;
	check_arm(fd, -E2BIG, arg, "the largest word, and not 0");
}

TEST_F(dev, arguments_of_words)
{
	struct utrace_ioc_disarm disarm = {};
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	check_members(fd);
	check_spec_sizes(fd);
	is(-EFAULT, command(fd, UTRACE_IOC_ARM, (void *)8), "no memory");
	is(-EFAULT, command(fd, UTRACE_IOC_DISARM, (void *)8), "nor for DISARM");
	is(-ENOENT, command(fd, UTRACE_IOC_DISARM, &disarm), "DISARM of id 0");
	disarm.id = 1;
	is(-ENOENT, command(fd, UTRACE_IOC_DISARM, &disarm), "of no id");
	disarm.flags = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_DISARM, &disarm), "a flag of DISARM");
	is(-ENOTTY, command(fd, _IO(0xBC, 0xff), NULL), "no such ioctl");
	is(0, words_total(fd), "nothing is armed by all that");
	is(0, look(&target, WORD, 4), "as the program sees");
	close(fd);
	fd = session();
	check_arm(fd, -ENOENT, word_argument(&bit_of_word), "a session without target");
	close(fd);
	stop(&target);
}

/* Room for any argument, of any size. */
union sized {
	struct utrace_ioc_arm arm;
	struct utrace_ioc_disarm disarm;
	struct utrace_ioc_list list;
	struct utrace_ioc_hits hits;
	unsigned char bytes[8192];
};

/*
 * The kernel refuses an ioctl whose structure has a wrong size.  @arg is right
 * otherwise; the caller checks that the refused ioctls have done nothing.
 */
static void check_sizes(int fd, unsigned long cmd, size_t first, union sized *arg,
			const char *text)
{
	const size_t size = _IOC_SIZE(cmd);

	is(-EINVAL, command(fd, of_size(cmd, 0), arg), text);
	is(-EINVAL, command(fd, of_size(cmd, first - 4), arg), "  too small");
	is(-E2BIG, command(fd, of_size(cmd, 4104), arg), "  too large");
	arg->bytes[size + 7] = 1;
	is(-E2BIG, command(fd, of_size(cmd, size + 8), arg), "  larger, and not 0");
	arg->bytes[size + 7] = 0;
}

TEST_F(dev, sizes_of_arguments)
{
	struct utrace_armed row = {};
	union sized arg = { .arm = word_argument(&bit_of_word) };
	struct target target;
	__u32 id;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	check_sizes(fd, UTRACE_IOC_ARM, UTRACE_IOC_ARM_SIZE_VER0, &arg, "ARM");
	is(0, look(&target, WORD, 4), "nothing is armed by all that");
	is(0, command(fd, of_size(UTRACE_IOC_ARM, 4096), &arg), "larger, with zeros");
	is(UTRACE_ARM_STATE_ARMED, arg.arm.state, "  has a state");
	is(0, arg.arm.error, "  and no reason");
	is(BIT_SET, look(&target, WORD, 4), "is armed");
	id = arg.arm.id;

	arg = (union sized){
		.list = { .target = WORD_TARGET, .what = UTRACE_LIST_ARMED },
	};
	arg.list.rows.at = (uintptr_t)&row;
	arg.list.rows.n = 1;
	arg.list.rows.size = sizeof(row);
	check_sizes(fd, UTRACE_IOC_LIST, UTRACE_IOC_LIST_SIZE_VER0, &arg, "LIST");
	is(0, command(fd, of_size(UTRACE_IOC_LIST, 4096), &arg), "larger, with zeros");
	is(1, arg.list.rows.total, "  has all rows");
	is(id, row.id, "  and their contents");

	arg = (union sized){ .hits = {
		.target = WORD_TARGET,
		.what = UTRACE_HITS_COUNT,
		.rows.size = sizeof(struct utrace_hit_count),
	} };
	check_sizes(fd, UTRACE_IOC_HITS, UTRACE_IOC_HITS_SIZE_VER0, &arg, "HITS");
	is(0, command(fd, of_size(UTRACE_IOC_HITS, 4096), &arg), "larger, with zeros");
	is(0, arg.hits.rows.total, "  words have no counts");

	arg = (union sized){ .disarm.id = id };
	check_sizes(fd, UTRACE_IOC_DISARM, UTRACE_IOC_DISARM_SIZE_VER0, &arg, "DISARM");
	is(BIT_SET, look(&target, WORD, 4), "nothing is disarmed by all that");
	is(0, command(fd, of_size(UTRACE_IOC_DISARM, 4096), &arg), "larger, with zeros");
	is(0, look(&target, WORD, 4), "is disarmed");
	close(fd);
	stop(&target);
}

/* ARM takes a larger struct utrace_word if zeros follow the members that it knows. */
TEST_F(dev, larger_words)
{
	union {
		struct utrace_word word;
		unsigned char bytes[4096];
	} spec = { .word = bit_of_word };
	struct utrace_ioc_arm arg = word_argument(&spec.word);
	static const __u32 sizes[] = { 17, 24, 4096 };
	struct target target;
	size_t i;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		arg.spec_size = sizes[i];
		is(0, command(fd, UTRACE_IOC_ARM, &arg), "a larger word");
		is(BIT_SET, look(&target, WORD, 4), "  is armed");
		is(0, disarm_id(fd, arg.id), "  and disarmed");
		is(0, look(&target, WORD, 4), "  as the program sees");
	}
	close(fd);
	stop(&target);
}

/* The kernel refuses LIST and READ if the description of their rows is wrong. */
static void check_rows(int fd, unsigned long cmd, struct utrace_rows *rows,
		       void *arg, __u32 first)
{
	const struct utrace_rows good = *rows;

	rows->size = first - 1;
	is(-EINVAL, command(fd, cmd, arg), "  rows that are too small");
	rows->size = 0;
	is(-EINVAL, command(fd, cmd, arg), "  or have no size");
	rows->size = 4097;
	is(-E2BIG, command(fd, cmd, arg), "  rows that are too large");
	*rows = good;
	rows->reserved = 1;
	is(-EINVAL, command(fd, cmd, arg), "  what is reserved in rows");
	*rows = good;
	is(good.n, rows->n, "  an error changes no member");
}

TEST_F(dev, arguments_of_list)
{
	static char rows[4][sizeof(struct utrace_armed) + 16]
		__attribute__((aligned(8)));
	static const __u32 targets[] = { 0, 2, ~0U };
	struct utrace_ioc_list arg = {
		.what = UTRACE_LIST_ARMED,
		.target = WORD_TARGET,
		.rows = {
			.at = (uintptr_t)rows,
			.n = 4,
			.size = sizeof(struct utrace_armed),
		},
	};
	const char none[16] = {};
	struct target target;
	size_t i;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, BIT, 31);
	arm(fd, OTHER, COUNT16, 0);
	holds(true, "LIST");
	check_rows(fd, UTRACE_IOC_LIST, &arg.rows, &arg, UTRACE_ARMED_SIZE_VER0);
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		arg.target = targets[i];
		is(-ENOENT, command(fd, UTRACE_IOC_LIST, &arg), "  no such target");
	}
	arg.target = WORD_TARGET;
	arg.what = 0;
	is(-EINVAL, command(fd, UTRACE_IOC_LIST, &arg), "  nothing to list");
	arg.what = UTRACE_LIST_ARMED;
	is(-EFAULT, command(fd, UTRACE_IOC_LIST, (void *)8), "  no memory");
	memset(rows, 0x5a, sizeof(rows));
	arg.rows.size = sizeof(rows[0]);
	is(0, command(fd, UTRACE_IOC_LIST, &arg), "  larger rows");
	is(2, arg.rows.n, "  are filled in");
	holds(!memcmp(rows[0] + sizeof(struct utrace_armed), none, 16) &&
	      !memcmp(rows[1] + sizeof(struct utrace_armed), none, 16),
	      "  with zeros behind");
	is(0x5a, rows[2][0], "  and no more than there are");
	close(fd);
	stop(&target);
}

/* READ gives no counts of words. */
TEST_F(dev, arguments_of_read)
{
	static const __u32 whats[] = { 0, 3, ~0U };
	static const __u32 targets[] = { 0, 2, ~0U };
	struct utrace_hit_count row;
	struct utrace_ioc_hits arg = {
		.target = WORD_TARGET,
		.what = UTRACE_HITS_COUNT,
		.rows = { .at = (uintptr_t)&row, .n = 1, .size = sizeof(row) },
	};
	struct target target;
	__u32 id;
	size_t i;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	need(word_arm_for(fd, WORD_TARGET, WORD, BIT, 31, &id) >= 0, "ARM");
	holds(true, "READ");
	check_rows(fd, UTRACE_IOC_HITS, &arg.rows, &arg, UTRACE_HIT_COUNT_SIZE_VER0);
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		arg.target = targets[i];
		is(-ENOENT, command(fd, UTRACE_IOC_HITS, &arg), "  no such target");
	}
	arg.target = WORD_TARGET;
	for (i = 0; i < ARRAY_SIZE(whats); i++) {
		arg.what = whats[i];
		is(-EINVAL, command(fd, UTRACE_IOC_HITS, &arg), "  nothing to read");
	}
	arg.what = UTRACE_HITS_COUNT;
	arg.reserved = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_HITS, &arg), "  nothing to list");
	arg.reserved = 0;
	is(-EFAULT, command(fd, UTRACE_IOC_HITS, (void *)8), "  no memory");
	is(0, command(fd, UTRACE_IOC_HITS, &arg), "  all counts");
	is(0, arg.rows.n, "  are none");
	is(0, arg.rows.total, "  at all");
	arg.rows.n = 1;
	arg.id = id;
	is(-ENOENT, command(fd, UTRACE_IOC_HITS, &arg), "  the count of a word");
	arg.id = NO_SUCH_ID;
	is(-ENOENT, command(fd, UTRACE_IOC_HITS, &arg), "  nor of no id");
	arg.what = UTRACE_HITS_HISTOGRAM;
	arg.id = id;
	arg.rows.size = sizeof(__u64);
	is(-ENOENT, command(fd, UTRACE_IOC_HITS, &arg), "  the histogram of a word");
	close(fd);
	stop(&target);
}

/* If the kernel cannot write the id, it takes back what it has armed. */
TEST_F(dev, argument_in_read_only_memory)
{
	struct utrace_ioc_arm *arg = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct utrace_ioc_list *list = (void *)(arg + 1);
	struct utrace_armed row;
	struct target target;
	__u32 before, after;
	int fd;

	need(arg != MAP_FAILED, "memory");
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	*arg = word_argument(&bit_of_word);
	*list = (struct utrace_ioc_list){
		.what = UTRACE_LIST_ARMED,
		.target = WORD_TARGET,
		.rows = { .at = (uintptr_t)&row, .n = 1, .size = sizeof(row) },
	};
	need(word_arm_for(fd, WORD_TARGET, OTHER, BIT, 31, &before) >= 0, "ARM");
	need(!mprotect(arg, PAGE, PROT_READ), "mprotect");
	is(-EFAULT, command(fd, UTRACE_IOC_ARM, arg), "ARM");
	is(1, words_total(fd), "  nothing more is armed");
	is(0, look(&target, WORD, 4), "  as the program sees");
	is(-EFAULT, command(fd, UTRACE_IOC_LIST, list), "LIST");
	need(!mprotect(arg, PAGE, PROT_READ | PROT_WRITE), "mprotect");
	is(0, command(fd, UTRACE_IOC_ARM, arg), "ARM works later");
	after = arg->id;
	holds(after != before, "  with another id");
	is(BIT_SET, look(&target, WORD, 4), "  as the program sees");
	is(0, disarm_id(fd, after), "  and is disarmed");
	is(0, disarm_id(fd, before), "as the other word is");
	close(fd);
	munmap(arg, PAGE);
	stop(&target);
}

TEST_F(dev, arguments_of_arm)
{
	static const struct {
		unsigned int offset;
		__u32 kind, bit;
		const char *what;
	} bad[] = {
		{ 0, 0, 0, "no kind" },
		{ 0, UTRACE_WORD_COUNT32 + 1, 0, "no such kind" },
		{ 0, ~0U, 0, "nor that" },
		{ 1, UTRACE_WORD_BIT32, 0, "32 bits at 1" },
		{ 2, UTRACE_WORD_BIT32, 0, "32 bits at 2" },
		{ 4, UTRACE_WORD_BIT64, 0, "64 bits at 4" },
		{ 1, UTRACE_WORD_COUNT16, 0, "16 bits at 1" },
		{ 2, UTRACE_WORD_COUNT32, 0, "a count of 32 bits at 2" },
		{ 0, UTRACE_WORD_BIT32, 32, "bit 32 of 32" },
		{ 0, UTRACE_WORD_BIT64, 64, "bit 64 of 64" },
		{ 0, UTRACE_WORD_BIT32, ~0U, "bit -1" },
		{ 0, UTRACE_WORD_COUNT16, 1, "a bit of a count" },
		{ 0, UTRACE_WORD_COUNT32, 1, "a bit of a count of 32 bits" },
	};
	unsigned char zero[PAGE] = {}, seen[PAGE];
	struct target target;
	size_t i;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		is(-EINVAL, word_arm(fd, WORD + bad[i].offset, bad[i].kind,
				     bad[i].bit), bad[i].what);
	is(0, words_total(fd), "there is no word");
	read_memory(target.pid, WORD, seen, PAGE);
	holds(!memcmp(zero, seen, PAGE), "and the memory is as before");
	fails(EFAULT, fd, NULL, BIT, 31, "address 0");
	fails(EFAULT, fd, (void *)(1UL << 63), BIT, 31, "a kernel address");
	fails(EFAULT, fd, (void *)-8UL, UTRACE_WORD_BIT64, 0, "the last one");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
