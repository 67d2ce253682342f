/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the cgroup of a unit of systemd
 */
#ifndef UTRACE_UNIT_H
#define UTRACE_UNIT_H

const char *unit_cgroup(const char *unit);

#endif /* UTRACE_UNIT_H */
