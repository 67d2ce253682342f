// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - tests of functions of the command that need no kernel with utrace
 *
 * Prints lines "ok TEXT" and "not ok TEXT", see scripts/command-check.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/engines.h"
#include "lib/apart.h"
#include "lib/children.h"
#include "lib/files.h"
#include "lib/intern.h"
#include "lib/pairs.h"
#include "lib/screen.h"
#include "marker/args.h"
#include "check.h"

/* Text for people */

static bool shows(const char *text, int width, const char *want)
{
	const char *got = shorten(text, width);

	if (!strcmp(got, want))
		return true;
	printf("# '%s' instead of '%s'\n", got, want);
	return false;
}

static void test_text(void)
{
	static char longest[5000];

	holds(shows("plain", 80, "plain") && shows("0123456789", 6, "01..89") &&
	      shows("0123456789", 10, "0123456789"), "ASCII");
	holds(shows("a\033[2J\n\x7f", 80, "a?[2J??"), "control characters");
	holds(shows("größe", 80, "größe") && shows("€𝄞", 80, "€𝄞"), "UTF-8");
	holds(shows("äöüÄÖÜßéèê", 10, "äöüÄÖÜßéèê") &&
	      shows("äöüÄÖÜßéèê", 6, "äö..èê"), "characters are not cut");
	holds(shows("\x9b[2J", 80, "?[2J") && shows("\xc2\x9b[2J", 80, "??[2J"),
	      "control characters of 8 bits");
	holds(shows("\xc3", 80, "?") && shows("\xc0\xaf", 80, "??") &&
	      shows("\xed\xa0\x80", 80, "???") &&
	      shows("\xf4\x90\x80\x80", 80, "????") &&
	      shows("\xe0\x80\x80", 80, "???") && shows("\xff", 80, "?"),
	      "invalid UTF-8");
	memset(longest, 'x', sizeof(longest) - 1);
	holds(strlen(shorten(longest, 4000)) == 1023, "the longest text");
	holds(padding("größe", 10) == 12 && padding("size", 10) == 10,
	      "padding counts characters");
}

/* Lines of /proc/PID/utrace */

static void test_engines(void)
{
	struct engine engine;
	char name[4 * 31 + 1], line[512];
	int i;

	for (i = 0; i < 31; i++)
		memcpy(name + 4 * i, "\\040", 5);
	snprintf(line, sizeof(line),
		 "%s mod tree observer exit 3 - - pid:7\n", name);
	holds(engine_parse(&engine, line) && !strcmp(engine.name, name) &&
	      !strcmp(engine.owner, "mod") && !strcmp(engine.scope, "tree") &&
	      !strcmp(engine.events, "exit") && !strcmp(engine.hold, "3") &&
	      !strcmp(engine.awaits, "pid:7"), "a name of 31 blanks");
	holds(engine_parse(&engine, "a b c d e -\n") &&
	      !strcmp(engine.awaits, "-"), "a line without AWAITS");
	holds(!engine_parse(&engine, "a b c d e\n"), "a line without HOLD");
}

/* Check whether ps may merge the lines of two threads with these columns. */
static bool merges(const char *hold, const char *awaits, const char *other_hold,
		   const char *other_awaits)
{
	struct engine a = {}, b = {};

	snprintf(a.hold, sizeof(a.hold), "%s", hold);
	snprintf(a.awaits, sizeof(a.awaits), "%s", awaits);
	snprintf(b.hold, sizeof(b.hold), "%s", other_hold);
	snprintf(b.awaits, sizeof(b.awaits), "%s", other_awaits);
	return engine_holds_alike(&a, &b) && engine_holds_alike(&b, &a);
}

static void test_merge(void)
{
	holds(merges("-", "-", "3", "pid:7"), "only one thread is held");
	holds(merges("5", "pid:7", "3", "pid:7"), "both await one process");
	holds(!merges("5", "pid:7", "3", "pid:8"), "each awaits a process");
	holds(!merges("5", "-", "3", "pid:8"), "one awaits nobody");
}

/* Arguments of markers */

static bool has_place(const char *text, const char *want)
{
	struct marker_args args;
	char place[64];

	marker_args_parse(&args, text, 8);
	if (args.n != 1)
		return false;
	marker_arg_place(&args.arg[0], place, sizeof(place));
	return !strcmp(place, want);
}

static void test_args(void)
{
	holds(has_place("8@16(%rsp)", "[rsp+16]") && has_place("-4@%eax", "rax") &&
	      has_place("4@$7", "7") && has_place("1@-8(%rbp,%rcx,4)",
						  "[rbp+rcx*4-8]"),
	      "arguments");
	/* A sanitizer finds reads after the end. */
	holds(has_place("8@(,", "?") && has_place("8@(", "?") &&
	      has_place("8@%", "?") && has_place("8@", "?") &&
	      has_place("8@(%rax,", "?") && has_place("8@(%rax,%rcx,", "?"),
	      "arguments that end too early");
}

/* Files */

static char folder[32];

static char *in_folder(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		abort();
	return path;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) == EOF || fclose(file) || chmod(path, 0755))
		abort();
}

/* Check whether the file contains @text, and close it. */
static bool reads(int fd, const char *text)
{
	char got[32] = "";
	bool right = fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0 &&
		     !strcmp(got, text);

	if (fd >= 0)
		close(fd);
	return right;
}

/* Check that a file that is not regular is refused, and not opened. */
static bool refuses(const char *path)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;
	char events[1024];
	bool right;

	if (inotify_add_watch(watch, path, IN_OPEN) < 0)
		return false;
	fd = file_open(path);
	right = fd < 0 && errno == EISDIR &&
		read(watch, events, sizeof(events)) < 0 && errno == EAGAIN;
	if (fd >= 0)
		close(fd);
	close(watch);
	return right;
}

