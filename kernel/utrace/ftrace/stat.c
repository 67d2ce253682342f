// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: what it knows of tasks, process/stat
 *
 * Each task that an instance follows has a struct process_task there.  Only the
 * task itself writes its numbers.  So an event takes a lock of the instance
 * (process_trace.task_lock) only for the first call of a task, for its first
 * call of a kind, for an execve() that changes its pid, and for its exit.  A
 * reader of process/stat walks the tasks under RCU and may see the numbers of
 * one line from different moments.
 */
#include <linux/log2.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/cputime.h>
#include <linux/sched/stat.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../builtin.h"
#include "process.h"
#include "../syscall_current.h"
#include "../decode/table.h"

/*
 * Counts of an instance at most, each for one task and one call.  A count takes
 * 256 bytes, so this is 16 MiB.
 */
#define PROCESS_MAX_COUNTS	65536

/*
 * Durations are sorted by their logarithm: bucket n has those below 2^n ns that
 * are in no bucket before it, the last bucket those of 2^30 ns and more.
 */
#define PROCESS_BUCKETS		32

/**
 * struct utrace_ftrace_count - counts of one system call of one task
 * @node: entry in process_task.counts; added by the task, read under RCU,
 *	removed when the process_task is freed
 * @nr: number of the call; constant
 * @epoch: process_trace.epoch of the numbers below.  Stored with release after
 *	the numbers were cleared, read with acquire.
 * @calls: calls that are over
 * @errors: calls among @calls that returned an error
 * @total: sum of the durations, in ns
 * @min: shortest duration, in ns
 * @max: longest duration, in ns
 * @cpu: CPU time used in the calls, in ns
 * @bucket: number of calls by duration, see PROCESS_BUCKETS
 *
 * Only the task itself writes the numbers; readers use READ_ONCE().
 */
struct utrace_ftrace_count {
	struct hlist_node node;
	unsigned int nr;
	unsigned int epoch;
	u64 calls;
	u64 errors;
	u64 total;
	u64 min;
	u64 max;
	u64 cpu;
	u32 bucket[PROCESS_BUCKETS];
};

/**
 * utrace_ftrace_init_tasks() - initialize the list of tasks of an instance
 * @pt: a new instance
 *
 * Context: Any.
 */
void utrace_ftrace_init_tasks(struct process_trace *pt)
{
	INIT_LIST_HEAD(&pt->task_list);
	spin_lock_init(&pt->task_lock);
	pt->sweep = &pt->task_list;
}

static void process_free_task(struct rcu_head *rcu)
{
	struct process_task *task = container_of(rcu, struct process_task, rcu);
	struct utrace_ftrace_count *count;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(task->counts); i++)
		hlist_for_each_entry_safe(count, next, &task->counts[i], node)
			kfree(count);
	put_pid(task->pid);
	kfree(task);
}

/*
 * The last reference is gone.  Readers of process/stat may still be at the
 * task, so it is freed after a grace period.
 */
static void process_task_release(struct kref *ref)
{
	struct process_task *task = container_of(ref, struct process_task, ref);

	call_rcu(&task->rcu, process_free_task);
}

/*
 * Drop a reference: that of the list, or that of the task, which is being freed
 * or has found the owner gone.
 */
static void process_task_put(struct utrace_task_data *data)
{
	struct process_task *task = container_of(data, struct process_task,
						 data);

	kref_put(&task->ref, process_task_release);
}

/*
 * Take @task out of the list, unless that was done before.  Clearing the owner
 * hides it from process_find_task(); the task drops its own reference later.
 */
static void process_remove_task(struct process_trace *pt,
				struct process_task *task)
{
	lockdep_assert_held(&pt->task_lock);

	if (!task->data.owner)
		return;
	if (pt->sweep == &task->list)
		pt->sweep = task->list.prev;
	WRITE_ONCE(task->data.owner, NULL);
	list_del_rcu(&task->list);
	pt->ncounts -= task->ncounts;
	process_task_put(&task->data);
}

/**
 * utrace_ftrace_free_tasks() - remove all tasks from an instance that ends
 * @pt: the instance; no callback and no reader uses it any more
 *
 * Context: Process context.  Takes process_trace.task_lock.
 */
void utrace_ftrace_free_tasks(struct process_trace *pt)
{
	struct process_task *task, *next;

	guard(spinlock)(&pt->task_lock);
	list_for_each_entry_safe(task, next, &pt->task_list, list)
		process_remove_task(pt, task);
}

