// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - names of the bits and values of arguments
 *
 * There is one table for each kind of argument that is a set of bits or one of
 * several values (enum utrace_flag_set), and functions that print a number by
 * such a table.
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/array_size.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/net.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/signal.h>
#include <linux/socket.h>
#include <linux/time.h>
#include <linux/xattr.h>
#include <uapi/linux/eventpoll.h>
#include <uapi/linux/mount.h>
#include <uapi/linux/wait.h>

#include <asm/ptrace-abi.h>

#include "print.h"
#include "write.h"

/* The name of a number of 32 bits, and the length of the name. */
struct named {
	u32 value;
	u32 len;
	const char *name;
};

#define NAME(value, name)	{ value, sizeof(name) - 1, name }
#define NAMED(constant)		NAME(constant, #constant)

/*
 * A table contains a plain number if no kernel header defines the value for all
 * ABIs.
 */
static const struct named access_bits[] = {
	NAME(4, "R_OK"), NAME(2, "W_OK"), NAME(1, "X_OK"),
	{}
};

static const struct named at_bits[] = {
	NAMED(AT_SYMLINK_NOFOLLOW), NAMED(AT_SYMLINK_FOLLOW),
	NAMED(AT_NO_AUTOMOUNT), NAMED(AT_EMPTY_PATH),
	NAMED(AT_STATX_FORCE_SYNC), NAMED(AT_STATX_DONT_SYNC),
	NAMED(AT_RECURSIVE),
	{}
};

static const struct named clocks[] = {
	NAMED(CLOCK_REALTIME), NAMED(CLOCK_MONOTONIC),
	NAMED(CLOCK_PROCESS_CPUTIME_ID), NAMED(CLOCK_THREAD_CPUTIME_ID),
	NAMED(CLOCK_MONOTONIC_RAW), NAMED(CLOCK_REALTIME_COARSE),
	NAMED(CLOCK_MONOTONIC_COARSE), NAMED(CLOCK_BOOTTIME),
	NAMED(CLOCK_REALTIME_ALARM), NAMED(CLOCK_BOOTTIME_ALARM),
	NAMED(CLOCK_TAI),
	{}
};

/*
 * CLONE_NEWTIME (0x80) is inside CSIGNAL, the exit signal of clone().  So only
 * the flags of unshare() and setns() include its name; see
 * utrace_print_flags().
 */
static const struct named clone_bits[] = {
	NAMED(CLONE_VM), NAMED(CLONE_FS), NAMED(CLONE_FILES),
	NAMED(CLONE_SIGHAND), NAMED(CLONE_PIDFD), NAMED(CLONE_PTRACE),
	NAMED(CLONE_VFORK), NAMED(CLONE_PARENT), NAMED(CLONE_THREAD),
	NAMED(CLONE_NEWNS), NAMED(CLONE_SYSVSEM), NAMED(CLONE_SETTLS),
	NAMED(CLONE_PARENT_SETTID), NAMED(CLONE_CHILD_CLEARTID),
	NAMED(CLONE_DETACHED), NAMED(CLONE_UNTRACED), NAMED(CLONE_CHILD_SETTID),
	NAMED(CLONE_NEWCGROUP), NAMED(CLONE_NEWUTS), NAMED(CLONE_NEWIPC),
	NAMED(CLONE_NEWUSER), NAMED(CLONE_NEWPID), NAMED(CLONE_NEWNET),
	NAMED(CLONE_IO), NAMED(CLONE_NEWTIME),
	{}
};

static const struct named epoll_ctls[] = {
	NAMED(EPOLL_CTL_ADD), NAMED(EPOLL_CTL_DEL), NAMED(EPOLL_CTL_MOD),
	{}
};

static const struct named faccessat_bits[] = {
	NAMED(AT_EACCESS), NAMED(AT_SYMLINK_NOFOLLOW), NAMED(AT_EMPTY_PATH),
	{}
};

