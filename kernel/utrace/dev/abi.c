// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /dev/utrace: the layout of what programs see
 *
 * Nothing here makes code.  Each structure of the user interface keeps its size, or
 * grows at its end, and each member keeps its place.  "make check" compiles this file
 * for programs of 32 bits and as C++, too.
 */
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/utrace.h>
#include <uapi/linux/utrace_branch.h>
#include <uapi/linux/utrace_marker.h>

#define SIZE(type, size)	static_assert(sizeof(struct type) == (size))
#define AT(type, member, at)	static_assert(offsetof(struct type, member) == (at))

/* Sessions and their records: <linux/utrace.h> */

SIZE(utrace_item, 24);
AT(utrace_item, kind, 0);
AT(utrace_item, arg, 1);
AT(utrace_item, flags, 2);
AT(utrace_item, len, 4);
AT(utrace_item, whole, 8);
AT(utrace_item, parent, 16);
AT(utrace_item, field, 18);
AT(utrace_item, index, 20);
AT(utrace_item, data, 24);

SIZE(utrace_item_creds, 40);
AT(utrace_item_creds, uid, 0);
AT(utrace_item_creds, gid, 4);
AT(utrace_item_creds, euid, 8);
AT(utrace_item_creds, egid, 12);
AT(utrace_item_creds, suid, 16);
AT(utrace_item_creds, sgid, 20);
AT(utrace_item_creds, fsuid, 24);
AT(utrace_item_creds, fsgid, 28);
AT(utrace_item_creds, cap_effective, 32);

SIZE(utrace_item_raw_stack, 24);
AT(utrace_item_raw_stack, ip, 0);
AT(utrace_item_raw_stack, sp, 8);
AT(utrace_item_raw_stack, bp, 16);

SIZE(utrace_rec, 48);
AT(utrace_rec, size, 0);
AT(utrace_rec, type, 4);
AT(utrace_rec, items, 6);
AT(utrace_rec, time, 8);
AT(utrace_rec, task, 16);
AT(utrace_rec, pid, 24);
AT(utrace_rec, tid, 28);
AT(utrace_rec, number, 32);
AT(utrace_rec, target, 36);
AT(utrace_rec, settings, 40);
AT(utrace_rec, cpu, 44);
AT(utrace_rec, flags, 46);

SIZE(utrace_rec_lost, 56);
AT(utrace_rec_lost, head, 0);
AT(utrace_rec_lost, lost, 48);

SIZE(utrace_rec_sys_enter, 112);
AT(utrace_rec_sys_enter, head, 0);
AT(utrace_rec_sys_enter, nr, 48);
AT(utrace_rec_sys_enter, asked, 52);
AT(utrace_rec_sys_enter, began, 56);
AT(utrace_rec_sys_enter, args, 64);

SIZE(utrace_rec_sys_exit, 64);
AT(utrace_rec_sys_exit, head, 0);
AT(utrace_rec_sys_exit, nr, 48);
AT(utrace_rec_sys_exit, asked, 52);
AT(utrace_rec_sys_exit, ret, 56);

SIZE(utrace_rec_sys_call, 120);
AT(utrace_rec_sys_call, head, 0);
AT(utrace_rec_sys_call, nr, 48);
AT(utrace_rec_sys_call, asked, 52);
AT(utrace_rec_sys_call, ret, 56);
AT(utrace_rec_sys_call, began, 64);
AT(utrace_rec_sys_call, args, 72);

SIZE(utrace_rec_fork, 72);
AT(utrace_rec_fork, head, 0);
AT(utrace_rec_fork, child_task, 48);
AT(utrace_rec_fork, child_pid, 56);
AT(utrace_rec_fork, child_tid, 60);
AT(utrace_rec_fork, flags, 64);

SIZE(utrace_rec_exec, 64);
AT(utrace_rec_exec, head, 0);
AT(utrace_rec_exec, old_task, 48);
AT(utrace_rec_exec, old_tid, 56);
AT(utrace_rec_exec, reserved, 60);

