/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the names that the linker's --wrap=ioctl and --wrap=write use
 */
#ifndef UTRACE_PATIENT_H
#define UTRACE_PATIENT_H

#include <sys/types.h>

int __real_ioctl(int fd, unsigned long request, void *arg);
ssize_t __real_write(int fd, const void *buf, size_t count);

int __wrap_ioctl(int fd, unsigned long request, ...);
ssize_t __wrap_write(int fd, const void *buf, size_t count);

#endif /* UTRACE_PATIENT_H */
