/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about files */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H */