static const struct named families[] = {
	NAMED(AF_UNSPEC), NAMED(AF_UNIX), NAMED(AF_INET), NAMED(AF_AX25),
	NAMED(AF_IPX), NAMED(AF_APPLETALK), NAMED(AF_X25), NAMED(AF_INET6),
	NAMED(AF_KEY), NAMED(AF_NETLINK), NAMED(AF_PACKET), NAMED(AF_RDS),
	NAMED(AF_PPPOX), NAMED(AF_LLC), NAMED(AF_IB), NAMED(AF_MPLS),
	NAMED(AF_CAN), NAMED(AF_TIPC), NAMED(AF_BLUETOOTH), NAMED(AF_RXRPC),
	NAMED(AF_PHONET), NAMED(AF_IEEE802154), NAMED(AF_ALG), NAMED(AF_NFC),
	NAMED(AF_VSOCK), NAMED(AF_KCM), NAMED(AF_QIPCRTR), NAMED(AF_SMC),
	NAMED(AF_XDP), NAMED(AF_MCTP),
	{}
};

static const struct named fcntls[] = {
	NAMED(F_DUPFD), NAMED(F_GETFD), NAMED(F_SETFD), NAMED(F_GETFL),
	NAMED(F_SETFL), NAMED(F_GETLK), NAMED(F_SETLK), NAMED(F_SETLKW),
	NAMED(F_SETOWN), NAMED(F_GETOWN), NAMED(F_SETSIG), NAMED(F_GETSIG),
	NAMED(F_SETOWN_EX), NAMED(F_GETOWN_EX), NAMED(F_GETOWNER_UIDS),
	NAMED(F_OFD_GETLK), NAMED(F_OFD_SETLK), NAMED(F_OFD_SETLKW),
	NAMED(F_SETLEASE), NAMED(F_GETLEASE), NAMED(F_NOTIFY),
	NAMED(F_DUPFD_QUERY), NAMED(F_CREATED_QUERY), NAMED(F_CANCELLK),
	NAMED(F_DUPFD_CLOEXEC), NAMED(F_SETPIPE_SZ), NAMED(F_GETPIPE_SZ),
	NAMED(F_ADD_SEALS), NAMED(F_GET_SEALS), NAMED(F_GET_RW_HINT),
	NAMED(F_SET_RW_HINT), NAMED(F_GET_FILE_RW_HINT),
	NAMED(F_SET_FILE_RW_HINT), NAME(12, "F_GETLK64"), NAME(13, "F_SETLK64"),
	NAME(14, "F_SETLKW64"),
	{}
};

/*
 * Flags of calls that create a descriptor.  The O_ names are used instead of
 * the names of the single calls (EFD_CLOEXEC, TFD_NONBLOCK), which have equal
 * values.
 */
static const struct named fd_bits[] = {
	NAMED(O_CLOEXEC), NAMED(O_NONBLOCK), NAMED(O_DIRECT), NAMED(O_EXCL),
	{}
};

static const struct named flock_bits[] = {
	NAMED(LOCK_SH), NAMED(LOCK_EX), NAMED(LOCK_NB), NAMED(LOCK_UN),
	{}
};

static const struct named futexes[] = {
	NAMED(FUTEX_WAIT), NAMED(FUTEX_WAKE), NAMED(FUTEX_FD),
	NAMED(FUTEX_REQUEUE), NAMED(FUTEX_CMP_REQUEUE), NAMED(FUTEX_WAKE_OP),
	NAMED(FUTEX_LOCK_PI), NAMED(FUTEX_UNLOCK_PI), NAMED(FUTEX_TRYLOCK_PI),
	NAMED(FUTEX_WAIT_BITSET), NAMED(FUTEX_WAKE_BITSET),
	NAMED(FUTEX_WAIT_REQUEUE_PI), NAMED(FUTEX_CMP_REQUEUE_PI),
	NAMED(FUTEX_LOCK_PI2),
	{}
};

static const struct named futex_bits[] = {
	NAMED(FUTEX_PRIVATE_FLAG), NAMED(FUTEX_CLOCK_REALTIME),
	{}
};

