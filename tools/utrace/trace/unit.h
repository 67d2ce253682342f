/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the cgroup of a unit of systemd
 */
#ifndef UTRACE_TRACE_UNIT_H
#define UTRACE_TRACE_UNIT_H

const char *unit_cgroup(const char *unit);

#endif /* UTRACE_TRACE_UNIT_H */
