// SPDX-License-Identifier: GPL-2.0
/* Prints the system calls of a process until it ends:  reader PID */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/utrace.h>

static void print_call(__s32 tid, __u32 nr, const __u64 *args)
{
	printf("%d %u(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx) = ", tid, nr,
	       args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* Print a record.  Returns its size. */
static __u32 print(const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	const struct utrace_rec_sys_exit *exit = (const void *)rec;
	const struct utrace_rec_sys_call *call = (const void *)rec;
	const struct utrace_rec_target_end *end = (const void *)rec;

	if (rec->type == UTRACE_REC_SYS_CALL) {
		print_call(rec->tid, call->nr, call->args);
		printf("%lld\n", call->ret);
	} else if (rec->type == UTRACE_REC_SYS_ENTER) {	/* the task dies in it */
		print_call(rec->tid, enter->nr, enter->args);
		puts("?");
	} else if (rec->type == UTRACE_REC_SYS_EXIT) {	/* begun before attach */
		printf("%d %u(...) = %lld\n", rec->tid, exit->nr, exit->ret);
	} else if (rec->type == UTRACE_REC_HIDDEN) {
		printf("%d is hidden\n", rec->tid);
	} else if (rec->type == UTRACE_REC_TARGET_END && end->lost) {
		errx(1, "%llu records were lost", end->lost);
	}
	return rec->size;
}

int main(int argc, char **argv)
{
	struct utrace_ioc_events events = {	/* EXIT ends the last call */
		.events = UTRACE_REC_BIT(SYS_CALL) | UTRACE_REC_BIT(EXIT) };
	struct utrace_ioc_attach attach = {
		.where.scope = UTRACE_SCOPE_PROCESS };
	static __u64 buffer[8192];	/* room for any record */
	int fd = open("/dev/utrace", O_RDONLY | O_CLOEXEC);
	ssize_t size, at;

	if (fd < 0)
		err(2, "/dev/utrace");
	attach.where.fd = syscall(SYS_pidfd_open, argc > 1 ? atoi(argv[1]) : 0, 0);
	if (attach.where.fd < 0 || ioctl(fd, UTRACE_IOC_EVENTS, &events) ||
	    ioctl(fd, UTRACE_IOC_ATTACH, &attach))
		err(2, "reader PID");
	while ((size = read(fd, buffer, sizeof(buffer))) > 0)
		for (at = 0; at < size;)
			at += print((void *)&buffer[at / sizeof(*buffer)]);
	if (size || fflush(stdout))
		err(2, "reader");
}
