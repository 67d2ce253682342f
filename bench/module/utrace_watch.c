// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - how long locks are held, and preemption or interrupts off
 *
 * A write to /sys/module/utrace_watch/parameters/do is one command, a read
 * gives the answer of the last command:
 *
 *	tasklist ADDRESS	watch how long tasklist_lock, at this address,
 *				is held
 *	preempt			watch for how long preemption is off
 *	irqs			watch for how long interrupts are off
 *	call FUNCTION		watch how often the function is called and how
 *				long the calls take
 *	done			end the watch; says the longest stretch and the
 *				stack at its end, or the number of calls and
 *				their time
 *
 * The guest has one CPU, and the TSC counts instructions, see bench/init.c.
 * "preempt" and "irqs" watch the caller and workers, "tasklist" watches all
 * tasks.  A timer interrupt or softirq within a stretch does not count.  Only
 * the kernels bench-holds and bench-holds-rt have the tracepoints of "preempt"
 * and "irqs".
 */
#include <linux/ftrace.h>
#include <linux/interrupt.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

static char said[1024];

/* Time in timer interrupts and softirqs so far, and the start of one now. */
static u64 aside, aside_began;
static unsigned int aside_depth;

/* The stretch that @owner is in since @began, and the longest one so far. */
static const struct task_struct *caller, *owner;
static u64 began, longest;
static unsigned long longest_at[16];
static unsigned int longest_depth;
static unsigned int depth;

/* An interrupt between the two reads would count, with the wrong sign. */
static u64 net_time(void)
{
	u64 before, now;

	do {
		before = READ_ONCE(aside);
		now = get_cycles();
	} while (before != READ_ONCE(aside));
	return now - before;
}

static void begin_stretch(void)
{
	owner = current;
	began = net_time();
}

static void end_stretch(void)
{
	u64 now = net_time();
	/* An interrupt that ends in the stretch may have begun before it. */
	u64 took = now > began ? now - began : 0;

	if (owner == current && took > longest) {
		longest = took;
		longest_depth = stack_trace_save(longest_at,
						 ARRAY_SIZE(longest_at), 1);
	}
	owner = NULL;
}

/* Workers that execute a work item, not those that look for one. */
static const struct task_struct *at_work[8];

static bool is_at_work(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at_work); i++)
		if (at_work[i] == current)
			return true;
	return false;
}

/* Check whether the context is the caller, or a worker with a work item. */
static bool is_ours(void)
{
	return !in_hardirq() && !in_serving_softirq() &&
	       (current == caller || is_at_work());
}

/* Probes. */

static void probe_off(void *data, unsigned long ip, unsigned long parent)
{
	if (is_ours())
		begin_stretch();
}

static void probe_on(void *data, unsigned long ip, unsigned long parent)
{
	if (owner)
		end_stretch();
}

static void probe_work_start(void *data, struct work_struct *work)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at_work); i++) {
		if (!at_work[i]) {
			at_work[i] = current;
			break;
		}
	}
}

static void probe_work_end(void *data, struct work_struct *work,
			   work_func_t function)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at_work); i++)
		if (at_work[i] == current)
			at_work[i] = NULL;
}

static void aside_begin(void)
{
	if (!aside_depth++)
		aside_began = get_cycles();
}

static void aside_end(void)
{
	if (aside_depth && !--aside_depth)
		aside += get_cycles() - aside_began;
}

static bool in_timer;

/* Set if irq_enable is traced, where a timer interrupt ends. */
static bool until_irq_enable;

static void probe_timer_entry(void *data, int vector)
{
	aside_begin();
	in_timer = true;
}

static void probe_timer_exit(void *data, int vector)
{
	if (until_irq_enable)
		return;
	aside_end();
	in_timer = false;
}

/*
 * With PREEMPT_RT an interrupt wakes the thread for timers after its handler, so
 * it ends here.
 */
static void probe_timer_done(void *data, unsigned long ip, unsigned long parent)
{
	if (in_timer)
		aside_end();
	in_timer = false;
}

static void probe_softirq_entry(void *data, unsigned int nr)
{
	aside_begin();
}

