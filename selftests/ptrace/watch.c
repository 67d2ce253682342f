// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a process that watches another one by /dev/utrace
 *
 * Usage: watch PID [ATTR LABEL] Attach a session to the process, say "attached"
 * to standard error, and read until the process has ended.  Then print what was
 * seen of it: "seen CODE" if that is everything up to its exit code, "hidden"
 * if it was hidden from some call on, or else what is wrong.  With ATTR, write
 * LABEL to /proc/self/attr/ATTR after the attach, before "attached" is said.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/utrace.h>

/* What the records show of the process. */
static struct {
	int calls;		/* before it was hidden */
	int hidden;
	int later;		/* calls after that */
	int ends;
	int end_is_hidden;
	int code;
} seen;

static int attach(pid_t pid)
{
	struct utrace_ioc_setup setup = { .full = UTRACE_FULL_DROP };
	struct utrace_ioc_attach target = {
		.where.scope = UTRACE_SCOPE_PROCESS,
	};
	struct utrace_ioc_events events = {
		.events = UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(EXIT),
	};
	int fd = open("/dev/utrace", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UTRACE_IOC_SETUP, &setup))
		err(1, "/dev/utrace");
	target.where.fd = syscall(SYS_pidfd_open, pid, 0);
	if (target.where.fd < 0 || ioctl(fd, UTRACE_IOC_ATTACH, &target))
		err(1, "process %d cannot be watched", pid);
	close(target.where.fd);
	if (ioctl(fd, UTRACE_IOC_EVENTS, &events))
		err(1, "events");
	return fd;
}

/* Change the label of this process. */
static void write_label(const char *attr, const char *label)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/attr/%s", attr);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, label, strlen(label)) < 0)
		err(1, "%s", path);
	close(fd);
}

/* Returns 1 if the record is the last one. */
static int look_at(const struct utrace_rec *rec)
{
	const struct utrace_rec_exit *end = (const void *)rec;

	switch (rec->type) {
	case UTRACE_REC_SYS_ENTER:
		(*(seen.hidden ? &seen.later : &seen.calls))++;
		break;
	case UTRACE_REC_HIDDEN:
		seen.hidden++;
		break;
	case UTRACE_REC_EXIT:
		seen.ends++;
		seen.end_is_hidden = !!(rec->flags & UTRACE_REC_F_HIDDEN);
		seen.code = end->code;
		break;
	case UTRACE_REC_TARGET_END:
		return 1;
	}
	return 0;
}

static void look(int fd)
{
	static char records[1 << 20] __attribute__((aligned(8)));
	struct utrace_rec *rec;
	ssize_t n, at;

	for (;;) {
		n = read(fd, records, sizeof(records));
		if (n < 0)
			err(1, "read");
		for (at = 0; at < n; at += rec->size) {
			rec = (void *)(records + at);
			if (look_at(rec))
				return;
		}
	}
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2 && argc != 4)
		errx(2, "usage: watch PID [ATTR LABEL]");
	fd = attach(atoi(argv[1]));
	if (argc == 4)
		write_label(argv[2], argv[3]);
	fprintf(stderr, "attached\n");
	look(fd);
	if (seen.calls && !seen.hidden && seen.ends == 1 && !seen.end_is_hidden)
		printf("seen %d\n", WEXITSTATUS(seen.code));
	else if (seen.calls && seen.hidden == 1 && !seen.later &&
		 seen.ends == 1 && seen.end_is_hidden && !seen.code)
		printf("hidden\n");
	else
		printf("%d calls, hidden %d times, %d calls after that, %d ends%s, code %x\n",
		       seen.calls, seen.hidden, seen.later, seen.ends,
		       seen.end_is_hidden ? " (hidden)" : "", seen.code);
	return 0;
}