static const struct named madvises[] = {
	NAMED(MADV_NORMAL), NAMED(MADV_RANDOM), NAMED(MADV_SEQUENTIAL),
	NAMED(MADV_WILLNEED), NAMED(MADV_DONTNEED), NAMED(MADV_FREE),
	NAMED(MADV_REMOVE), NAMED(MADV_DONTFORK), NAMED(MADV_DOFORK),
	NAMED(MADV_MERGEABLE), NAMED(MADV_UNMERGEABLE), NAMED(MADV_HUGEPAGE),
	NAMED(MADV_NOHUGEPAGE), NAMED(MADV_DONTDUMP), NAMED(MADV_DODUMP),
	NAMED(MADV_WIPEONFORK), NAMED(MADV_KEEPONFORK), NAMED(MADV_COLD),
	NAMED(MADV_PAGEOUT), NAMED(MADV_POPULATE_READ),
	NAMED(MADV_POPULATE_WRITE), NAMED(MADV_DONTNEED_LOCKED),
	NAMED(MADV_COLLAPSE), NAMED(MADV_HWPOISON), NAMED(MADV_SOFT_OFFLINE),
	{}
};

static const struct named maps[] = {
	NAMED(MAP_SHARED), NAMED(MAP_PRIVATE), NAMED(MAP_SHARED_VALIDATE),
	NAMED(MAP_DROPPABLE),
	{}
};

static const struct named map_bits[] = {
	NAMED(MAP_FIXED), NAMED(MAP_ANONYMOUS), NAME(0x40, "MAP_32BIT"),
	NAMED(MAP_GROWSDOWN), NAMED(MAP_DENYWRITE), NAMED(MAP_EXECUTABLE),
	NAMED(MAP_LOCKED), NAMED(MAP_NORESERVE), NAMED(MAP_POPULATE),
	NAMED(MAP_NONBLOCK), NAMED(MAP_STACK), NAMED(MAP_HUGETLB),
	NAMED(MAP_SYNC), NAMED(MAP_FIXED_NOREPLACE),
	{}
};

static const struct named mount_bits[] = {
	NAMED(MS_RDONLY), NAMED(MS_NOSUID), NAMED(MS_NODEV), NAMED(MS_NOEXEC),
	NAMED(MS_SYNCHRONOUS), NAMED(MS_REMOUNT), NAMED(MS_MANDLOCK),
	NAMED(MS_DIRSYNC), NAMED(MS_NOSYMFOLLOW), NAMED(MS_NOATIME),
	NAMED(MS_NODIRATIME), NAMED(MS_BIND), NAMED(MS_MOVE), NAMED(MS_REC),
	NAMED(MS_SILENT), NAMED(MS_POSIXACL), NAMED(MS_UNBINDABLE),
	NAMED(MS_PRIVATE), NAMED(MS_SLAVE), NAMED(MS_SHARED),
	NAMED(MS_RELATIME), NAMED(MS_I_VERSION), NAMED(MS_STRICTATIME),
	NAMED(MS_LAZYTIME),
	{}
};

static const struct named mremap_bits[] = {
	NAMED(MREMAP_MAYMOVE), NAMED(MREMAP_FIXED), NAMED(MREMAP_DONTUNMAP),
	{}
};

static const struct named msg_bits[] = {
	NAMED(MSG_OOB), NAMED(MSG_PEEK), NAMED(MSG_DONTROUTE),
	NAMED(MSG_CTRUNC), NAMED(MSG_PROBE), NAMED(MSG_TRUNC),
	NAMED(MSG_DONTWAIT), NAMED(MSG_EOR), NAMED(MSG_WAITALL), NAMED(MSG_FIN),
	NAMED(MSG_SYN), NAMED(MSG_CONFIRM), NAMED(MSG_RST), NAMED(MSG_ERRQUEUE),
	NAMED(MSG_NOSIGNAL), NAMED(MSG_MORE), NAMED(MSG_WAITFORONE),
	NAMED(MSG_ZEROCOPY), NAMED(MSG_FASTOPEN), NAMED(MSG_CMSG_CLOEXEC),
	{}
};

static const struct named msync_bits[] = {
	NAMED(MS_ASYNC), NAMED(MS_INVALIDATE), NAMED(MS_SYNC),
	{}
};

