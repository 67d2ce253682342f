// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - run functions of the command with damaged input
 *
 * Usage: PROGRAM SEED SECONDS CORPUS
 *
 * Inputs are the files of the folder CORPUS, unchanged and changed at random,
 * by numbers that depend on SEED only.  An input fails if its process dies of a
 * signal, a sanitizer finds a fault, or it takes too long.  It is written to
 * PROGRAM.failed then, and its number is printed; the same SEED makes it again.
 *
 * A file of the corpus has words: "TEXT" for bytes without blanks, .N for N
 * bytes of 0, and otherwise bytes in hexadecimal; '#' begins a comment.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "lib/fail.h"

/* Seconds that an input may take. */
#define LIMIT		60

/* Bytes of an input. */
#define MOST		(256 << 10)

#define INPUTS_MAX	64

struct input {
	size_t n;
	char data[MOST + 1];
};

static struct input *corpus[INPUTS_MAX];
static size_t ncorpus;

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "exitcode=77:detect_leaks=0:allocator_may_return_null=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "exitcode=77:print_stacktrace=1";
}

int fuzz_file(const char *data, size_t n)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n ||
	    lseek(fd, 0, SEEK_SET))
		err(1, "memfd");
	return fd;
}

/* The corpus */

static void append(struct input *input, const void *bytes, size_t n)
{
	if (n > MOST - input->n)
		errx(1, "an input is too long");
	if (bytes)
		memcpy(input->data + input->n, bytes, n);
	input->n += n;
}

static void take_word(struct input *input, char *word)
{
	size_t n = strlen(word);
	unsigned char byte;

	if (*word == '"') {
		append(input, word + 1, n - 2);
		return;
	}
	if (*word == '.') {
		append(input, NULL, strtoul(word + 1, NULL, 10));
		return;
	}
	for (; *word; word += 2) {
		if (sscanf(word, "%2hhx", &byte) != 1 || !word[1])
			errx(1, "%s is no word of a corpus", word);
		append(input, &byte, 1);
	}
}

static void read_input(const char *path)
{
	struct input *input = calloc(1, sizeof(*input));
	FILE *file = fopen(path, "re");
	char *line = NULL, *word, *rest;
	size_t size = 0;

	if (!input || !file || ncorpus == INPUTS_MAX)
		err(1, "%s", path);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "#\n")] = '\0';
		for (rest = line; (word = strsep(&rest, " \t"));)
			if (*word)
				take_word(input, word);
	}
	free(line);
	fclose(file);
	corpus[ncorpus++] = input;
}

static int no_dots(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

static void read_corpus(const char *folder)
{
	struct dirent **names;
	int i, n = scandir(folder, &names, no_dots, alphasort);
	char *path;

	if (n <= 0)
		errx(1, "%s: there is no corpus", folder);
	for (i = 0; i < n; i++) {
		if (asprintf(&path, "%s/%s", folder, names[i]->d_name) < 0)
			err(1, "memory");
		read_input(path);
		free(path);
		free(names[i]);
	}
	free(names);
}

/* Changes */

static uint64_t state;

/* A random number below @most. */
static uint64_t choose(uint64_t most)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % most;
}

/* Choose a place, often near the start, where formats have their headers. */
static size_t place(const struct input *input)
{
	size_t n = input->n;

	if (n > 512 && choose(2))
		n = 512;
	return choose(n);
}

static void replace_number(struct input *input)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 1ULL << 32, INT64_MAX, 1ULL << 63,
		-1ULL, -8ULL, -0x1000ULL,
	};
	uint64_t number = odd[choose(sizeof(odd) / sizeof(*odd))];
	size_t size = 1 << choose(4), at = place(input) & -size;

	if (!choose(4))
		number = input->n - choose(9);
	if (at + size <= input->n)
		memcpy(input->data + at, &number, size);
}

/* Copy some bytes of any input to a place, or take some away. */
static void paste(struct input *input)
{
	const struct input *from = corpus[choose(ncorpus)];
	size_t at = place(input), begin = choose(from->n);
	size_t n = 1 + choose(64);

	if (n > from->n - begin)
		n = from->n - begin;
	if (n > MOST - input->n)
		return;
	memmove(input->data + at + n, input->data + at, input->n - at);
	memcpy(input->data + at, from->data + begin, n);
	input->n += n;
}

static void cut(struct input *input)
{
	size_t at = place(input), n = 1 + choose(choose(8) ? 32 : input->n);

	if (n > input->n - at)
		n = input->n - at;
	memmove(input->data + at, input->data + at + n, input->n - at - n);
	input->n -= n;
}

static void change(struct input *input)
{
	size_t n = 1 + choose(1 << choose(6));

	while (n-- && input->n) {
		switch (choose(8)) {
		case 0:
			paste(input);
			break;
		case 1:
			cut(input);
			break;
		case 2 ... 4:
			replace_number(input);
			break;
		case 5:
			input->data[place(input)] ^= 1 << choose(8);
			break;
		default:
			input->data[place(input)] = choose(256);
		}
	}
	input->data[input->n] = '\0';
}

/* Running */

/* Run one input in a child, whose output is shown only if it fails. */
static bool run(struct input *input, FILE *printed)
{
	int status;
	pid_t pid;

	rewind(printed);
	if (ftruncate(fileno(printed), 0))
		err(1, "ftruncate");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		dup2(open("/dev/null", O_RDWR), 0);
		dup2(0, 1);
		dup2(fileno(printed), 2);
		alarm(LIMIT);
		fuzz_one(input->data, input->n);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return WIFEXITED(status) && (!WEXITSTATUS(status) ||
				     WEXITSTATUS(status) == STATUS_FAILED);
}

static void report_failure(const struct input *input, const char *program,
			   FILE *printed)
{
	char *path, line[1024];
	FILE *file;

	if (asprintf(&path, "%s.failed", program) < 0)
		err(1, "memory");
	file = fopen(path, "we");
	if (!file || fwrite(input->data, 1, input->n, file) != input->n ||
	    fclose(file))
		err(1, "%s", path);
	printf("# the input is in %s\n", path);
	rewind(printed);
	while (fgets(line, sizeof(line), printed))
		printf("# %s", line);
}

int main(int argc, char **argv)
{
	static struct input input;
	FILE *printed = tmpfile();
	unsigned long i;
	time_t end;

	if (argc != 4 || !printed)
		errx(1, "usage: %s SEED SECONDS CORPUS", argv[0]);
	read_corpus(argv[3]);
	end = time(NULL) + atol(argv[2]);
	for (i = 0; i < ncorpus || time(NULL) < end; i++) {
		state = strtoull(argv[1], NULL, 10) + (i << 32);
		input = *corpus[i < ncorpus ? i : choose(ncorpus)];
		if (i >= ncorpus)
			change(&input);
		if (run(&input, printed))
			continue;
		printf("# seed %s, input %lu failed\n", argv[1], i);
		report_failure(&input, argv[0], printed);
		return 1;
	}
	printf("# seed %s: %lu inputs\n", argv[1], i);
	return 0;
}
