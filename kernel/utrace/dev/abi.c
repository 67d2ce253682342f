// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /dev/utrace: the layout of what programs see
 *
 * Nothing here makes code.  Each structure of the user interface keeps its size, or
 * grows at its end; each member keeps its place, and each name its value.  A script of
 * the project has written this file from the headers.  "make check" compiles it for
 * programs of 32 bits and as C++, too.
 */
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/utrace.h>
#include <uapi/linux/utrace_branch.h>
#include <uapi/linux/utrace_marker.h>

#define SIZE(type, size)	static_assert(sizeof(struct type) == (size))
#define AT(type, member, at)	static_assert(offsetof(struct type, member) == (at))
#define VALUE(name, value)	static_assert((name) == (value))

/* <linux/utrace.h> */

VALUE(UTRACE_ITEM_STRING, 1);
VALUE(UTRACE_ITEM_BYTES, 2);
VALUE(UTRACE_ITEM_SOCKADDR, 3);
VALUE(UTRACE_ITEM_FILE, 4);
VALUE(UTRACE_ITEM_ARGV, 5);
VALUE(UTRACE_ITEM_EXE, 6);
VALUE(UTRACE_ITEM_CWD, 7);
VALUE(UTRACE_ITEM_CREDS, 8);
VALUE(UTRACE_ITEM_STACK, 9);
VALUE(UTRACE_ITEM_RAW_STACK, 10);
VALUE(UTRACE_ITEM_MISSING, 11);

VALUE(UTRACE_ITEM_F_TRUNCATED, 0x1);
VALUE(UTRACE_ITEM_F_FAULTED, 0x2);
VALUE(UTRACE_ITEM_F_OUT, 0x4);
VALUE(UTRACE_ITEM_NO_ARG, 0xff);

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

SIZE(utrace_item_raw_stack, 32);
AT(utrace_item_raw_stack, size, 0);
AT(utrace_item_raw_stack, reserved, 4);
AT(utrace_item_raw_stack, ip, 8);
AT(utrace_item_raw_stack, sp, 16);
AT(utrace_item_raw_stack, bp, 24);

VALUE(UTRACE_REC_PAD, 0);
VALUE(UTRACE_REC_LOST, 1);
VALUE(UTRACE_REC_SYS_ENTER, 2);
VALUE(UTRACE_REC_SYS_EXIT, 3);
VALUE(UTRACE_REC_FORK, 4);
VALUE(UTRACE_REC_EXEC, 5);
VALUE(UTRACE_REC_EXIT, 6);
VALUE(UTRACE_REC_SIGNAL, 7);
VALUE(UTRACE_REC_JOBCTL, 8);
VALUE(UTRACE_REC_HIDDEN, 9);
VALUE(UTRACE_REC_TARGET_END, 10);
VALUE(UTRACE_REC_SYS_CALL, 11);
VALUE(UTRACE_REC_MARKER, 12);
VALUE(UTRACE_REC_USER_EVENT, 13);

VALUE(UTRACE_REC_F_TRUNCATED, 0x1);
VALUE(UTRACE_REC_F_FAULTED, 0x2);
VALUE(UTRACE_REC_F_INCOMPLETE, 0x4);
VALUE(UTRACE_REC_F_UNPAIRED, 0x8);
VALUE(UTRACE_REC_F_HIDDEN, 0x10);
VALUE(UTRACE_REC_F_IN_FLIGHT, 0x20);
VALUE(UTRACE_REC_F_UNNUMBERED, 0x40);

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

VALUE(UTRACE_NR_IA32, 0x20000000);
VALUE(UTRACE_NR_NONE, 0x1fffffff);

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

SIZE(utrace_rec_fork, 80);
AT(utrace_rec_fork, head, 0);
AT(utrace_rec_fork, child_task, 48);
AT(utrace_rec_fork, child_pid, 56);
AT(utrace_rec_fork, child_tid, 60);
AT(utrace_rec_fork, flags, 64);
AT(utrace_rec_fork, exit_signal, 72);
AT(utrace_rec_fork, reserved, 76);

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

VALUE(UTRACE_END_EXITED, 1);
VALUE(UTRACE_END_DETACHED, 2);

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
AT(utrace_rec_marker, args_offset, 66);
AT(utrace_rec_marker, faulted, 68);

VALUE(UTRACE_USER_EVENT_MAX, 0x400);

SIZE(utrace_rec_user_event, 64);
AT(utrace_rec_user_event, head, 0);
AT(utrace_rec_user_event, cookie, 48);
AT(utrace_rec_user_event, size, 56);
AT(utrace_rec_user_event, data_size, 60);
AT(utrace_rec_user_event, data_offset, 62);