/*
 * Look at four tasks and remove those that are dead and have no counts.  A task
 * that is no longer followed when it exits is not reported, so its own removal
 * (utrace_ftrace_task_ends()) does not come.  Every new task looks at four
 * others, so dead tasks cannot outnumber those alive for long.
 */
static void process_sweep(struct process_trace *pt)
{
	struct process_task *task;
	unsigned int i;

	lockdep_assert_held(&pt->task_lock);

	for (i = 0; i < 4; i++) {
		pt->sweep = pt->sweep->next;
		if (pt->sweep == &pt->task_list)
			return;
		task = list_entry(pt->sweep, struct process_task, list);
		if (!task->ncounts && !pid_has_task(task->pid, PIDTYPE_PID))
			process_remove_task(pt, task);
	}
}

/**
 * utrace_ftrace_new_task() - make what is known of the current task
 * @pt: an instance that follows the task and knows nothing of it
 *
 * Context: A callback, in the task itself; may sleep.  Takes
 * process_trace.task_lock.
 * Return:
 * * the new structure - the task and the list have a reference each
 * * NULL - there is no memory, which is counted in @pt->lost
 */
struct process_task *utrace_ftrace_new_task(struct process_trace *pt)
{
	struct process_task *task = kzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);

	if (!task) {
		atomic_long_inc(&pt->lost);
		return NULL;
	}
	kref_init(&task->ref);
	task->pid = get_pid(task_pid(current));
	get_task_comm(task->comm, current);
	task->nr = -1;
	task->data.owner = pt;
	task->data.put = process_task_put;
	utrace_task_data_add(&task->data);
	kref_get(&task->ref);
	scoped_guard(spinlock, &pt->task_lock) {
		process_sweep(pt);
		list_add_tail_rcu(&task->list, &pt->task_list);
	}
	return task;
}

/*
 * Return true if there is room for a count.  If need be, remove the oldest dead
 * task, and its counts with it.
 */
static bool process_make_room(struct process_trace *pt)
{
	struct process_task *task;

	guard(spinlock)(&pt->task_lock);
	if (pt->ncounts < PROCESS_MAX_COUNTS)
		return true;
	/*
	 * The last search found no dead task.  Search once a second at most, or
	 * every event would walk a long list of living tasks.
	 */
	if (time_before(jiffies, pt->next_scan))
		return false;
	list_for_each_entry(task, &pt->task_list, list) {
		if (pid_has_task(task->pid, PIDTYPE_PID))
			continue;
		process_remove_task(pt, task);
		atomic_long_inc(&pt->dropped);
		return true;
	}
	pt->next_scan = jiffies + HZ;
	return false;
}

static struct hlist_head *process_counts_of(struct process_task *task,
					    unsigned int nr)
{
	return &task->counts[nr % ARRAY_SIZE(task->counts)];
}

static struct utrace_ftrace_count *process_new_count(struct process_trace *pt,
						     struct process_task *task,
						     unsigned int nr)
{
	struct utrace_ftrace_count *count = NULL;

	if (process_make_room(pt))
		count = kzalloc(sizeof(*count), GFP_KERNEL_ACCOUNT);
	if (!count) {
		atomic_long_inc(&pt->lost);
		return NULL;
	}
	count->nr = nr;
	count->epoch = READ_ONCE(pt->epoch);
	scoped_guard(spinlock, &pt->task_lock) {
		/*
		 * A search for dead tasks may have removed this one, if @task
		 * has the pid of before an execve(); see
		 * utrace_ftrace_task_execs().
		 */
		if (task->data.owner)
			pt->ncounts++;
		task->ncounts++;
	}
	hlist_add_head_rcu(&count->node, process_counts_of(task, nr));
	return count;
}

/*
 * Find the count of call @nr and clear it if it is of an old epoch, or make
 * it.  NULL: no memory or no room.
 */
static struct utrace_ftrace_count *process_count_of(struct process_trace *pt,
						    struct process_task *task,
						    unsigned int nr)
{
	struct utrace_ftrace_count *count;
	unsigned int epoch = READ_ONCE(pt->epoch);

	hlist_for_each_entry(count, process_counts_of(task, nr), node) {
		if (count->nr != nr)
			continue;
		if (count->epoch != epoch) {
			memset_after(count, 0, epoch);
			/*
			 * Pairs with smp_load_acquire() in process_stat_show():
			 * a reader that finds the new epoch does not see the
			 * old numbers.
			 */
			smp_store_release(&count->epoch, epoch);
		}
		return count;
	}
	return process_new_count(pt, task, nr);
}