static void probe_softirq_exit(void *data, unsigned int nr)
{
	aside_end();
}

/* Forget a stretch that a context switch is part of: it is the scheduler's. */
static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	owner = NULL;
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *tp;
} probes[] = {
	{ "local_timer_entry", probe_timer_entry },
	{ "local_timer_exit", probe_timer_exit },
	{ "softirq_entry", probe_softirq_entry },
	{ "softirq_exit", probe_softirq_exit },
	{ "sched_switch", probe_switch },
	{ "workqueue_execute_start", probe_work_start },
	{ "workqueue_execute_end", probe_work_end },
}, timer_probes[] = {
	{ "irq_enable", probe_timer_done },
}, preempt_probes[] = {
	{ "preempt_disable", probe_off },
	{ "preempt_enable", probe_on },
}, irqs_probes[] = {
	{ "irq_disable", probe_off },
	{ "irq_enable", probe_on },
};

/* Groups of probes that are registered. */
static struct {
	struct probe *probe;
	size_t n;
} groups[3];
static unsigned int ngroups;

static void find_tracepoint(struct tracepoint *tp, void *data)
{
	struct probe *probe = data;

	if (!strcmp(tp->name, probe->name))
		probe->tp = tp;
}

static void remove_probes(struct probe *probe, size_t n)
{
	while (n--)
		tracepoint_probe_unregister(probe[n].tp, probe[n].function, NULL);
	tracepoint_synchronize_unregister();
}

static int add_probes(struct probe *probe, size_t n)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n; i++) {
		for_each_kernel_tracepoint(find_tracepoint, &probe[i]);
		if (probe[i].tp)
			ret = tracepoint_probe_register(probe[i].tp,
							probe[i].function, NULL);
		else
			ret = -EOPNOTSUPP;
		if (ret) {
			remove_probes(probe, i);
			return ret;
		}
	}
	groups[ngroups].probe = probe;
	groups[ngroups++].n = n;
	return 0;
}

/* The lock. */

static unsigned long lock_address;

static void on_lock(unsigned long ip, unsigned long parent,
		    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ftrace_regs_get_argument(fregs, 0) == lock_address && !depth++)
		begin_stretch();
}

static void on_unlock(unsigned long ip, unsigned long parent,
		      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (ftrace_regs_get_argument(fregs, 0) == lock_address && depth &&
	    !--depth)
		end_stretch();
}

static struct ftrace_ops lock_ops = { .func = on_lock };
static struct ftrace_ops unlock_ops = { .func = on_unlock };
static bool lock_watched;

static int add_filter(struct ftrace_ops *ops, const char *glob, bool reset)
{
	char copy[32];

	strscpy(copy, glob);
	return ftrace_set_filter(ops, copy, strlen(copy), reset);
}

/* How the names of the functions of a rwlock_t begin. */
#ifdef CONFIG_PREEMPT_RT
#define RWLOCK	"rt_"
#else
#define RWLOCK	"_raw_"
#endif

static int watch_lock(void)
{
	int ret;

	if (add_filter(&lock_ops, RWLOCK "read_lock*", true) ||
	    add_filter(&lock_ops, RWLOCK "write_lock*", false) ||
	    add_filter(&unlock_ops, RWLOCK "read_unlock*", true) ||
	    add_filter(&unlock_ops, RWLOCK "write_unlock*", false))
		return -EOPNOTSUPP;
	depth = 0;
	ret = register_ftrace_function(&unlock_ops);
	if (ret)
		return ret;
	ret = register_ftrace_function(&lock_ops);
	if (ret)
		unregister_ftrace_function(&unlock_ops);
	else
		lock_watched = true;
	return ret;
}

/* Calls. */

static u64 calls, call_cost, probe_cost;

static int on_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u64 *)ri->data = get_cycles();
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	call_cost += get_cycles() - *(u64 *)ri->data;
	calls++;
	return 0;
}

static char call_name[KSYM_NAME_LEN];
static struct kretprobe call_probe;
static bool call_watched;