VALUE(UTRACE_CAPTURE_STRINGS, 0x1);
VALUE(UTRACE_CAPTURE_BUFFERS, 0x2);
VALUE(UTRACE_CAPTURE_SOCKETS, 0x4);
VALUE(UTRACE_CAPTURE_FILES, 0x8);
VALUE(UTRACE_CAPTURE_STACK, 0x10);
VALUE(UTRACE_CAPTURE_RAW_STACK, 0x20);

VALUE(UTRACE_SCOPE_THREAD, 1);
VALUE(UTRACE_SCOPE_PROCESS, 2);
VALUE(UTRACE_SCOPE_TREE, 3);
VALUE(UTRACE_SCOPE_SYSTEM, 4);
VALUE(UTRACE_SCOPE_CGROUP, 5);
VALUE(UTRACE_SCOPE_EXE, 6);
VALUE(UTRACE_SCOPE_CPU, 7);

SIZE(utrace_where, 24);
AT(utrace_where, scope, 0);
AT(utrace_where, fd, 4);
AT(utrace_where, cpu, 8);
AT(utrace_where, flags, 12);
AT(utrace_where, reserved, 16);

SIZE(utrace_rows, 24);
AT(utrace_rows, at, 0);
AT(utrace_rows, n, 8);
AT(utrace_rows, size, 12);
AT(utrace_rows, total, 16);
AT(utrace_rows, reserved, 20);

VALUE(UTRACE_FULL_DEFAULT, 0);
VALUE(UTRACE_FULL_STOP, 1);
VALUE(UTRACE_FULL_DROP, 2);
VALUE(UTRACE_FULL_OVERWRITE, 3);

SIZE(utrace_ioc_info, 120);
AT(utrace_ioc_info, events, 0);
AT(utrace_ioc_info, capture, 8);
AT(utrace_ioc_info, scopes, 16);
AT(utrace_ioc_info, arm, 20);
AT(utrace_ioc_info, count, 24);
AT(utrace_ioc_info, targets, 28);
AT(utrace_ioc_info, rings, 32);
AT(utrace_ioc_info, sources, 36);
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

VALUE(UTRACE_SETUP_F_MAPPED, 0x1);

SIZE(utrace_ioc_setup, 24);
AT(utrace_ioc_setup, rings_size, 0);
AT(utrace_ioc_setup, delay, 8);
AT(utrace_ioc_setup, full, 16);
AT(utrace_ioc_setup, flags, 20);

VALUE(UTRACE_RING_MIN, 0x8000);
VALUE(UTRACE_MAP_RINGS, 0);
VALUE(UTRACE_MAP_TAILS, 0x10000000);

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

SIZE(utrace_ioc_attach, 32);
AT(utrace_ioc_attach, where, 0);
AT(utrace_ioc_attach, flags, 24);
AT(utrace_ioc_attach, id, 28);

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

VALUE(UTRACE_ITEM_SIZE, 0x1e8);
VALUE(UTRACE_ITEM_SIZE_MAX, 0x1000);
VALUE(UTRACE_COUNT_CALLS, 0x1);
VALUE(UTRACE_COUNT_CPU, 0x2);
VALUE(UTRACE_CALL_DURATIONS, 0x20);
VALUE(UTRACE_CALL_ERRORS, 0x7);

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
AT(utrace_ioc_counts, cursor, 24);
AT(utrace_ioc_counts, cursor_row, 32);
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

VALUE(UTRACE_IOC_INFO_SIZE_VER0, 0x78);
VALUE(UTRACE_IOC_SETUP_SIZE_VER0, 0x18);
VALUE(UTRACE_IOC_ATTACH_SIZE_VER0, 0x20);
VALUE(UTRACE_IOC_DETACH_SIZE_VER0, 0x8);
VALUE(UTRACE_IOC_EVENTS_SIZE_VER0, 0x30);
VALUE(UTRACE_IOC_COUNTS_SIZE_VER0, 0x38);
VALUE(UTRACE_IOC_IN_FLIGHT_SIZE_VER0, 0x18);
VALUE(UTRACE_CALL_COUNT_SIZE_VER0, 0x110);
VALUE(UTRACE_IOC_INFO, 0xc078bc00);
VALUE(UTRACE_IOC_SETUP, 0xc018bc01);
VALUE(UTRACE_IOC_ATTACH, 0xc020bc02);
VALUE(UTRACE_IOC_DETACH, 0xc008bc03);
VALUE(UTRACE_IOC_EVENTS, 0xc030bc04);
VALUE(UTRACE_IOC_COUNTS, 0xc038bc05);
VALUE(UTRACE_IOC_IN_FLIGHT, 0xc018bc06);
VALUE(UTRACE_REC_BIT(USER_EVENT), 0x2000);
VALUE(UTRACE_SCOPE_BIT(CPU), 0x80);

/* <linux/utrace_branch.h> */