static const struct named opens[] = {
	NAMED(O_RDONLY), NAMED(O_WRONLY), NAMED(O_RDWR),
	{}
};

/*
 * print_bits() removes the bits that it has printed.  So a name must precede
 * the names of its subsets (O_SYNC before O_DSYNC).
 */
static const struct named open_bits[] = {
	NAMED(O_CREAT), NAMED(O_EXCL), NAMED(O_NOCTTY), NAMED(O_TRUNC),
	NAMED(O_APPEND), NAMED(O_NONBLOCK), NAMED(O_SYNC), NAMED(O_DSYNC),
	NAMED(O_DIRECT), NAMED(O_LARGEFILE), NAMED(O_TMPFILE),
	NAMED(O_DIRECTORY), NAMED(O_NOFOLLOW), NAMED(O_NOATIME),
	NAMED(O_CLOEXEC), NAMED(O_PATH), NAMED(FASYNC),
	{}
};

static const struct named prctls[] = {
	NAMED(PR_SET_PDEATHSIG), NAMED(PR_GET_PDEATHSIG),
	NAMED(PR_GET_DUMPABLE), NAMED(PR_SET_DUMPABLE), NAMED(PR_GET_KEEPCAPS),
	NAMED(PR_SET_KEEPCAPS), NAMED(PR_SET_NAME), NAMED(PR_GET_NAME),
	NAMED(PR_GET_SECCOMP), NAMED(PR_SET_SECCOMP), NAMED(PR_CAPBSET_READ),
	NAMED(PR_CAPBSET_DROP), NAMED(PR_GET_TSC), NAMED(PR_SET_TSC),
	NAMED(PR_GET_SECUREBITS), NAMED(PR_SET_SECUREBITS),
	NAMED(PR_SET_TIMERSLACK), NAMED(PR_GET_TIMERSLACK), NAMED(PR_SET_MM),
	NAMED(PR_SET_CHILD_SUBREAPER), NAMED(PR_GET_CHILD_SUBREAPER),
	NAMED(PR_SET_NO_NEW_PRIVS), NAMED(PR_GET_NO_NEW_PRIVS),
	NAMED(PR_GET_TID_ADDRESS), NAMED(PR_SET_THP_DISABLE),
	NAMED(PR_GET_THP_DISABLE), NAMED(PR_CAP_AMBIENT),
	NAMED(PR_GET_SPECULATION_CTRL), NAMED(PR_SET_SPECULATION_CTRL),
	NAMED(PR_SET_IO_FLUSHER), NAMED(PR_GET_IO_FLUSHER),
	NAMED(PR_SET_SYSCALL_USER_DISPATCH), NAMED(PR_SCHED_CORE),
	NAMED(PR_SET_MDWE), NAMED(PR_GET_MDWE), NAMED(PR_SET_MEMORY_MERGE),
	NAMED(PR_GET_MEMORY_MERGE), NAMED(PR_SET_PTRACER), NAMED(PR_SET_VMA),
	NAMED(PR_GET_AUXV),
	{}
};

static const struct named prot_bits[] = {
	NAMED(PROT_READ), NAMED(PROT_WRITE), NAMED(PROT_EXEC), NAMED(PROT_SEM),
	NAMED(PROT_GROWSDOWN), NAMED(PROT_GROWSUP),
	{}
};