static void test_open(void)
{
	char *path = in_folder("file"), *fifo = in_folder("fifo");

	write_file(path, "text");
	if (mkfifo(fifo, 0666))
		abort();
	holds(reads(file_open(path), "text"), "a file is opened");
	holds(refuses(fifo), "a FIFO is not opened");
	holds(refuses("/dev/null"), "a device is not opened");
	holds(refuses(folder), "a folder is not opened");
	holds(file_open("/proc/self/maps") < 0 && errno == EISDIR,
	      "a file of /proc is not opened");
	holds(file_open("/no/such/file") < 0 && errno == ENOENT,
	      "a missing file is not opened");
	unlink(path);
	unlink(fifo);
	free(path);
	free(fifo);
}

/* Find the line of the mappings of this process that has an address. */
static char *line_of(void *address, struct maps_line *maps)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long at = (unsigned long)address;
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		if (maps_parse(maps, line) && maps->start <= at && at < maps->end)
			break;
	if (file)
		fclose(file);
	return line;
}

/*
 * Check how file_open_mapped() finds the mapped file, whose text is "mapped".
 * If @found is false, the function may also fail with ESTALE, but not open
 * another file.
 */
static bool finds_mapped(const struct maps_line *maps, bool found)
{
	int fd = file_open_mapped(getpid(), maps);

	if (fd < 0 && !found)
		return errno == ESTALE;
	return reads(fd, "mapped");
}

/* Do finds_mapped() without privileges: only the path names the file then. */
static bool finds_as_nobody(const struct maps_line *maps, bool found)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (!getuid() && setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(!finds_mapped(maps, found));
	}
	return waitpid(child, &status, 0) == child && !status;
}

static void test_mapped(void)
{
	char *path = in_folder("mapped"), *old = in_folder("old"), *line;
	struct maps_line maps;
	void *at;
	int fd;

	if (chmod(folder, 0755))
		abort();
	write_file(path, "mapped");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	line = line_of(at, &maps);
	holds(finds_mapped(&maps, true), "a mapped file is found");
	holds(finds_as_nobody(&maps, true), "a mapped file is found by its path");
	/* Another file gets the path, as by a mount. */
	rename(path, old);
	write_file(path, "other");
	holds(finds_mapped(&maps, !geteuid()), "another file with its path is not taken for it");
	holds(finds_as_nobody(&maps, false), "another file is not opened without privileges");
	munmap(at, 1);
	unlink(path);
	unlink(old);
	free(line);
	free(path);
	free(old);
}

/* Children that parse */

static void crash(FILE *in, FILE *out, void *data)
{
	(void)in;
	(void)data;
	fputs("before", out);
	fflush(out);
	__builtin_trap();
}

static void answer(FILE *in, FILE *out, void *data)
{
	int c;

	(void)data;
	while ((c = getc(in)) != EOF) {
		putc(c + 1, out);
		fflush(out);
	}
}

/*
 * Send the number of descriptors but the standard ones: the socket, its copy,
 * and the one that the child may keep.
 */
static void count_descriptors(FILE *in, FILE *out, void *data)
{
	int fd, n = 0;

	(void)in;
	(void)data;
	for (fd = 3; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	putc(n, out);
}

static void test_apart(void)
{
	int some = open("/dev/null", O_RDONLY), keep = open("/dev/null", O_RDONLY);
	char text[16] = "";
	struct apart apart;
	const char *why;

	apart_start(&apart, -1, answer, NULL);
	holds(apart_send(&apart, "a", 1) && getc(apart.from) == 'b' &&
	      apart_send(&apart, "x", 1) && getc(apart.from) == 'y' &&
	      !apart_end(&apart), "a child answers, and ends");
	apart_start(&apart, keep, count_descriptors, NULL);
	holds(getc(apart.from) == 3 && !apart_end(&apart),
	      "a child has no other descriptors");
	apart_start(&apart, -1, crash, NULL);
	holds(fread(text, 6, 1, apart.from) && !strcmp(text, "before") &&
	      getc(apart.from) == EOF, "what a child sends before a crash is read");
	usleep(10000);
	holds(!apart_send(&apart, text, sizeof(text)) || getc(apart.from) == EOF,
	      "a question after the crash raises no SIGPIPE");
	why = apart_end(&apart);
	holds(why && strstr(why, "crashed"), "a crash is reported");
	close(some);
	close(keep);
}

/* Start a child that ends at once.  Wait until it has, without reaping it. */
static pid_t ended_child(int status)
{
	siginfo_t info;
	pid_t child = fork();

	if (!child)
		_exit(status);
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	return child;
}

static void test_children(void)
{
	pid_t kept = ended_child(1), other = ended_child(2);
	int status;

	child_keep(kept);
	holds(child_reap(&status) == other && WEXITSTATUS(status) == 2,
	      "a child that nobody waits for is reaped");
	holds(!child_reap(&status) && WEXITSTATUS(child_wait(kept)) == 1,
	      "the status of a child is kept");
}

static void test_intern(void)
{
	char name[32];
	int i;

	for (i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "name%d", i % 50000);
		if (strcmp(intern(name), name))
			break;
	}
	holds(i == 100000 && intern("name7") == intern("name7") &&
	      intern("name7") != intern("name8"), "equal texts are one");
}

int main(void)
{
	snprintf(folder, sizeof(folder), "/tmp/utrace-check-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	test_text();
	test_engines();
	test_merge();
	test_args();
	test_open();
	test_mapped();
	test_apart();
	test_children();
	test_intern();
	rmdir(folder);
	return failed;
}
