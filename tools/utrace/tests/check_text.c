// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - tests of the text of calls, that need no kernel with utrace
 *
 * Prints lines "ok TEXT" and "not ok TEXT", see scripts/command-check.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/seq_buf.h>

#include "cmd/engines.h"
#include "decode/items.h"
#include "decode/print.h"
#include "sets.h"
#include "format/fd_text.h"
#include "format/namespaces.h"
#include "format/siginfo.h"
#include "format/text.h"
#include "check.h"

static char buffer[4096];
static struct seq_buf s = { .buffer = buffer, .size = sizeof(buffer) };

/* Check whether the text in the buffer is @want, and empty the buffer. */
static bool is(const char *want)
{
	bool right = s.len == strlen(want) && !memcmp(buffer, want, s.len);

	if (!right)
		printf("# '%.*s' instead of '%s'\n", (int)s.len, buffer, want);
	s.len = 0;
	return right;
}

static bool flags_are(unsigned int set, unsigned long value, const char *want)
{
	utrace_print_flags(&s, set, value);
	return is(want);
}

static bool signal_is(int signal, const char *want)
{
	utrace_print_signal(&s, signal);
	return is(want);
}

static bool string_is(const char *text, size_t len, const char *want)
{
	utrace_print_string(&s, text, len);
	return is(want);
}

static void test_unknown(void)
{
	holds(flags_are(UTRACE_FLAGS_WHENCE, 77, "0x4d /* SEEK_??? */") &&
	      flags_are(UTRACE_FLAGS_FCNTL, 999, "0x3e7 /* F_??? */") &&
	      flags_are(UTRACE_FLAGS_ACCESS, 0xff8, "0xff8 /* ?_OK */"),
	      "numbers without a name have a comment");
	holds(flags_are(UTRACE_FLAGS_OPEN, 0x99000000, "O_RDONLY|0x99000000") &&
	      flags_are(UTRACE_FLAGS_MREMAP, 0xff,
			"MREMAP_MAYMOVE|MREMAP_FIXED|MREMAP_DONTUNMAP|0xf8"),
	      "bits without a name behind others have none");
	holds(flags_are(UTRACE_FLAGS_SOCKTYPE, 99, "SOCK_RAW|0x60 /* SOCK_??? */") &&
	      flags_are(UTRACE_FLAGS_SOCKTYPE, SOCK_STREAM | SOCK_CLOEXEC,
			"SOCK_STREAM|SOCK_CLOEXEC"), "the bits of socket() stand alone");
	holds(flags_are(UTRACE_FLAGS_CLONE, 0xff, "255") &&
	      flags_are(UTRACE_FLAGS_CLONE, 0x100 | SIGCHLD, "CLONE_VM|SIGCHLD") &&
	      flags_are(UTRACE_FLAGS_CLONE, 0, "0"), "the signal of clone()");
}

static void test_constants(void)
{
	utrace_style.constants = UTRACE_CONSTANTS_RAW;
	holds(flags_are(UTRACE_FLAGS_OPEN, O_CLOEXEC, "0x80000") &&
	      flags_are(UTRACE_FLAGS_ACCESS, 0, "0") &&
	      flags_are(UTRACE_FLAGS_WHENCE, 77, "0x4d") &&
	      flags_are(UTRACE_FLAGS_SOCKTYPE, SOCK_STREAM | 0x80800, "0x1|0x80800") &&
	      flags_are(UTRACE_FLAGS_CLONE, 0x1200000 | SIGCHLD, "0x1200000|17") &&
	      signal_is(SIGCHLD, "17"), "-X raw");
	utrace_style.constants = UTRACE_CONSTANTS_BOTH;
	holds(flags_are(UTRACE_FLAGS_OPEN, O_CLOEXEC, "0x80000 /* O_RDONLY|O_CLOEXEC */") &&
	      flags_are(UTRACE_FLAGS_ACCESS, 0, "0 /* F_OK */") &&
	      flags_are(UTRACE_FLAGS_WHENCE, 77, "0x4d /* SEEK_??? */") &&
	      flags_are(UTRACE_FLAGS_SOCKTYPE, SOCK_STREAM | 0x80800,
			"0x1 /* SOCK_STREAM */|0x80800 /* SOCK_CLOEXEC|SOCK_NONBLOCK */") &&
	      signal_is(SIGCHLD, "17 /* SIGCHLD */") && signal_is(99, "99"),
	      "-X verbose");
	utrace_print_signal_name(&s, SIGCHLD);
	holds(is("SIGCHLD"), "names of signals in any style");
	utrace_style.constants = UTRACE_CONSTANTS_NAMES;
}