static const struct named ptraces[] = {
	NAMED(PTRACE_TRACEME), NAMED(PTRACE_PEEKTEXT), NAMED(PTRACE_PEEKDATA),
	NAMED(PTRACE_PEEKUSR), NAMED(PTRACE_POKETEXT), NAMED(PTRACE_POKEDATA),
	NAMED(PTRACE_POKEUSR), NAMED(PTRACE_CONT), NAMED(PTRACE_KILL),
	NAMED(PTRACE_SINGLESTEP), NAMED(PTRACE_GETREGS), NAMED(PTRACE_SETREGS),
	NAMED(PTRACE_GETFPREGS), NAMED(PTRACE_SETFPREGS), NAMED(PTRACE_ATTACH),
	NAMED(PTRACE_DETACH), NAMED(PTRACE_SYSCALL), NAMED(PTRACE_SETOPTIONS),
	NAMED(PTRACE_GETEVENTMSG), NAMED(PTRACE_GETSIGINFO),
	NAMED(PTRACE_SETSIGINFO), NAMED(PTRACE_GETREGSET),
	NAMED(PTRACE_SETREGSET), NAMED(PTRACE_SEIZE), NAMED(PTRACE_INTERRUPT),
	NAMED(PTRACE_LISTEN), NAMED(PTRACE_PEEKSIGINFO),
	NAMED(PTRACE_GETSIGMASK), NAMED(PTRACE_SETSIGMASK),
	NAMED(PTRACE_GET_SYSCALL_INFO),
	{}
};

static const struct named rename_bits[] = {
	NAMED(RENAME_NOREPLACE), NAMED(RENAME_EXCHANGE), NAMED(RENAME_WHITEOUT),
	{}
};

static const struct named resources[] = {
	NAMED(RLIMIT_CPU), NAMED(RLIMIT_FSIZE), NAMED(RLIMIT_DATA),
	NAMED(RLIMIT_STACK), NAMED(RLIMIT_CORE), NAMED(RLIMIT_RSS),
	NAMED(RLIMIT_NPROC), NAMED(RLIMIT_NOFILE), NAMED(RLIMIT_MEMLOCK),
	NAMED(RLIMIT_AS), NAMED(RLIMIT_LOCKS), NAMED(RLIMIT_SIGPENDING),
	NAMED(RLIMIT_MSGQUEUE), NAMED(RLIMIT_NICE), NAMED(RLIMIT_RTPRIO),
	NAMED(RLIMIT_RTTIME),
	{}
};

static const struct named policies[] = {
	NAMED(SCHED_NORMAL), NAMED(SCHED_FIFO), NAMED(SCHED_RR),
	NAMED(SCHED_BATCH), NAMED(SCHED_IDLE), NAMED(SCHED_DEADLINE),
	NAMED(SCHED_EXT),
	{}
};

static const struct named policy_bits[] = {
	NAMED(SCHED_RESET_ON_FORK),
	{}
};

static const struct named shutdowns[] = {
	NAMED(SHUT_RD), NAMED(SHUT_WR), NAMED(SHUT_RDWR),
	{}
};

static const struct named signals[] = {
	NAMED(SIGHUP), NAMED(SIGINT), NAMED(SIGQUIT), NAMED(SIGILL),
	NAMED(SIGTRAP), NAMED(SIGABRT), NAMED(SIGBUS), NAMED(SIGFPE),
	NAMED(SIGKILL), NAMED(SIGUSR1), NAMED(SIGSEGV), NAMED(SIGUSR2),
	NAMED(SIGPIPE), NAMED(SIGALRM), NAMED(SIGTERM), NAMED(SIGSTKFLT),
	NAMED(SIGCHLD), NAMED(SIGCONT), NAMED(SIGSTOP), NAMED(SIGTSTP),
	NAMED(SIGTTIN), NAMED(SIGTTOU), NAMED(SIGURG), NAMED(SIGXCPU),
	NAMED(SIGXFSZ), NAMED(SIGVTALRM), NAMED(SIGPROF), NAMED(SIGWINCH),
	NAMED(SIGIO), NAMED(SIGPWR), NAMED(SIGSYS),
	{}
};

static const struct named sigprocmasks[] = {
	NAMED(SIG_BLOCK), NAMED(SIG_UNBLOCK), NAMED(SIG_SETMASK),
	{}
};

static const struct named socktypes[] = {
	NAMED(SOCK_STREAM), NAMED(SOCK_DGRAM), NAMED(SOCK_RAW), NAMED(SOCK_RDM),
	NAMED(SOCK_SEQPACKET), NAMED(SOCK_DCCP), NAMED(SOCK_PACKET),
	{}
};

static const struct named sock_bits[] = {
	NAMED(SOCK_CLOEXEC), NAMED(SOCK_NONBLOCK),
	{}
};