SIZE(utrace_rec_exit, 56);
AT(utrace_rec_exit, head, 0);
AT(utrace_rec_exit, code, 48);
AT(utrace_rec_exit, exec_tid, 52);

SIZE(utrace_rec_signal, 192);
AT(utrace_rec_signal, head, 0);
AT(utrace_rec_signal, info, 48);
AT(utrace_rec_signal, handler, 176);
AT(utrace_rec_signal, flags, 184);

SIZE(utrace_rec_jobctl, 64);
AT(utrace_rec_jobctl, head, 0);
AT(utrace_rec_jobctl, type, 48);
AT(utrace_rec_jobctl, notify, 52);
AT(utrace_rec_jobctl, signal, 56);
AT(utrace_rec_jobctl, reserved, 60);

SIZE(utrace_rec_target_end, 64);
AT(utrace_rec_target_end, head, 0);
AT(utrace_rec_target_end, why, 48);
AT(utrace_rec_target_end, reserved, 52);
AT(utrace_rec_target_end, lost, 56);

SIZE(utrace_rec_marker, 72);
AT(utrace_rec_marker, head, 0);
AT(utrace_rec_marker, cookie, 48);
AT(utrace_rec_marker, ip, 56);
AT(utrace_rec_marker, nargs, 64);
AT(utrace_rec_marker, faulted, 68);
AT(utrace_rec_marker, args, 72);

SIZE(utrace_rec_user_event, 64);
AT(utrace_rec_user_event, head, 0);
AT(utrace_rec_user_event, cookie, 48);
AT(utrace_rec_user_event, size, 56);
AT(utrace_rec_user_event, copied, 60);
AT(utrace_rec_user_event, data, 64);

SIZE(utrace_where, 16);
AT(utrace_where, scope, 0);
AT(utrace_where, fd, 4);
AT(utrace_where, cpu, 8);
AT(utrace_where, flags, 12);

SIZE(utrace_rows, 24);
AT(utrace_rows, at, 0);
AT(utrace_rows, n, 8);
AT(utrace_rows, size, 12);
AT(utrace_rows, total, 16);
AT(utrace_rows, reserved, 20);

SIZE(utrace_ioc_info, 120);
AT(utrace_ioc_info, events, 0);
AT(utrace_ioc_info, capture, 8);
AT(utrace_ioc_info, scopes, 16);
AT(utrace_ioc_info, arm, 20);
AT(utrace_ioc_info, count, 24);
AT(utrace_ioc_info, targets, 28);
AT(utrace_ioc_info, rings, 32);
AT(utrace_ioc_info, reserved, 36);
AT(utrace_ioc_info, ring_size, 40);
AT(utrace_ioc_info, map_size, 48);
AT(utrace_ioc_info, tails_size, 56);
AT(utrace_ioc_info, records, 64);
AT(utrace_ioc_info, lost, 72);
AT(utrace_ioc_info, hidden, 80);
AT(utrace_ioc_info, uncaptured, 88);
AT(utrace_ioc_info, missed, 96);
AT(utrace_ioc_info, parked, 104);
AT(utrace_ioc_info, waits, 112);

SIZE(utrace_ioc_setup, 24);
AT(utrace_ioc_setup, ring_size, 0);
AT(utrace_ioc_setup, delay, 8);
AT(utrace_ioc_setup, full, 16);
AT(utrace_ioc_setup, flags, 20);

SIZE(utrace_map, 64);
AT(utrace_map, header_size, 0);
AT(utrace_map, ring_stride, 4);
AT(utrace_map, rings, 8);
AT(utrace_map, unit, 12);
AT(utrace_map, data_offset, 16);
AT(utrace_map, data_size, 24);
AT(utrace_map, parked, 32);
AT(utrace_map, reserved, 40);

SIZE(utrace_map_ring, 64);
AT(utrace_map_ring, head, 0);
AT(utrace_map_ring, last, 8);
AT(utrace_map_ring, open, 16);
AT(utrace_map_ring, reserved, 20);
AT(utrace_map_ring, lost, 24);
AT(utrace_map_ring, reserved2, 32);