/**
 * utrace_ftrace_count() - count a system call that is over
 * @pt: an instance that follows the current task
 * @task: what @pt knows of the current task
 * @nr: number of the call, as for utrace_call_of()
 * @ret: result of the call
 * @duration: time between entry and exit, in ns
 *
 * Context: A callback, in the task itself; may sleep.  Takes
 * process_trace.task_lock for the first call of a kind.
 */
void utrace_ftrace_count(struct process_trace *pt, struct process_task *task,
			 unsigned int nr, long ret, u64 duration)
{
	struct utrace_ftrace_count *count;
	unsigned int bucket = min(fls64(duration), PROCESS_BUCKETS - 1);

	/*
	 * A program may use any number.  All that are no call share one count.
	 */
	if (!utrace_call_of(nr))
		nr = UTRACE_NO_CALL;
	count = process_count_of(pt, task, nr);
	if (!count)
		return;
	WRITE_ONCE(count->total, count->total + duration);
	if (!count->calls || duration < count->min)
		WRITE_ONCE(count->min, duration);
	if (duration > count->max)
		WRITE_ONCE(count->max, duration);
	if (IS_ERR_VALUE(ret))
		WRITE_ONCE(count->errors, count->errors + 1);
	WRITE_ONCE(count->cpu, count->cpu +
		   task_sched_runtime(current) - task->cpu_since);
	WRITE_ONCE(count->bucket[bucket], count->bucket[bucket] + 1);
	WRITE_ONCE(count->calls, count->calls + 1);
}

/**
 * utrace_ftrace_task_ends() - the current task exits
 * @pt: an instance that follows the task
 *
 * Context: A callback, in the task itself.  Takes process_trace.task_lock.
 */
void utrace_ftrace_task_ends(struct process_trace *pt)
{
	struct process_task *task = process_find_task(pt);

	if (!task)
		return;
	WRITE_ONCE(task->nr, -1);
	get_task_comm(task->comm, current);
	guard(spinlock)(&pt->task_lock);
	if (!task->ncounts)
		process_remove_task(pt, task);
}

/**
 * utrace_ftrace_task_execs() - the current task has a new program
 * @pt: an instance that follows the task
 *
 * execve() gives a thread other than the leader the pid of the leader.  What
 * the instance knows of the thread has the old pid, which no task has any more;
 * so it is removed, and the next system call makes another structure.
 *
 * Context: A callback, in the task itself.  Takes process_trace.task_lock.
 */
void utrace_ftrace_task_execs(struct process_trace *pt)
{
	struct process_task *task = process_find_task(pt);

	if (!task)
		return;
	get_task_comm(task->comm, current);
	if (task->pid == task_pid(current))
		return;
	guard(spinlock)(&pt->task_lock);
	process_remove_task(pt, task);
}

/* process/stat */

static void *process_stat_start(struct seq_file *m, loff_t *pos)
	__acquires(RCU)
{
	struct trace_array *tr = m->private;

	rcu_read_lock();
	return seq_list_start_head_rcu(&tr->process->task_list, *pos);
}

static void *process_stat_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_array *tr = m->private;

	return seq_list_next_rcu(v, &tr->process->task_list, pos);
}