static const struct named unlinkat_bits[] = {
	NAMED(AT_REMOVEDIR),
	{}
};

static const struct named wait_bits[] = {
	NAMED(WNOHANG), NAMED(WUNTRACED), NAMED(WEXITED), NAMED(WCONTINUED),
	NAMED(WNOWAIT), NAMED(__WNOTHREAD), NAMED(__WALL), NAMED(__WCLONE),
	{}
};

static const struct named whences[] = {
	NAMED(SEEK_SET), NAMED(SEEK_CUR), NAMED(SEEK_END), NAMED(SEEK_DATA),
	NAMED(SEEK_HOLE),
	{}
};

static const struct named xattr_bits[] = {
	NAMED(XATTR_CREATE), NAMED(XATTR_REPLACE),
	{}
};

/**
 * struct flag_set - names of the values of one kind of argument
 * @zero: name of the value 0; NULL: 0 has none
 * @mask: bits that form one field, whose values are in @values
 * @values: names of the values under @mask, ended by an empty entry; may be
 *	NULL
 * @bits: names of the bits outside @mask, ended by an empty entry; may be NULL
 * @unknown: comment for a number without a name, as strace has it
 * @wide: the argument has the size of the ABI's word; false: it is an int, and
 *	the upper half of the register is ignored
 * @apart: the bits outside @mask are printed like a number of their own
 *
 * Constant.
 */
struct flag_set {
	const char *zero;
	unsigned long mask;
	const struct named *values;
	const struct named *bits;
	const char *unknown;
	bool wide;
	bool apart;
};

#define VALUES(table, comment)	\
	{ .mask = ~0UL, .values = table, .unknown = comment }

static const struct flag_set flag_sets[] = {
	[UTRACE_FLAGS_ACCESS] = {
		.zero = "F_OK",
		.bits = access_bits,
		.unknown = "?_OK",
	},
	[UTRACE_FLAGS_AT] = { .bits = at_bits, .unknown = "AT_???" },
	[UTRACE_FLAGS_CLOCK] = VALUES(clocks, "CLOCK_???"),
	[UTRACE_FLAGS_CLONE] = { .bits = clone_bits, .unknown = "CLONE_???" },
	[UTRACE_FLAGS_EPOLL_CTL] = VALUES(epoll_ctls, "EPOLL_CTL_???"),
	[UTRACE_FLAGS_FACCESSAT] = {
		.bits = faccessat_bits,
		.unknown = "AT_???",
	},
	[UTRACE_FLAGS_FAMILY] = VALUES(families, "AF_???"),
	[UTRACE_FLAGS_FCNTL] = VALUES(fcntls, "F_???"),
	[UTRACE_FLAGS_FD] = { .bits = fd_bits, .unknown = "O_???" },
	[UTRACE_FLAGS_FLOCK] = { .bits = flock_bits, .unknown = "LOCK_???" },
	[UTRACE_FLAGS_FUTEX] = {
		.mask = FUTEX_CMD_MASK,
		.values = futexes,
		.bits = futex_bits,
		.unknown = "FUTEX_???",
	},
	[UTRACE_FLAGS_MADVISE] = VALUES(madvises, "MADV_???"),
	[UTRACE_FLAGS_MAP] = {
		.mask = MAP_TYPE,
		.values = maps,
		.bits = map_bits,
		.wide = true,
		.unknown = "MAP_???",
	},
	[UTRACE_FLAGS_MOUNT] = {
		.bits = mount_bits,
		.wide = true,
		.unknown = "MS_???",
	},
	[UTRACE_FLAGS_MREMAP] = {
		.bits = mremap_bits,
		.wide = true,
		.unknown = "MREMAP_???",
	},
	[UTRACE_FLAGS_MSG] = { .bits = msg_bits, .unknown = "MSG_???" },
	[UTRACE_FLAGS_MSYNC] = { .bits = msync_bits, .unknown = "MS_???" },
	[UTRACE_FLAGS_OPEN] = {
		.mask = O_ACCMODE,
		.values = opens,
		.bits = open_bits,
		.unknown = "O_???",
	},
	[UTRACE_FLAGS_PRCTL] = VALUES(prctls, "PR_???"),
	[UTRACE_FLAGS_PROT] = {
		.zero = "PROT_NONE",
		.bits = prot_bits,
		.wide = true,
		.unknown = "PROT_???",
	},
	[UTRACE_FLAGS_PTRACE] = VALUES(ptraces, "PTRACE_???"),
	[UTRACE_FLAGS_RENAME] = { .bits = rename_bits, .unknown = "RENAME_??" },
	[UTRACE_FLAGS_RESOURCE] = VALUES(resources, "RLIMIT_???"),
	[UTRACE_FLAGS_SCHED] = {
		.mask = ~(unsigned long)SCHED_RESET_ON_FORK,
		.values = policies,
		.bits = policy_bits,
		.unknown = "SCHED_???",
	},
	[UTRACE_FLAGS_SHUTDOWN] = VALUES(shutdowns, "SHUT_???"),
	[UTRACE_FLAGS_SIGPROCMASK] = VALUES(sigprocmasks, "SIG_???"),
	[UTRACE_FLAGS_SOCKTYPE] = {
		.mask = SOCK_TYPE_MASK,
		.values = socktypes,
		.bits = sock_bits,
		.apart = true,
		.unknown = "SOCK_???",
	},
	[UTRACE_FLAGS_UNLINKAT] = {
		.bits = unlinkat_bits,
		.unknown = "AT_???",
	},
	[UTRACE_FLAGS_UNSHARE] = {
		.bits = clone_bits,
		.wide = true,
		.unknown = "CLONE_???",
	},
	[UTRACE_FLAGS_WAIT] = { .bits = wait_bits, .unknown = "W???" },
	[UTRACE_FLAGS_WHENCE] = VALUES(whences, "SEEK_???"),
	[UTRACE_FLAGS_XATTR] = { .bits = xattr_bits, .unknown = "XATTR_???" },
};