static void test_strings(void)
{
	static const char bytes[] = "a\200b\n\00011";
	size_t len = sizeof(bytes) - 1;

	holds(string_is(bytes, len, "\"a\\200b\\n\\00011\""), "bytes in base 8");
	utrace_style.hex = UTRACE_HEX_BYTES;
	holds(string_is(bytes, len, "\"a\\x80b\\n\\x0011\""), "bytes in base 16");
	utrace_style.hex = UTRACE_HEX_STRINGS;
	holds(string_is(bytes, len, "\"\\x61\\x80\\x62\\x0a\\x00\\x31\\x31\"") &&
	      string_is("a\tb\n", 4, "\"a\\tb\\n\""), "-x");
	utrace_style.hex = UTRACE_HEX_ALL;
	holds(string_is("a\tb", 3, "\"\\x61\\x09\\x62\""), "-xx");
	utrace_style.hex = UTRACE_HEX_NONE;
}

static bool siginfo_is(const siginfo_t *info, const char *want)
{
	siginfo_print(&s, info);
	return is(want);
}

static void test_siginfo(void)
{
	siginfo_t child = { .si_signo = SIGCHLD, .si_code = CLD_KILLED };
	siginfo_t fault = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };
	siginfo_t queued = { .si_signo = 40, .si_code = SI_QUEUE };
	siginfo_t timer = { .si_signo = SIGALRM, .si_code = SI_TIMER };
	siginfo_t io = { .si_signo = SIGIO, .si_code = POLL_IN };
	siginfo_t call = { .si_signo = SIGSYS, .si_code = 1, .si_errno = 7 };
	siginfo_t odd = { .si_signo = SIGUSR1, .si_code = -62 };

	child.si_status = SIGKILL;
	child.si_utime = 250;
	holds(siginfo_is(&child, "{si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=0, si_uid=0, "
			 "si_status=SIGKILL, si_utime=250 /* 2.50 s */, si_stime=0}"),
	      "siginfo of a child");
	holds(siginfo_is(&fault, "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL}"),
	      "siginfo of a fault");
	queued.si_value.sival_int = -5;
	timer.si_timerid = 16;
	io.si_band = 65;
	holds(siginfo_is(&queued, "{si_signo=SIGRT_8, si_code=SI_QUEUE, si_pid=0, si_uid=0, "
			 "si_int=-5, si_ptr=0xfffffffb}") &&
	      siginfo_is(&timer, "{si_signo=SIGALRM, si_code=SI_TIMER, si_timerid=0x10, "
			 "si_overrun=0, si_int=0, si_ptr=NULL}") &&
	      siginfo_is(&io, "{si_signo=SIGIO, si_code=POLL_IN, si_band=65, si_fd=0}"),
	      "siginfo of a queued signal, a timer and a file");
	call.si_syscall = SYS_getpid;
	call.si_arch = 0xc000003e;
	holds(siginfo_is(&call, "{si_signo=SIGSYS, si_code=SYS_SECCOMP, si_errno=E2BIG, "
			 "si_call_addr=NULL, si_syscall=__NR_getpid, si_arch=AUDIT_ARCH_X86_64}"),
	      "siginfo of a call");
	holds(siginfo_is(&odd, "{si_signo=SIGUSR1, si_code=0xffffffc2, si_pid=0, si_uid=0}"),
	      "siginfo with an unknown code");
	utrace_style.constants = UTRACE_CONSTANTS_RAW;
	holds(siginfo_is(&call, "{si_signo=31, si_code=0x1, si_errno=7, si_call_addr=NULL, "
			 "si_syscall=39, si_arch=0xc000003e}"), "siginfo with -X raw");
	utrace_style.constants = UTRACE_CONSTANTS_NAMES;
}

