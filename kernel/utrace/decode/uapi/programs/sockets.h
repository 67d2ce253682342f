/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about sockets */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H */
