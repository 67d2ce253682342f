/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about users, keys and security */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SECURITY_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SECURITY_H

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SECURITY_H */