static_assert(ARRAY_SIZE(flag_sets) == UTRACE_FLAG_SETS);

static const struct named *name_of(const struct named *values,
				   unsigned long value)
{
	if (!values)
		return NULL;
	for (; values->len; values++)
		if (values->value == value)
			return values;
	return NULL;
}

/* Print "|" unless this is the first name. */
static void print_separator(struct seq_buf *s, bool *first)
{
	if (!*first)
		utrace_write_char(s, '|');
	*first = false;
}

static void print_name(struct seq_buf *s, const struct named *named,
		       bool *first)
{
	print_separator(s, first);
	utrace_write(s, named->name, named->len);
}

/*
 * Print the names of the bits in @bits.  Returns the bits that have no name.
 * The empty entry at the end of @bits ends each search, since its value is 0.
 */
static unsigned long print_bits(struct seq_buf *s, const struct named *bits,
				unsigned long value, bool *first)
{
	while (value && bits) {
		while (bits->value & ~value)
			bits++;
		if (!bits->len)
			break;
		print_name(s, bits, first);
		value &= ~(unsigned long)bits->value;
		bits++;
	}
	return value;
}

/* Print a number that has no name, with the comment of @set. */
static void print_unknown(struct seq_buf *s, const struct flag_set *set,
			  unsigned long value)
{
	utrace_print_hex(s, value);
	if (!value || utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	seq_buf_puts(s, set->unknown);
	utrace_write_literal(s, " */");
}

/*
 * Print @value by the names in @set.  Returns false if it has none; then nothing
 * is printed.
 */
static bool print_names(struct seq_buf *s, const struct flag_set *set,
			unsigned long value)
{
	const struct named *named;
	bool first = true;

	if (!value && set->zero) {
		seq_buf_puts(s, set->zero);
		return true;
	}
	named = name_of(set->values, value & set->mask);
	if (named) {
		print_name(s, named, &first);
		value &= ~set->mask;
	}
	value = print_bits(s, set->bits, value, &first);
	if (first)
		return false;
	if (value) {
		utrace_write_char(s, '|');
		utrace_print_hex(s, value);
	}
	return true;
}

static void print_in_style(struct seq_buf *s, const struct flag_set *set,
			   unsigned long value)
{
	size_t before = s->len;

	if (utrace_style.constants == UTRACE_CONSTANTS_RAW) {
		utrace_print_hex(s, value);
		return;
	}
	utrace_print_hex(s, value);
	utrace_write_literal(s, " /* ");
	if (print_names(s, set, value)) {
		utrace_write_literal(s, " */");
		return;
	}
	s->len = before;
	print_unknown(s, set, value);
}

static void print_set(struct seq_buf *s, const struct flag_set *set,
		      unsigned long value)
{
	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES)
		print_in_style(s, set, value);
	else if (!print_names(s, set, value))
		print_unknown(s, set, value);
}

