/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about users, keys and security */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SECURITY_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SECURITY_H

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/kcmp.h>
#include <linux/landlock.h>
#include <linux/dqblk_xfs.h>
#include <linux/quota.h>
#include <linux/seccomp.h>

/* The commands of quotactl() for users. */
#define UQ_SYNC QCMD(Q_SYNC, 0)
#define UQ_QUOTAON QCMD(Q_QUOTAON, 0)
#define UQ_QUOTAOFF QCMD(Q_QUOTAOFF, 0)
#define UQ_GETFMT QCMD(Q_GETFMT, 0)
#define UQ_GETINFO QCMD(Q_GETINFO, 0)
#define UQ_SETINFO QCMD(Q_SETINFO, 0)
#define UQ_GETQUOTA QCMD(Q_GETQUOTA, 0)
#define UQ_SETQUOTA QCMD(Q_SETQUOTA, 0)
#define UQ_GETNEXTQUOTA QCMD(Q_GETNEXTQUOTA, 0)
#define UQ_XQUOTAON QCMD(Q_XQUOTAON, 0)
#define UQ_XQUOTAOFF QCMD(Q_XQUOTAOFF, 0)
#define UQ_XGETQUOTA QCMD(Q_XGETQUOTA, 0)
#define UQ_XSETQLIM QCMD(Q_XSETQLIM, 0)
#define UQ_XQUOTARM QCMD(Q_XQUOTARM, 0)
#define UQ_XGETQSTAT QCMD(Q_XGETQSTAT, 0)
#define UQ_XGETQSTATV QCMD(Q_XGETQSTATV, 0)
#define UQ_XQUOTASYNC QCMD(Q_XQUOTASYNC, 0)
#define UQ_XGETNEXTQUOTA QCMD(Q_XGETNEXTQUOTA, 0)

/* capget(): the versions after the first have two. */
struct cap_data {
	struct __user_cap_data_struct of[2];
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SECURITY_H */
