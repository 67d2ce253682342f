/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - members of structures that a type in decode/tables/ cannot describe
 */
#ifndef UTRACE_FORMAT_HOOKS_H
#define UTRACE_FORMAT_HOOKS_H

#include "structs.h"

void structs_print_sigset(struct seq_buf *s, const void *data, size_t len);
void structs_print_date(struct seq_buf *s, __s64 seconds, __u64 part,
			unsigned int digits, const char *before,
			const char *after);
bool structs_print_out(struct seq_buf *s, const struct utrace_call_items *items,
		       unsigned int arg, __u32 nr, const __u64 *args);

/* structs.c */
void whole_answered(const struct element *element);
void whole_answered_or_address(const struct element *element);

/* hooks_file.c */
void hook_zero(const struct element *element, const struct member *member);
void whole_hex_bytes(const struct element *element);
void whole_path(const struct element *element);
void whole_open_how(const struct element *element);
void whole_sized(const struct element *element);
void whole_moved(const struct element *element);
void whole_dated_timespec(const struct element *element);
void whole_dirents(const struct element *element);
void whole_dirents64(const struct element *element);
void whole_file_handle(const struct element *element);

/* hooks_process.c */
void whole_clone_args(const struct element *e);
void whole_comm(const struct element *e);
void whole_xfeatures(const struct element *e);
void whole_user_desc(const struct element *e);
void arg_ambient_cap(const struct utrace_arg_text *a);
void arg_fd_of_pidfd(const struct utrace_arg_text *a);
void arg_futex_op(const struct utrace_arg_text *a);
void arg_ldt_result(const struct utrace_arg_text *a);
void arg_long_signal(const struct utrace_arg_text *a);
void arg_mce_policy(const struct utrace_arg_text *a);
void arg_pidtype(const struct utrace_arg_text *a);
void arg_ptracer(const struct utrace_arg_text *a);
void arg_xfeature(const struct utrace_arg_text *a);
void arg_vector_length(const struct utrace_arg_text *a);

void whole_msgbuf(const struct element *e);
void whole_bytes(const struct element *e);
void whole_text(const struct element *e);
void whole_nodemask(const struct element *e);
void whole_nodemask_before(const struct element *e);
void whole_page_status(const struct element *e);
void whole_regset(const struct element *e);
void whole_seccomp_metadata(const struct element *e);
void whole_syscall_info(const struct element *e);
void whole_user_desc_query(const struct element *e);
void arg_personality(const struct utrace_arg_text *a);
void arg_personality_result(const struct utrace_arg_text *a);
void arg_tagged_address(const struct utrace_arg_text *a);

/* hooks_security.c */
void whole_key_caps(const struct element *e);
void whole_cap_data(const struct element *e);
void whole_fprog(const struct element *e);
void whole_landlock_ruleset(const struct element *e);
void hook_negative_errno(const struct element *e, const struct member *m);
void hook_seccomp_arch(const struct element *e, const struct member *m);
void hook_seccomp_nr(const struct element *e, const struct member *m);
void whole_seccomp_notif(const struct element *e);
void whole_seccomp_filter(const struct element *e);
void whole_sock_filter(const struct element *e);
void arg_errno(const struct utrace_arg_text *a);
void arg_quota_command(const struct utrace_arg_text *a);

/* hooks_signal.c */
void arg_signal_result(const struct utrace_arg_text *a);
void whole_frame(const struct element *e);
void whole_siginfo(const struct element *e);
void whole_sigset(const struct element *e);

/* io_uring, AIO and perf events */
void hook_bpf_log(const struct element *element, const struct member *member);
void hook_bpf_object(const struct element *element, const struct member *member);
void hook_changed(const struct element *element, const struct member *member);
void hook_kernel_version(const struct element *element, const struct member *member);
void whole_bpf_link_detach(const struct element *element);
void whole_bpf_batch(const struct element *element);
void whole_bpf_link_create(const struct element *element);
void whole_bpf_link_update(const struct element *element);
void whole_bpf_enable_stats(const struct element *element);
void whole_bpf_iter_create(const struct element *element);
void whole_bpf_prog_bind_map(const struct element *element);
void hook_short_string(const struct element *element, const struct member *member);
void whole_bpf_attr(const struct element *element);
void whole_bpf_info(const struct element *element);
void whole_bpf_query(const struct element *element);
void whole_bpf_raw_tracepoint(const struct element *element);
void whole_bpf_task_fd_query(const struct element *element);
void whole_bpf_test(const struct element *element);
void hook_iocb_cmd(const struct element *element, const struct member *member);
void whole_io_uring_params(const struct element *element);
void hook_reqprio(const struct element *element, const struct member *member);
void whole_iocb(const struct element *element);
void whole_perf_event_attr(const struct element *element);

