/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the command on ptrace(2): requests to the tracer
 */
#ifndef UTRACE_TESTS_BY_PTRACE_REQUESTS_H
#define UTRACE_TESTS_BY_PTRACE_REQUESTS_H

#include <linux/utrace.h>

#include "by_ptrace.h"

/* Maximum number of calls to record, as of %UTRACE_IOC_EVENTS. */
#define REQUEST_CALLS	4096

enum request_kind {
	REQUEST_CHOOSE,
	REQUEST_ATTACH,
	REQUEST_END,	/* detach from all tasks and exit; has no answer */
};

/**
 * struct request - a request; the answer is an int: 0 or an errno
 * @kind: what to do
 * @tid: task to attach to
 * @scope: that task alone, or its process with all future descendants
 * @events: the choice
 * @calls: the calls of @events
 */
struct request {
	enum request_kind kind;
	pid_t tid;
	enum utrace_scope scope;
	struct utrace_ioc_events events;
	__u32 calls[REQUEST_CALLS];
};

#endif /* UTRACE_TESTS_BY_PTRACE_REQUESTS_H */
