# SPDX-License-Identifier: GPL-2.0
#
# utrace - constants that programs use, in headers for the kernel alone
#
# Usage: awk -f kernel_only.awk include/linux/socket.h include/linux/net.h

/^#define[ \t]+(AF|MSG|SOL|SCM)_/ && NF > 2 && !/\\$|CMSG_COMPAT/ { print }
/^#define[ \t]+SOCK_TYPE_MASK/ { print }
/^#define[ \t]+SOCK_(CLOEXEC|NONBLOCK)/ && !seen[$2]++ { print }
/^enum sock_(type|shutdown_cmd) \{/, /^\};/ { print }