SIZE(utrace_branch, 24);
AT(utrace_branch, from, 0);
AT(utrace_branch, to, 8);
AT(utrace_branch, info, 16);

VALUE(UTRACE_BRANCH, 0);
VALUE(UTRACE_BRANCH_TASK, 1);
VALUE(UTRACE_BRANCH_START, 2);
VALUE(UTRACE_BRANCH_END, 3);
VALUE(UTRACE_BRANCH_LOST, 4);
VALUE(UTRACE_BRANCH_HIDDEN, 5);
VALUE(UTRACE_BRANCH_GAP, 6);

VALUE(UTRACE_BRANCH_PREDICTED, 0x10);
VALUE(UTRACE_BRANCH_KIND_SHIFT, 0x8);

VALUE(UTRACE_BR_UNKNOWN, 0);
VALUE(UTRACE_BR_COND, 1);
VALUE(UTRACE_BR_UNCOND, 2);
VALUE(UTRACE_BR_IND, 3);
VALUE(UTRACE_BR_CALL, 4);
VALUE(UTRACE_BR_IND_CALL, 5);
VALUE(UTRACE_BR_RET, 6);
VALUE(UTRACE_BR_SYSCALL, 7);
VALUE(UTRACE_BR_SYSRET, 8);

VALUE(UTRACE_LOSS_UNKNOWN, 0);
VALUE(UTRACE_LOSS_FULL, 1);
VALUE(UTRACE_LOSS_OVERWRITTEN, 2);
VALUE(UTRACE_LOSS_OFF, 3);
VALUE(UTRACE_LOSS_HARDWARE, 4);
VALUE(UTRACE_LOSS_EDGE, 5);

VALUE(UTRACE_PC_BASE, 0xfffffffffffff000);
VALUE(UTRACE_PC_KERNEL, 0xfffffffffffff000);
VALUE(UTRACE_PC_ASYNC, 0xfffffffffffff002);
VALUE(UTRACE_PC_SYSCALL, 0xfffffffffffff010);
VALUE(UTRACE_PC_SIGNAL, 0xfffffffffffff020);
VALUE(UTRACE_PC_SIGRETURN, 0xfffffffffffff021);
VALUE(UTRACE_PC_EXEC, 0xfffffffffffff022);
VALUE(UTRACE_LEVEL_USER, 0x1);
VALUE(UTRACE_LEVEL_KERNEL, 0x2);

VALUE(UTRACE_BRANCH_SOURCE_ANY, 0);
VALUE(UTRACE_BRANCH_SOURCE_STEP, 1);
VALUE(UTRACE_BRANCH_SOURCE_INTEL, 2);
VALUE(UTRACE_BRANCH_SOURCE_EMULATED, 3);

VALUE(UTRACE_BRANCHES_F_MAPPED, 0x1);

SIZE(utrace_ioc_branches, 48);
AT(utrace_ioc_branches, where, 0);
AT(utrace_ioc_branches, capacity, 24);
AT(utrace_ioc_branches, full, 32);
AT(utrace_ioc_branches, levels, 36);
AT(utrace_ioc_branches, source, 40);
AT(utrace_ioc_branches, flags, 44);

VALUE(UTRACE_IOC_BRANCHES_SIZE_VER0, 0x30);
VALUE(UTRACE_IOC_BRANCHES, 0xc030bc0b);

SIZE(utrace_ioc_branch_info, 72);
AT(utrace_ioc_branch_info, capacity, 0);
AT(utrace_ioc_branch_info, map_size, 8);
AT(utrace_ioc_branch_info, tails_size, 16);
AT(utrace_ioc_branch_info, written, 24);
AT(utrace_ioc_branch_info, overwritten, 32);
AT(utrace_ioc_branch_info, lost, 40);
AT(utrace_ioc_branch_info, gaps, 48);
AT(utrace_ioc_branch_info, source, 56);
AT(utrace_ioc_branch_info, levels, 60);
AT(utrace_ioc_branch_info, full, 64);
AT(utrace_ioc_branch_info, waiting, 68);

VALUE(UTRACE_IOC_BRANCH_INFO_SIZE_VER0, 0x48);
VALUE(UTRACE_IOC_BRANCH_INFO, 0xc048bc0c);
VALUE(UTRACE_BRANCH_SOURCE_BIT(STEP), 0x2);
VALUE(UTRACE_BRANCH_TYPE(0x1234), 0x4);
VALUE(UTRACE_BRANCH_KIND(0x1234), 0x12);
VALUE(UTRACE_BRANCH_LOSS(0x1234), 0x12);
VALUE(UTRACE_BRANCH_TID(0x100000002ULL), 0x2);
VALUE(UTRACE_BRANCH_PID(0x100000002ULL), 0x1);
VALUE(UTRACE_PC_EXCEPTION(0), 0xfffffffffffff100);
VALUE(UTRACE_PC_EXCEPTION(255), 0xfffffffffffff1ff);

