// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace branches test': test whether the processor records branches
 *
 * The kernel runs its self-test while its report is read.  This file explains
 * the results.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "branches.h"
#include "lib/fail.h"
#include "lib/memory.h"

#define REPORT		"/sys/kernel/debug/utrace/branches"

/* Exit statuses; see command.rst. */
#define STATUS_CANNOT	1
#define STATUS_IN_USE	2
#define STATUS_BROKEN	3

/* Size of the report of the kernel, which has a few lines for each CPU. */
#define REPORT_MAX	(1 << 20)

/*
 * Check whether /proc/cpuinfo has a line that begins with @key and has the word
 * @word.
 */
static bool cpu_has(const char *key, const char *word)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	size_t room = 0, n = strlen(word);
	bool found = false;
	char *line = NULL, *at;

	while (f && !found && getline(&line, &room, f) > 0) {
		if (strncmp(line, key, strlen(key)))
			continue;
		at = line;
		while (!found && (at = strstr(at + 1, word)))
			found = strchr(" \t:", at[-1]) && strchr("\n ", at[n]);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Return why the machine has no branch trace store. */
static const char *why_none(void)
{
	if (cpu_has("flags", "hypervisor"))
		return "A virtual machine has no branch trace store: "
		       "run this on the machine itself.";
	if (!cpu_has("vendor_id", "GenuineIntel"))
		return "Only processors of Intel have a branch trace store.";
	return "This processor has no branch trace store, or the firmware has "
	       "disabled it.";
}

static void __attribute__((noreturn)) cannot_read(int error)
{
	static char text[512];

	if (error == EACCES)
		fail("branches test", "only root may run it: try 'sudo utrace branches test'");
	if (error != ENOENT)
		fail(REPORT, strerror(error));
	if (access("/proc/self/utrace", F_OK))
		fail("branches test", "this kernel has no utrace");
	if (access("/sys/kernel/debug/.", X_OK) && errno == EACCES)
		cannot_read(EACCES);
	if (!cpu_has("flags", "bts")) {
		snprintf(text, sizeof(text), "this kernel cannot test it. %s",
			 why_none());
		fail("branches test", text);
	}
	fail("branches test",
	     "the processor has a branch trace store, but the kernel has no "
	     "CONFIG_UTRACE_BTS_INTEL, or debugfs is not mounted: try "
	     "'mount -t debugfs none /sys/kernel/debug'");
}

/* Run the self-test of the kernel, and read its report, which is text. */
static char *read_report(void)
{
	char *report = checked(calloc(REPORT_MAX, 1));
	int fd = open(REPORT, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		cannot_read(errno);
	while ((got = read(fd, report + n, REPORT_MAX - 1 - n)) > 0)
		n += got;
	if (got < 0)
		cannot_read(errno);
	close(fd);
	return report;
}

/* The meaning of each result.  NULL: use why_none(). */
static const struct {
	const char *result;
	int status;
	const char *text;
} results[] = {
	{ "ok", 0,
	  "All CPUs record branches correctly.  This code was written without "
	  "the\n"
	  "hardware: please send this report to the maintainers of utrace." },
	{ "in-use", STATUS_IN_USE,
	  "utrace records some CPUs now.  Run this again when that has ended." },
	{ "busy", STATUS_IN_USE,
	  "perf records branches now.  End 'perf record -b', intel_bts or "
	  "intel_pt, gdb's\n"
	  "'record btrace' or the like, and run this again." },
	{ "failed", STATUS_BROKEN,
	  "A CPU records wrong branches.  utrace will not use the branch trace "
	  "store\n"
	  "(EIO).  Please send this report to the maintainers of utrace." },
	{ "no-hardware", STATUS_CANNOT, NULL },
	{ "erratum", STATUS_CANNOT,
	  "Processors of this model may record wrong addresses, so utrace does not use\n"
	  "their branch trace store." },
	{}
};

/*
 * Print the report of the kernel and its meaning.  Returns the status: 0 if all
 * CPUs record branches correctly.
 */
int branches_test(void)
{
	const char *report = read_report(), *result;
	size_t i, n;

	fputs(report, stdout);
	result = strstr(report, "\nresult: ");
	if (!result)
		fail(REPORT, "the report has no result");
	result += strlen("\nresult: ");
	n = strcspn(result, "\n");
	for (i = 0; results[i].result; i++) {
		if (strlen(results[i].result) != n ||
		    strncmp(results[i].result, result, n))
			continue;
		printf("%s\n", results[i].text ?: why_none());
		if (fflush(stdout))
			fail("branches test", strerror(errno));
		return results[i].status;
	}
	fail(REPORT, "the result is not known to this command");
}
