// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - put tasks into the states that are measured
 *
 * A write to /sys/module/utrace_bench/parameters/do is one command, a read
 * gives the answer of the last command:
 *
 *	probes 1|0		empty probes on sys_enter and sys_exit
 *	engines KIND PID N	N thread engines on a thread
 *	scope PID		a process engine on a process; says how long
 *				the attach took
 *	system			an engine of the system; says how long the
 *				attach took
 *	cover KIND PID		an engine without events on a "process", a
 *				"tree" or the "system"; says how long the
 *				attach took
 *	want			the last engine wants system calls
 *	stopper PID		an engine that stops a thread at every call,
 *				and a kernel thread that lets the thread go on
 *	park			the last engine wants no more events
 *	detach			detach all engines; says how long that took
 *	sizes			says sizes of structures
 *
 * KIND of "engines" is "pair": the engines have empty callbacks for entries
 * and exits; "masked": they want another event; or "filtered": they are as
 * those of "pair", and their syscall filter leaves getppid out.  Times are
 * differences of the TSC, which counts instructions in the guest, see
 * bench/init.c.  The module is also built for the unpatched kernel, where it
 * has "probes" and "sizes" only.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#ifdef CONFIG_UTRACE
#include <linux/utrace.h>
#endif

#include <asm/unistd.h>

static char said[256];

/* Probes. */

static struct tracepoint *sys_enter, *sys_exit;
static bool probing;

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_enter"))
		sys_enter = tp;
	if (!strcmp(tp->name, "sys_exit"))
		sys_exit = tp;
}

static void probe_enter(void *data, struct pt_regs *regs, long id)
{
}

static void probe_exit(void *data, struct pt_regs *regs, long ret)
{
}

static int probes_off(void)
{
	if (!probing)
		return 0;
	tracepoint_probe_unregister(sys_exit, probe_exit, NULL);
	tracepoint_probe_unregister(sys_enter, probe_enter, NULL);
	tracepoint_synchronize_unregister();
	probing = false;
	return 0;
}

/* Registering the first probe arms every thread; its time is measured. */
static int probes_on(void)
{
	cycles_t begun;
	int ret;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!sys_enter || !sys_exit)
		return -ENOENT;
	begun = get_cycles();
	ret = tracepoint_probe_register(sys_enter, probe_enter, NULL);
	snprintf(said, sizeof(said), "%llu", get_cycles() - begun);
	if (ret)
		return ret;
	ret = tracepoint_probe_register(sys_exit, probe_exit, NULL);
	if (ret)
		tracepoint_probe_unregister(sys_enter, probe_enter, NULL);
	else
		probing = true;
	return ret;
}

/* Engines. */

#ifdef CONFIG_UTRACE
static struct utrace_engine *engine[UTRACE_MAX_ENGINES];
static unsigned int nengines;

static u32 empty_entry(u32 action, struct utrace_engine *engine,
		       struct pt_regs *regs)
{
	return UTRACE_RESUME;
}

static u32 empty_exit(u32 action, struct utrace_engine *engine,
		      struct pt_regs *regs)
{
	return UTRACE_RESUME;
}