/* <linux/utrace_marker.h> */

VALUE(UTRACE_ARM_WORD, 1);
VALUE(UTRACE_ARM_MARKER, 2);
VALUE(UTRACE_ARM_USER_EVENT, 3);

VALUE(UTRACE_ARM_F_COUNT, 0x1);
VALUE(UTRACE_ARM_F_HISTOGRAM, 0x2);

VALUE(UTRACE_ARM_STATE_ARMED, 1);
VALUE(UTRACE_ARM_STATE_PENDING, 2);
VALUE(UTRACE_ARM_STATE_FAILED, 3);
VALUE(UTRACE_ARM_STATE_LEAVING, 4);

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

VALUE(UTRACE_WORD_BIT32, 1);
VALUE(UTRACE_WORD_BIT64, 2);
VALUE(UTRACE_WORD_COUNT16, 3);
VALUE(UTRACE_WORD_COUNT32, 4);

SIZE(utrace_word, 16);
AT(utrace_word, addr, 0);
AT(utrace_word, kind, 8);
AT(utrace_word, bit, 12);

VALUE(UTRACE_MARKER_ARGS, 0xc);

VALUE(UTRACE_ARG_CONST, 1);
VALUE(UTRACE_ARG_REG, 2);
VALUE(UTRACE_ARG_MEM, 3);

VALUE(UTRACE_ARG_NO_REG, 0xff);

SIZE(utrace_marker_arg, 16);
AT(utrace_marker_arg, size, 0);
AT(utrace_marker_arg, kind, 1);
AT(utrace_marker_arg, reg, 2);
AT(utrace_marker_arg, index, 3);
AT(utrace_marker_arg, scale, 4);
AT(utrace_marker_arg, reserved, 5);
AT(utrace_marker_arg, disp, 8);

VALUE(UTRACE_MARKER_F_RETURN, 0x1);

SIZE(utrace_marker, 224);
AT(utrace_marker, fd, 0);
AT(utrace_marker, flags, 4);
AT(utrace_marker, offset, 8);
AT(utrace_marker, semaphore, 16);
AT(utrace_marker, nargs, 24);
AT(utrace_marker, reserved, 28);
AT(utrace_marker, args, 32);

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

VALUE(UTRACE_LIST_ARMED, 1);

SIZE(utrace_ioc_list, 32);
AT(utrace_ioc_list, rows, 0);
AT(utrace_ioc_list, target, 24);
AT(utrace_ioc_list, what, 28);

VALUE(UTRACE_HITS_COUNT, 1);
VALUE(UTRACE_HITS_HISTOGRAM, 2);

SIZE(utrace_hit_count, 32);
AT(utrace_hit_count, cookie, 0);
AT(utrace_hit_count, hits, 8);
AT(utrace_hit_count, missed, 16);
AT(utrace_hit_count, id, 24);
AT(utrace_hit_count, reserved, 28);

VALUE(UTRACE_BUCKET_UNREADABLE, 0);
VALUE(UTRACE_BUCKET_NEGATIVE, 1);
VALUE(UTRACE_BUCKET_ZERO, 2);
VALUE(UTRACE_BUCKET_POSITIVE, 3);
VALUE(UTRACE_BUCKETS, 67);

SIZE(utrace_ioc_hits, 40);
AT(utrace_ioc_hits, rows, 0);
AT(utrace_ioc_hits, target, 24);
AT(utrace_ioc_hits, id, 28);
AT(utrace_ioc_hits, what, 32);
AT(utrace_ioc_hits, reserved, 36);

VALUE(UTRACE_IOC_ARM_SIZE_VER0, 0x30);
VALUE(UTRACE_IOC_DISARM_SIZE_VER0, 0x8);
VALUE(UTRACE_IOC_LIST_SIZE_VER0, 0x20);
VALUE(UTRACE_IOC_HITS_SIZE_VER0, 0x28);
VALUE(UTRACE_WORD_SIZE_VER0, 0x10);
VALUE(UTRACE_MARKER_SIZE_VER0, 0xe0);
VALUE(UTRACE_USER_EVENT_SIZE_VER0, 0x10);
VALUE(UTRACE_ARMED_SIZE_VER0, 0x30);
VALUE(UTRACE_HIT_COUNT_SIZE_VER0, 0x20);
VALUE(UTRACE_IOC_ARM, 0xc030bc07);
VALUE(UTRACE_IOC_DISARM, 0xc008bc08);
VALUE(UTRACE_IOC_LIST, 0xc020bc09);
VALUE(UTRACE_IOC_HITS, 0xc028bc0a);
VALUE(UTRACE_ARM_BIT(MARKER), 0x4);