SIZE(utrace_map_tail, 64);
AT(utrace_map_tail, tail, 0);
AT(utrace_map_tail, reserved, 8);

SIZE(utrace_ioc_attach, 24);
AT(utrace_ioc_attach, where, 0);
AT(utrace_ioc_attach, flags, 16);
AT(utrace_ioc_attach, id, 20);

SIZE(utrace_ioc_detach, 8);
AT(utrace_ioc_detach, id, 0);
AT(utrace_ioc_detach, flags, 4);

SIZE(utrace_ioc_events, 48);
AT(utrace_ioc_events, events, 0);
AT(utrace_ioc_events, capture, 8);
AT(utrace_ioc_events, calls, 16);
AT(utrace_ioc_events, ncalls, 24);
AT(utrace_ioc_events, target, 28);
AT(utrace_ioc_events, settings, 32);
AT(utrace_ioc_events, count, 36);
AT(utrace_ioc_events, string_size, 40);
AT(utrace_ioc_events, buffer_size, 44);

SIZE(utrace_call_count, 272);
AT(utrace_call_count, task, 0);
AT(utrace_call_count, pid, 8);
AT(utrace_call_count, tid, 12);
AT(utrace_call_count, comm, 16);
AT(utrace_call_count, nr, 32);
AT(utrace_call_count, alive, 36);
AT(utrace_call_count, calls, 40);
AT(utrace_call_count, errors, 48);
AT(utrace_call_count, total, 56);
AT(utrace_call_count, min, 64);
AT(utrace_call_count, max, 72);
AT(utrace_call_count, cpu, 80);
AT(utrace_call_count, cpu_calls, 88);
AT(utrace_call_count, durations, 96);
AT(utrace_call_count, errno_calls, 224);
AT(utrace_call_count, errno_other, 252);
AT(utrace_call_count, err, 256);
AT(utrace_call_count, reserved, 270);

SIZE(utrace_ioc_counts, 56);
AT(utrace_ioc_counts, rows, 0);
AT(utrace_ioc_counts, task, 24);
AT(utrace_ioc_counts, place, 32);
AT(utrace_ioc_counts, reserved, 36);
AT(utrace_ioc_counts, lost, 40);
AT(utrace_ioc_counts, merged, 48);

SIZE(utrace_ioc_in_flight, 24);
AT(utrace_ioc_in_flight, target, 0);
AT(utrace_ioc_in_flight, flags, 4);
AT(utrace_ioc_in_flight, written, 8);
AT(utrace_ioc_in_flight, lost, 12);
AT(utrace_ioc_in_flight, busy, 16);
AT(utrace_ioc_in_flight, reserved, 20);

/* Branches: <linux/utrace_branch.h> */

SIZE(utrace_branch, 24);
AT(utrace_branch, from, 0);
AT(utrace_branch, to, 8);
AT(utrace_branch, info, 16);

SIZE(utrace_ioc_branches, 48);
AT(utrace_ioc_branches, where, 0);
AT(utrace_ioc_branches, records, 16);
AT(utrace_ioc_branches, mode, 24);
AT(utrace_ioc_branches, full, 28);
AT(utrace_ioc_branches, levels, 32);
AT(utrace_ioc_branches, source, 36);
AT(utrace_ioc_branches, flags, 40);
AT(utrace_ioc_branches, reserved, 44);

SIZE(utrace_ioc_branch_info, 72);
AT(utrace_ioc_branch_info, records, 0);
AT(utrace_ioc_branch_info, map_size, 8);
AT(utrace_ioc_branch_info, tails_size, 16);
AT(utrace_ioc_branch_info, written, 24);
AT(utrace_ioc_branch_info, overwritten, 32);
AT(utrace_ioc_branch_info, lost, 40);
AT(utrace_ioc_branch_info, gaps, 48);
AT(utrace_ioc_branch_info, source, 56);
AT(utrace_ioc_branch_info, levels, 60);
AT(utrace_ioc_branch_info, mode, 64);
AT(utrace_ioc_branch_info, waiting, 68);

/* Words, markers and user_events: <linux/utrace_marker.h> */