static u32 empty_jctl(u32 action, struct utrace_engine *engine, int type,
		      int notify)
{
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops bench_ops = {
	.report_syscall_entry	= empty_entry,
	.report_syscall_exit	= empty_exit,
	.report_jctl		= empty_jctl,
	.owner			= THIS_MODULE,
	.name			= "utrace_bench",
};

/* Stops. */

static DECLARE_COMPLETION(stopping);
static struct task_struct *controller;

static u32 stop_entry(u32 action, struct utrace_engine *engine,
		      struct pt_regs *regs)
{
	if (action & UTRACE_SYSCALL_RESUMED)
		return UTRACE_RESUME;
	complete(&stopping);
	return UTRACE_STOP;
}

static const struct utrace_engine_ops stop_ops = {
	.report_syscall_entry	= stop_entry,
	.owner			= THIS_MODULE,
	.name			= "utrace_bench",
};

/*
 * A kernel thread that resumes the task after each stop.  stop_entry()
 * completes @stopping before its STOP is in force, so the barrier waits until
 * the pass is over; only then can UTRACE_RESUME end the stop.
 */
static int let_go(void *data)
{
	struct utrace_engine *stopper = data;

	int ret = 0;

	while (!kthread_should_stop() && !ret) {
		wait_for_completion(&stopping);
		utrace_barrier_sync(stopper);
		ret = utrace_control(NULL, stopper, UTRACE_RESUME);
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return ret;
}

static int keep_engine(struct utrace_engine *new)
{
	if (IS_ERR(new))
		return PTR_ERR(new);
	engine[nengines++] = new;
	return 0;
}

static int attach_engine(pid_t nr, int flags,
			 const struct utrace_engine_ops *ops)
{
	struct pid *pid;
	int ret;

	if (nengines == ARRAY_SIZE(engine))
		return -ENOSPC;
	pid = find_get_pid(nr);
	if (!pid)
		return -ESRCH;
	ret = keep_engine(utrace_attach_pid(pid, UTRACE_ATTACH_CREATE | flags,
					    ops, NULL));
	put_pid(pid);
	return ret;
}

static int attach_system(void)
{
	if (nengines == ARRAY_SIZE(engine))
		return -ENOSPC;
	return keep_engine(utrace_attach_system(0, &bench_ops, NULL));
}

/* Choose the events of the last engine. */
static int want(unsigned long events)
{
	int ret;

	if (!nengines)
		return -ENOENT;
	ret = utrace_set_events(NULL, engine[nengines - 1], events);
	return ret == -EINPROGRESS ? 0 : ret;
}

static int add_engine(pid_t nr, int flags, const struct utrace_engine_ops *ops,
		      unsigned long events, bool filtered)
{
	static const int other = __NR_getpid;
	int ret = attach_engine(nr, flags, ops);

	if (ret)
		return ret;
	if (filtered)
		ret = utrace_set_syscall_filter(engine[nengines - 1], &other, 1);
	return ret ?: want(events);
}

static int add_engines(const char *kind, pid_t nr, unsigned int n)
{
	unsigned long events = strcmp(kind, "masked") ? UTRACE_EVENT_SYSCALL :
							UTRACE_EVENT(JCTL);
	int ret = 0;

	while (!ret && n--)
		ret = add_engine(nr, 0, &bench_ops, events,
				 !strcmp(kind, "filtered"));
	return ret;
}

static int add_scope(pid_t nr)
{
	cycles_t begun = get_cycles();
	int ret = add_engine(nr, UTRACE_ATTACH_PROCESS, &bench_ops,
			     UTRACE_EVENT_SYSCALL, false);

	snprintf(said, sizeof(said), "%llu", get_cycles() - begun);
	return ret;
}

/* utrace_set_events() walks over all threads, so the time includes it. */
static int add_system(void)
{
	cycles_t begun = get_cycles();
	int ret = attach_system() ?: want(UTRACE_EVENT_SYSCALL);

	snprintf(said, sizeof(said), "%llu", get_cycles() - begun);
	return ret;
}

/* Attach an engine without events. */
static int cover(const char *kind, pid_t nr)
{
	cycles_t begun = get_cycles();
	int ret = -EINVAL;

	if (!strcmp(kind, "process"))
		ret = attach_engine(nr, UTRACE_ATTACH_PROCESS, &bench_ops);
	else if (!strcmp(kind, "tree"))
		ret = attach_engine(nr, UTRACE_ATTACH_TREE, &bench_ops);
	else if (!strcmp(kind, "system"))
		ret = attach_system();
	snprintf(said, sizeof(said), "%llu", get_cycles() - begun);
	return ret;
}

static int want_calls(void)
{
	return want(UTRACE_EVENT_SYSCALL);
}

static int add_stopper(pid_t nr)
{
	int ret = add_engine(nr, 0, &stop_ops, 0, false);

	if (ret)
		return ret;
	controller = kthread_run(let_go, engine[0], "utrace_bench");
	if (IS_ERR(controller)) {
		ret = PTR_ERR(controller);
		controller = NULL;
		return ret;
	}
	return utrace_set_events(NULL, engine[0], UTRACE_EVENT(SYSCALL_ENTRY));
}

static int park(void)
{
	return want(0);
}

static int detach_all(void)
{
	cycles_t begun;

	if (controller) {
		/* Make no new stop, and wait for a running callback. */
		if (utrace_set_events(NULL, engine[0], 0))
			utrace_barrier_sync(engine[0]);
		get_task_struct(controller);
		complete(&stopping);
		kthread_stop_put(controller);
		controller = NULL;
	}
	begun = get_cycles();
	while (nengines)
		utrace_engine_shutdown(engine[--nengines]);
	snprintf(said, sizeof(said), "%llu", get_cycles() - begun);
	return 0;
}

static int say_sizes(void)
{
	const struct task_struct *t = current;

	snprintf(said, sizeof(said), "%zu %zu %zu",
		 sizeof(struct task_struct), sizeof(struct utrace_engine),
		 sizeof(t->utrace_events) + sizeof(t->utrace_set) +
		 sizeof(t->utrace));
	return 0;
}
#else
static int add_engines(const char *kind, pid_t nr, unsigned int n)
{
	return -EOPNOTSUPP;
}

static int add_scope(pid_t nr)
{
	return -EOPNOTSUPP;
}

static int cover(const char *kind, pid_t nr)
{
	return -EOPNOTSUPP;
}

static int want_calls(void)
{
	return -EOPNOTSUPP;
}

static int add_system(void)
{
	return -EOPNOTSUPP;
}

static int add_stopper(pid_t nr)
{
	return -EOPNOTSUPP;
}

static int park(void)
{
	return -EOPNOTSUPP;
}

static int detach_all(void)
{
	return 0;
}

static int say_sizes(void)
{
	snprintf(said, sizeof(said), "%zu", sizeof(struct task_struct));
	return 0;
}
#endif

static int do_set(const char *val, const struct kernel_param *kp)
{
	char kind[16];
	unsigned int n;
	int nr;

	if (sscanf(val, "probes %u", &n) == 1)
		return n ? probes_on() : probes_off();
	if (sscanf(val, "engines %15s %d %u", kind, &nr, &n) == 3)
		return add_engines(kind, nr, n);
	if (sscanf(val, "scope %d", &nr) == 1)
		return add_scope(nr);
	if (sscanf(val, "cover %15s %d", kind, &nr) == 2)
		return cover(kind, nr);
	if (sysfs_streq(val, "want"))
		return want_calls();
	if (sysfs_streq(val, "system"))
		return add_system();
	if (sscanf(val, "stopper %d", &nr) == 1)
		return add_stopper(nr);
	if (sysfs_streq(val, "park"))
		return park();
	if (sysfs_streq(val, "detach"))
		return detach_all();
	if (sysfs_streq(val, "sizes"))
		return say_sizes();
	return -EINVAL;
}

static int do_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", said);
}

static const struct kernel_param_ops do_ops = {
	.set = do_set,
	.get = do_get,
};
module_param_cb(do, &do_ops, NULL, 0600);
MODULE_PARM_DESC(do, "a command, see the source");

static int __init bench_init(void)
{
	return 0;
}

static void __exit bench_exit(void)
{
	probes_off();
	detach_all();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("utrace bench: states to be measured");
MODULE_LICENSE("GPL");