static void process_stat_stop(struct seq_file *m, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

/*
 * Events for which there was no memory or room, in the tracer or in the core.
 */
static unsigned long process_lost(struct process_trace *pt)
{
	unsigned long lost = atomic_long_read(&pt->lost);
	struct utrace_engine *engine;

	guard(rcu)();
	engine = rcu_dereference(pt->engine);
	return lost + (engine ? utrace_engine_lost(engine) : 0);
}

static void process_show_head(struct seq_file *m, struct process_trace *pt)
{
	if (!process_wants(pt, PROCESS_STAT))
		seq_puts(m, "# Nothing is counted; 'echo stat >> events' beside this file starts it\n");
	seq_printf(m, "# dropped: %ld dead tasks, lost: %lu events\n",
		   atomic_long_read(&pt->dropped), process_lost(pt));
	seq_puts(m, "#    PID COMM            SYSCALL                 CALLS   ERRORS     TOTAL_US   MIN_US     MAX_US       CPU_US LOG2_NS:CALLS\n");
}

static void process_show_call(struct seq_file *m, unsigned int nr)
{
	const struct utrace_call *call = utrace_call_of(nr);
	char name[24];

	snprintf(name, sizeof(name), "%s%s",
		 nr & UTRACE_SYSCALL_IA32 ? "i386/" :
		 nr & UTRACE_X32_BIT ? "x32/" : "",
		 call ? call->name : "");
	if (!call)
		strscpy(name, "(no such call)");
	seq_printf(m, " %-20s", name);
}

static void process_show_count(struct seq_file *m,
			       const struct utrace_ftrace_count *count)
{
	char sep = ' ';
	unsigned int i;

	process_show_call(m, count->nr);
	seq_printf(m, " %8llu %8llu %12llu %8llu %10llu %12llu",
		   READ_ONCE(count->calls), READ_ONCE(count->errors),
		   READ_ONCE(count->total) / NSEC_PER_USEC,
		   READ_ONCE(count->min) / NSEC_PER_USEC,
		   READ_ONCE(count->max) / NSEC_PER_USEC,
		   READ_ONCE(count->cpu) / NSEC_PER_USEC);
	for (i = 0; i < PROCESS_BUCKETS; i++) {
		if (!READ_ONCE(count->bucket[i]))
			continue;
		seq_printf(m, "%c%u:%u", sep, i, READ_ONCE(count->bucket[i]));
		sep = ',';
	}
	seq_putc(m, '\n');
}

/* Print the call that the task is in, and for how long it has been. */
static void process_show_now(struct seq_file *m, const char *head,
			     struct process_trace *pt,
			     const struct process_task *task,
			     struct task_struct *alive)
{
	int nr = READ_ONCE(task->nr);
	u64 age = process_since(task);

	if (nr < 0 || READ_ONCE(task->since) < READ_ONCE(pt->started))
		return;
	/*
	 * A task that is not followed any more may have left the call
	 * unnoticed.
	 */
	if (!utrace_ftrace_follows(pt, alive))
		return;
	seq_puts(m, head);
	process_show_call(m, nr);
	seq_printf(m, "      now for %llu.%06llu s\n", age / NSEC_PER_SEC,
		   age % NSEC_PER_SEC / NSEC_PER_USEC);
}

static int process_stat_show(struct seq_file *m, void *v)
{
	struct process_trace *pt = ((struct trace_array *)m->private)->process;
	struct process_task *task = list_entry(v, struct process_task, list);
	char comm[TASK_COMM_LEN], head[40];
	struct task_struct *alive;
	struct utrace_ftrace_count *count;
	unsigned int i;

	if (v == &pt->task_list) {
		process_show_head(m, pt);
		return 0;
	}
	alive = pid_task(task->pid, PIDTYPE_PID);
	strscpy(comm, alive ? alive->comm : task->comm);
	snprintf(head, sizeof(head), "%8d %-15s", pid_nr(task->pid), comm);
	for (i = 0; i < ARRAY_SIZE(task->counts); i++) {
		hlist_for_each_entry_rcu(count, &task->counts[i], node) {
			/*
			 * Pairs with smp_store_release() in process_count_of():
			 * the numbers read below are not older than this epoch.
			 */
			if (smp_load_acquire(&count->epoch) !=
			    READ_ONCE(pt->epoch) ||
			    !READ_ONCE(count->calls))
				continue;
			seq_puts(m, head);
			process_show_count(m, count);
		}
	}
	if (alive)
		process_show_now(m, head, pt, task, alive);
	return 0;
}

static const struct seq_operations process_stat_ops = {
	.start	= process_stat_start,
	.next	= process_stat_next,
	.stop	= process_stat_stop,
	.show	= process_stat_show,
};

static int process_stat_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	ret = seq_open(file, &process_stat_ops);
	if (ret) {
		trace_array_put(tr);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = tr;
	return 0;
}

/* Every write starts the counting anew, whatever its text. */
static ssize_t process_stat_write(struct file *file, const char __user *from,
				  size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct trace_array *tr = m->private;
	struct process_trace *pt = tr->process;
	struct process_task *task, *next;

	guard(mutex)(&utrace_ftrace_mutex);
	WRITE_ONCE(pt->epoch, pt->epoch + 1);
	atomic_long_set(&pt->dropped, 0);
	atomic_long_set(&pt->lost, 0);
	guard(spinlock)(&pt->task_lock);
	list_for_each_entry_safe(task, next, &pt->task_list, list)
		if (!pid_has_task(task->pid, PIDTYPE_PID))
			process_remove_task(pt, task);
	*ppos += count;
	return count;
}

static int process_stat_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return seq_release(inode, file);
}

const struct file_operations utrace_ftrace_stat_fops = {
	.open		= process_stat_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= process_stat_write,
	.release	= process_stat_release,
};