SIZE(utrace_ioc_arm, 48);
AT(utrace_ioc_arm, target, 0);
AT(utrace_ioc_arm, type, 4);
AT(utrace_ioc_arm, flags, 8);
AT(utrace_ioc_arm, id, 12);
AT(utrace_ioc_arm, cookie, 16);
AT(utrace_ioc_arm, spec, 24);
AT(utrace_ioc_arm, spec_size, 32);
AT(utrace_ioc_arm, state, 36);
AT(utrace_ioc_arm, error, 40);
AT(utrace_ioc_arm, reserved, 44);

SIZE(utrace_word, 16);
AT(utrace_word, addr, 0);
AT(utrace_word, kind, 8);
AT(utrace_word, bit, 12);

SIZE(utrace_marker_arg, 16);
AT(utrace_marker_arg, size, 0);
AT(utrace_marker_arg, kind, 1);
AT(utrace_marker_arg, reg, 2);
AT(utrace_marker_arg, index, 3);
AT(utrace_marker_arg, scale, 4);
AT(utrace_marker_arg, reserved, 5);
AT(utrace_marker_arg, disp, 8);

SIZE(utrace_site, 224);
AT(utrace_site, fd, 0);
AT(utrace_site, flags, 4);
AT(utrace_site, offset, 8);
AT(utrace_site, semaphore, 16);
AT(utrace_site, nargs, 24);
AT(utrace_site, reserved, 28);
AT(utrace_site, args, 32);

SIZE(utrace_user_event, 16);
AT(utrace_user_event, name, 0);
AT(utrace_user_event, flags, 8);
AT(utrace_user_event, reserved, 12);

SIZE(utrace_ioc_disarm, 8);
AT(utrace_ioc_disarm, id, 0);
AT(utrace_ioc_disarm, flags, 4);

SIZE(utrace_armed, 48);
AT(utrace_armed, cookie, 0);
AT(utrace_armed, addr, 8);
AT(utrace_armed, id, 16);
AT(utrace_armed, type, 20);
AT(utrace_armed, kind, 24);
AT(utrace_armed, bit, 28);
AT(utrace_armed, state, 32);
AT(utrace_armed, error, 36);
AT(utrace_armed, pid, 40);
AT(utrace_armed, reserved, 44);

SIZE(utrace_ioc_list, 32);
AT(utrace_ioc_list, rows, 0);
AT(utrace_ioc_list, target, 24);
AT(utrace_ioc_list, reserved, 28);

SIZE(utrace_hit_count, 32);
AT(utrace_hit_count, cookie, 0);
AT(utrace_hit_count, hits, 8);
AT(utrace_hit_count, missed, 16);
AT(utrace_hit_count, id, 24);
AT(utrace_hit_count, reserved, 28);

SIZE(utrace_ioc_read, 40);
AT(utrace_ioc_read, rows, 0);
AT(utrace_ioc_read, target, 24);
AT(utrace_ioc_read, id, 28);
AT(utrace_ioc_read, what, 32);
AT(utrace_ioc_read, reserved, 36);

/* Type, number and size of each ioctl. */

static_assert(UTRACE_IOC_INFO == 0xc078bc00);
static_assert(UTRACE_IOC_SETUP == 0xc018bc01);
static_assert(UTRACE_IOC_ATTACH == 0xc018bc02);
static_assert(UTRACE_IOC_DETACH == 0xc008bc03);
static_assert(UTRACE_IOC_EVENTS == 0xc030bc04);
static_assert(UTRACE_IOC_COUNTS == 0xc038bc05);
static_assert(UTRACE_IOC_IN_FLIGHT == 0xc018bc06);
static_assert(UTRACE_IOC_BRANCHES == 0xc030bc0b);
static_assert(UTRACE_IOC_BRANCH_INFO == 0xc048bc0c);
static_assert(UTRACE_IOC_ARM == 0xc030bc07);
static_assert(UTRACE_IOC_DISARM == 0xc008bc08);
static_assert(UTRACE_IOC_LIST == 0xc020bc09);
static_assert(UTRACE_IOC_READ == 0xc028bc0a);
