/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of ioctl() and fcntl() */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H */
