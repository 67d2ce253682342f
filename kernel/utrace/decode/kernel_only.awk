# SPDX-License-Identifier: GPL-2.0
#
# utrace - constants that programs use, in headers for the kernel alone
#
# Usage: awk -f kernel_only.awk HEADER...

# A comment may go on in the next line, which is not printed.
/^#define/ { sub(/[ \t]*\/\*.*/, "") }
/^#define[ \t]+(AF|MSG|SOL|SCM)_/ && NF > 2 && !/\\$|CMSG_COMPAT/ { print }
/^#define[ \t]+(SOCK_TYPE_MASK|SPLICE_F_|SWAP_FLAG_|SYSLOG_ACTION_)/ && NF > 2 { print }
/^#define[ \t]+(MNT_|UMOUNT_)(FORCE|DETACH|EXPIRE|NOFOLLOW)/ { print }
/^#define[ \t]+SOCK_(CLOEXEC|NONBLOCK)/ && !seen[$2]++ { print }
/^enum sock_(type|shutdown_cmd) \{/, /^\};/ { print }
/^#define[ \t]+(SG|SCSI_IOCTL)_[A-Z_]+[ \t]+0x[0-9a-fA-F]/ { print $1, $2, $3 }
/^#define[ \t]+SG_SCSI_RESET_[A-Z_]+[ \t]+[0-9]+$/ { print $1, $2, $3 }
/^[ \t]+ATA_CMD_[A-Z0-9_]+[ \t]+= 0x[0-9A-F]+,/ { sub(/,/, "", $3); print "#define", $1, $3 }