/* Return the number of a socket. */
static unsigned long inode_of(int fd)
{
	struct stat file;

	return fstat(fd, &file) ? 0 : file.st_ino;
}

/* Check what is shown of a descriptor of this process. */
static bool fd_is(unsigned int decode, int fd, const char *want)
{
	static __u64 room[64];
	struct utrace_item *file = (void *)room;
	const struct utrace_item *made;
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	file->kind = UTRACE_ITEM_FILE;
	file->len = readlink(link, (char *)file->data, 256);
	made = fd_text(decode, getpid(), fd, file, 0);
	if (made)
		seq_buf_printf(&s, "%.*s", (int)made->len, made->data);
	return is(want);
}

static void test_descriptors(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "\0utrace\"check" };
	char path[] = "/tmp/utrace-check-XXXXXX";
	int file = mkstemp(path), null = open("/dev/null", O_RDONLY);
	int tcp = socket(AF_INET, SOCK_STREAM, 0);
	int local = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t len = sizeof(in);
	char want[64];

	holds(fd_is(DECODE_PATH, null, "</dev/null>") &&
	      fd_is(DECODE_ALL, null, "</dev/null<char 1:3>>") &&
	      fd_is(DECODE_SOCKET, null, ""), "a device");
	unlink(path);
	snprintf(want, sizeof(want), "<%s>(deleted)", path);
	holds(fd_is(DECODE_PATH, file, want), "a deleted file");
	close(file);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(tcp, (void *)&in, sizeof(in)) || listen(tcp, 1) ||
	    getsockname(tcp, (void *)&in, &len) ||
	    bind(local, (void *)&un, offsetof(struct sockaddr_un, sun_path) + 13))
		abort();
	snprintf(want, sizeof(want), "<TCP:[127.0.0.1:%u]>", ntohs(in.sin_port));
	holds(fd_is(DECODE_ALL, tcp, want), "a TCP socket");
	snprintf(want, sizeof(want), "<UNIX-STREAM:[%lu,@\"utrace\\\"check\"]>",
		 inode_of(local));
	holds(fd_is(DECODE_SOCKET, local, want), "a UNIX socket with an odd name");
	close(null);
	close(tcp);
	close(local);
}

/*
 * These replace the functions of the command: to find a task must not need a list
 * of all tasks, which is long on some machines.
 */
void processes(task_function *function, void *data)
{
	(void)function;
	(void)data;
}

void tasks_of(pid_t pid, task_function *function, void *data)
{
	(void)pid;
	(void)function;
	(void)data;
}

/* In a pid namespace with the /proc of an outer one: look up tasks. */
static bool finds_tasks(void)
{
	char link[16] = "";
	pid_t ended;

	(void)!readlink("/proc/self", link, sizeof(link) - 1);
	ended = fork();
	if (!ended)
		_exit(0);
	waitpid(ended, NULL, 0);
	return getpid() == 1 && pid_in_proc(1) == atoi(link) && !pid_in_proc(ended);
}

static void test_namespaces(void)
{
	static const char text[] = "tasks are found in the /proc of an outer pid namespace";
	int status = -1;
	pid_t child;

	fflush(stdout);
	if (unshare(CLONE_NEWPID)) {
		printf("ok %s # SKIP not root\n", text);
		return;
	}
	child = fork();
	if (!child) {
		bool found = finds_tasks();

		fflush(stdout);
		_exit(!found);
	}
	waitpid(child, &status, 0);
	holds(!status, text);
}

int main(void)
{
	/* First, as how many levels are between is read only once. */
	test_namespaces();
	test_unknown();
	test_constants();
	test_strings();
	test_siginfo();
	test_descriptors();
	return failed;
}