/* Sockets */
void hook_eth_protocol(const struct element *element, const struct member *member);
void hook_hex8(const struct element *element, const struct member *member);
void hook_hwaddr(const struct element *element, const struct member *member);
void hook_ifindex(const struct element *element, const struct member *member);
void hook_in6(const struct element *element, const struct member *member);
void hook_ipx_network(const struct element *element, const struct member *member);
void hook_sll_addr(const struct element *element, const struct member *member);
void whole_sock_filters(const struct element *element);
void whole_sock_fprog_option(const struct element *element);
void arg_eth_protocol(const struct utrace_arg_text *a);
void arg_sockopt(const struct utrace_arg_text *a);
void arg_sockopt_got(const struct utrace_arg_text *a);
void hook_mr_address(const struct element *element, const struct member *member);
void hook_sockaddr(const struct element *element, const struct member *member);
void whole_sockopt(const struct element *element);
void hook_cmsg_type(const struct element *element, const struct member *member);
void hook_msg_control(const struct element *element, const struct member *member);
void hook_msg_name(const struct element *element, const struct member *member);
void hook_msg_namelen(const struct element *element, const struct member *member);
void whole_mmsghdr(const struct element *element);
void whole_msghdr_received(const struct element *element);
void whole_socklen(const struct element *element);

/* hooks_device.c */
void hook_cpuid_entries(const struct element *element, const struct member *member);
void hook_ptp_times(const struct element *element, const struct member *member);
void hook_rtc_value(const struct element *element, const struct member *member);
void whole_dm_head(const struct element *element);
void whole_gpio_attr(const struct element *element);
void whole_gpio_config_attr(const struct element *element);
void whole_oob_part(const struct element *element);
void whole_members(const struct element *element);
void whole_perf_query(const struct element *element);
void hook_uuid(const struct element *element, const struct member *member);
void whole_ptp_date(const struct element *element);
void whole_tee_command(const struct element *element);
void whole_ubi_numbered(const struct element *element);

/* hooks_time.c */
void whole_date(const struct element *element);
void whole_bits(const struct element *element);
void whole_file_timespec(const struct element *element);
void whole_file_timeval(const struct element *element);
void whole_sched_attr(const struct element *element);
void whole_fd_set(const struct element *element);
void hook_ticks(const struct element *element, const struct member *member);
void hook_sigval(const struct element *element, const struct member *member);
void hook_rlim(const struct element *element, const struct member *member);
void hook_epoll_data(const struct element *element, const struct member *member);
void arg_ioprio(const struct utrace_arg_text *a);

/* fcntl() and ioctl() */
void arg_ioctl(const struct utrace_arg_text *a);
void arg_swapon(const struct utrace_arg_text *a);
void hook_loop_key(const struct element *element, const struct member *member);
void hook_term_iflag(const struct element *element, const struct member *member);
void hook_term_oflag(const struct element *element, const struct member *member);
void hook_term_cflag(const struct element *element, const struct member *member);
void hook_term_lflag(const struct element *element, const struct member *member);
void hook_term_cc(const struct element *element, const struct member *member);
void hook_ifr_addr(const struct element *element, const struct member *member);
void hook_ifr_hwaddr(const struct element *element, const struct member *member);
void whole_fiemap(const struct element *element);
void whole_ifconf(const struct element *element);
void whole_one_char(const struct element *element);
void whole_one_name(const struct element *element);
void whole_uffdio_api(const struct element *element);

#endif /* UTRACE_FORMAT_HOOKS_H */