static int add_call_probe(const char *name)
{
	strscpy(call_name, name);
	call_probe = (struct kretprobe) {
		.kp.symbol_name = call_name,
		.handler = on_return,
		.entry_handler = on_call,
		.data_size = sizeof(u64),
	};
	return register_kretprobe(&call_probe);
}

/* A call of this empty function takes as long as the probe itself. */
static noinline void utrace_watch_nothing(void)
{
	barrier();
}

static int watch_calls(const char *name)
{
	int i, ret = add_call_probe("utrace_watch_nothing");

	if (ret)
		return ret;
	probe_cost = U64_MAX;
	for (i = 0; i < 5; i++) {
		call_cost = 0;
		utrace_watch_nothing();
		probe_cost = min(probe_cost, call_cost);
	}
	unregister_kretprobe(&call_probe);
	calls = 0;
	call_cost = 0;
	ret = add_call_probe(name);
	call_watched = !ret;
	return ret;
}

/* Commands. */

/*
 * Print the longest stretch and the stack at its end, the innermost function
 * first.
 */
static void say_longest(u64 took)
{
	size_t n = scnprintf(said, sizeof(said), "%llu ", took);
	unsigned int i;

	for (i = 0; i < longest_depth; i++)
		n += scnprintf(said + n, sizeof(said) - n, "<%ps",
			       (void *)longest_at[i]);
}

static int stop_watching(void)
{
	u64 took = longest;

	/* No stretch is longer than this, so removing the probes adds none. */
	longest = U64_MAX;
	if (call_watched) {
		unregister_kretprobe(&call_probe);
		call_watched = false;
		snprintf(said, sizeof(said), "%llu %llu", calls,
			 call_cost - calls * probe_cost);
		return 0;
	}
	if (lock_watched) {
		unregister_ftrace_function(&lock_ops);
		unregister_ftrace_function(&unlock_ops);
		lock_watched = false;
	}
	while (ngroups) {
		ngroups--;
		remove_probes(groups[ngroups].probe, groups[ngroups].n);
	}
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		sched_set_normal(current, 0);
	say_longest(took);
	return 0;
}

static int add_probes_for(const char *what)
{
	if (!strcmp(what, "preempt"))
		return add_probes(preempt_probes, ARRAY_SIZE(preempt_probes));
	if (!strcmp(what, "irqs"))
		return add_probes(irqs_probes, ARRAY_SIZE(irqs_probes));
	return watch_lock();
}

static int watch(const char *what)
{
	int ret;

	if (lock_watched || call_watched || ngroups)
		return -EBUSY;
	caller = current;
	owner = NULL;
	longest = 0;
	longest_depth = 0;
	aside_depth = 0;
	memset(at_work, 0, sizeof(at_work));
	in_timer = false;
	until_irq_enable = IS_ENABLED(CONFIG_PREEMPT_RT) &&
			   strcmp(what, "tasklist");
	/*
	 * With PREEMPT_RT a tick may preempt the caller in the kernel, and what
	 * the scheduler does then would count.
	 */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		sched_set_fifo(current);
	ret = add_probes(probes, ARRAY_SIZE(probes));
	if (!ret && until_irq_enable)
		ret = add_probes(timer_probes, ARRAY_SIZE(timer_probes));
	if (!ret)
		ret = add_probes_for(what);
	/* Forget the stretches of the registration itself. */
	owner = NULL;
	longest = 0;
	if (ret)
		stop_watching();
	return ret;
}

static int do_set(const char *val, const struct kernel_param *kp)
{
	char name[64];

	if (sscanf(val, "tasklist %lx", &lock_address) == 1)
		return watch("tasklist");
	if (sscanf(val, "call %63s", name) == 1)
		return watch_calls(name);
	if (sysfs_streq(val, "preempt"))
		return watch("preempt");
	if (sysfs_streq(val, "irqs"))
		return watch("irqs");
	if (sysfs_streq(val, "done"))
		return stop_watching();
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

static int __init watch_init(void)
{
	return 0;
}

static void __exit watch_exit(void)
{
	stop_watching();
}

module_init(watch_init);
module_exit(watch_exit);
MODULE_DESCRIPTION("utrace bench: how long something lasts at most");
MODULE_LICENSE("GPL");