/*
 * Print the two parts of a number by the names of each: the field under
 * @set->mask, and the other bits.
 */
static void print_apart(struct seq_buf *s, const struct flag_set *set,
			unsigned long value)
{
	print_set(s, set, value & set->mask);
	if (value & ~set->mask) {
		const struct flag_set bits = {
			.bits = set->bits,
			.unknown = set->unknown,
		};

		utrace_write_char(s, '|');
		print_set(s, &bits, value & ~set->mask);
	}
}

/**
 * utrace_print_flags() - print a number by the names of its bits
 * @s: the text is appended here
 * @set: enum utrace_flag_set
 * @value: the number; bits and values without a name are printed in base 16,
 *	with a comment if nothing of the number has a name
 *
 * Context: Any.
 */
void utrace_print_flags(struct seq_buf *s, unsigned int set,
			unsigned long value)
{
	const struct flag_set *flags;
	unsigned int signal = 0;

	if (WARN_ON_ONCE(set >= UTRACE_FLAG_SETS))
		return;
	flags = &flag_sets[set];
	if (!flags->wide)
		value = (u32)value;
	if (set == UTRACE_FLAGS_CLONE) {
		signal = value & CSIGNAL;
		value &= ~CSIGNAL;
	}
	if (flags->apart)
		print_apart(s, flags, value);
	else if (value || !signal)
		print_set(s, flags, value);
	if (signal) {
		if (value)
			utrace_write_char(s, '|');
		utrace_print_signal(s, signal);
	}
}

/**
 * utrace_print_constant() - print a number that has a name
 * @s: the text is appended here
 * @value: the number, printed in base 10
 * @name: its name
 *
 * Context: Any.
 */
void utrace_print_constant(struct seq_buf *s, long value, const char *name)
{
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(s, name);
		return;
	}
	utrace_write_signed(s, value);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	seq_buf_puts(s, name);
	utrace_write_literal(s, " */");
}

/**
 * utrace_print_signal_name() - print a signal by its name, in any style
 * @s: the text is appended here
 * @signal: number of the signal; a number that is no signal is printed in base
 *	10
 *
 * Context: Any.
 */
void utrace_print_signal_name(struct seq_buf *s, int signal)
{
	const struct named *named = name_of(signals, (u32)signal);

	if (named) {
		utrace_write(s, named->name, named->len);
	} else if (signal == SIGRTMIN) {
		utrace_write_literal(s, "SIGRTMIN");
	} else if (signal > SIGRTMIN && signal <= SIGRTMAX) {
		utrace_write_literal(s, "SIGRT_");
		utrace_write_decimal(s, signal - SIGRTMIN);
	} else {
		utrace_write_signed(s, signal);
	}
}

/**
 * utrace_print_signal() - print a signal in the style of constants
 * @s: the text is appended here
 * @signal: number of the signal; a number that is no signal is printed in base
 *	10
 *
 * Context: Any.
 */
void utrace_print_signal(struct seq_buf *s, int signal)
{
	bool named = signal > 0 && signal <= SIGRTMAX;

	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES || !named) {
		utrace_print_signal_name(s, signal);
		return;
	}
	utrace_write_signed(s, signal);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	utrace_print_signal_name(s, signal);
	utrace_write_literal(s, " */");
}
