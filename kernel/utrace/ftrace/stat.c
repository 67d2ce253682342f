// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: its tasks, and process/stat
 *
 * Each task that an instance follows has a struct process_task in the list of
 * process_trace.counts.  count/ does the counting; this file allocates the
 * structures and prints the counts.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../../trace/trace.h"

#include "../builtin.h"
#include "../decode/table.h"
#include "instance.h"
#include "stat.h"

/*
 * Maximum number of counts of an instance, each for one task and one call.  A
 * count takes 256 bytes, so this is 16 MiB.
 */
#define PROCESS_MAX_COUNTS	65536

static struct process_task *process_task_of(struct utrace_count_task *count)
{
	return container_of(count, struct process_task, count);
}

/* From here on process_find_task() must not find the task. */
static void process_forget_task(struct utrace_count_task *count)
{
	WRITE_ONCE(process_task_of(count)->data.owner, NULL);
}

static void process_free_task(struct utrace_count_task *count)
{
	kfree(process_task_of(count));
}

static const struct utrace_count_ops process_count_ops = {
	.forget	= process_forget_task,
	.free	= process_free_task,
};

/**
 * utrace_ftrace_init_tasks() - initialize the tasks and counts of an instance
 * @pt: a new instance
 *
 * Context: Any.
 */
void utrace_ftrace_init_tasks(struct process_trace *pt)
{
	utrace_counts_init(&pt->counts, PROCESS_MAX_COUNTS, &process_count_ops);
}

/* The task is being freed, or has found the owner cleared. */
static void process_task_put(struct utrace_task_data *data)
{
	struct process_task *task = container_of(data, struct process_task,
						 data);

	utrace_count_put_task(&task->count);
}

/**
 * utrace_ftrace_new_task() - allocate the data about the current task
 * @pt: an instance that follows the task and has no data about it
 *
 * Context: A callback, in the task itself; may sleep.  Takes
 * utrace_counts.lock.
 * Return:
 * * the new structure - the task and the list hold a reference each
 * * NULL - out of memory, which is counted in @pt->lost
 */
struct process_task *utrace_ftrace_new_task(struct process_trace *pt)
{
	struct process_task *task = kzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);

	if (!task) {
		atomic_long_inc(&pt->lost);
		return NULL;
	}
	task->nr = PROCESS_IN_NO_CALL;
	task->data.owner = pt;
	task->data.put = process_task_put;
	utrace_count_add_task(&pt->counts, &task->count);
	utrace_task_data_add(&task->data);
	return task;
}

/**
 * utrace_ftrace_task_ends() - update the data about current on exit
 * @pt: an instance that follows the task
 *
 * Context: A callback, in the task itself.  Takes utrace_counts.lock.
 */
void utrace_ftrace_task_ends(struct process_trace *pt)
{
	struct process_task *task = process_find_task(pt);

	if (!task)
		return;
	WRITE_ONCE(task->nr, PROCESS_IN_NO_CALL);
	utrace_count_task_exits(&pt->counts, &task->count);
}

/**
 * utrace_ftrace_task_execs() - update the data about current on execve()
 * @pt: an instance that follows the task
 *
 * If execve() has given the task another pid, its data is dropped here, and its
 * next system call allocates a new structure.
 *
 * Context: A callback, in the task itself.  Takes utrace_counts.lock.
 */
void utrace_ftrace_task_execs(struct process_trace *pt)
{
	struct process_task *task = process_find_task(pt);

	if (task)
		utrace_count_task_execs(&pt->counts, &task->count);
}

/* process/stat */

static void *process_stat_start(struct seq_file *m, loff_t *pos)
	__acquires(RCU)
{
	struct trace_array *tr = m->private;

	rcu_read_lock();
	return seq_list_start_head_rcu(&tr->process->counts.tasks, *pos);
}

static void *process_stat_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_array *tr = m->private;

	return seq_list_next_rcu(v, &tr->process->counts.tasks, pos);
}

static void process_stat_stop(struct seq_file *m, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

/*
 * Number of events lost for lack of memory or room, in the tracer or in the
 * core.
 */
static unsigned long process_lost(struct process_trace *pt)
{
	unsigned long lost = atomic_long_read(&pt->lost) +
			     atomic_long_read(&pt->counts.lost);
	struct utrace_engine *engine;

	guard(rcu)();
	engine = rcu_dereference(pt->engine);
	return lost + (engine ? utrace_engine_lost(engine) : 0);
}

static void process_show_head(struct seq_file *m, struct process_trace *pt)
{
	if (!process_wants(pt, PROCESS_STAT))
		seq_puts(m, "# Nothing is counted; 'echo stat >> events' beside this file starts it\n");
	seq_printf(m, "# merged: %lu dead tasks, lost: %lu events\n",
		   READ_ONCE(pt->counts.nmerged), process_lost(pt));
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

/* Print the CPU time in us, or "-" if it was not measured. */
static void process_show_cpu(struct seq_file *m,
			     const struct utrace_count_numbers *numbers)
{
	if (numbers->cpu_calls)
		seq_printf(m, " %12llu", numbers->cpu / NSEC_PER_USEC);
	else
		seq_printf(m, " %12s", "-");
}

static void process_show_numbers(struct seq_file *m,
				 const struct utrace_count_numbers *numbers)
{
	char sep = ' ';
	unsigned int i;

	seq_printf(m, " %8llu %8llu %12llu %8llu %10llu", numbers->calls,
		   numbers->errors, numbers->total / NSEC_PER_USEC,
		   numbers->min / NSEC_PER_USEC, numbers->max / NSEC_PER_USEC);
	process_show_cpu(m, numbers);
	for (i = 0; i < UTRACE_COUNT_BUCKETS; i++) {
		if (!numbers->bucket[i])
			continue;
		seq_printf(m, "%c%u:%u", sep, i, numbers->bucket[i]);
		sep = ',';
	}
	seq_putc(m, '\n');
}

/* Begin a line about a task. */
static void process_show_task(struct seq_file *m, pid_t pid, const char *comm)
{
	seq_printf(m, "%8d %-15s", pid, comm);
}

/* Print the current call of a living task, and its duration so far. */
static void process_show_now(struct seq_file *m, struct process_trace *pt,
			     const struct process_task *task,
			     struct task_struct *alive)
{
	char comm[TASK_COMM_LEN];
	u64 nr = READ_ONCE(task->nr);
	u64 age = process_since(task);

	if (nr == PROCESS_IN_NO_CALL ||
	    READ_ONCE(task->since) < READ_ONCE(pt->started))
		return;
	/*
	 * A task that is no longer followed may have left the call
	 * unnoticed.
	 */
	if (!utrace_ftrace_follows(pt, alive))
		return;
	strscpy(comm, alive->comm);
	process_show_task(m, pid_nr(task->count.pid), comm);
	process_show_call(m, nr);
	seq_printf(m, "      now for %llu.%06llu s\n", age / NSEC_PER_SEC,
		   age % NSEC_PER_SEC / NSEC_PER_USEC);
}

/* Print the counts of a task, or of the dead tasks that were merged into it. */
static void process_show_counts(struct seq_file *m, struct process_trace *pt,
				const struct utrace_count_task *task)
{
	struct utrace_count_row row;
	u32 at = 0;

	while (utrace_count_next_row(&pt->counts, task, &init_pid_ns, &at,
				     &row)) {
		process_show_task(m, row.tid, row.ino ? row.comm : "(dead)");
		process_show_call(m, row.nr);
		process_show_numbers(m, &row.numbers);
	}
}

static int process_stat_show(struct seq_file *m, void *v)
{
	struct process_trace *pt = ((struct trace_array *)m->private)->process;
	struct utrace_count_task *merged = rcu_dereference(pt->counts.merged);
	struct utrace_count_task *task;
	struct task_struct *alive;

	if (v == &pt->counts.tasks) {
		process_show_head(m, pt);
		if (merged)
			process_show_counts(m, pt, merged);
		return 0;
	}
	task = list_entry(v, struct utrace_count_task, list);
	if (task == merged)
		return 0;
	process_show_counts(m, pt, task);
	alive = pid_task(task->pid, PIDTYPE_PID);
	if (alive)
		process_show_now(m, pt, process_task_of(task), alive);
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

/* Any write resets the counts, whatever its text. */
static ssize_t process_stat_write(struct file *file, const char __user *from,
				  size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct trace_array *tr = m->private;
	struct process_trace *pt = tr->process;

	guard(mutex)(&utrace_ftrace_mutex);
	atomic_long_set(&pt->lost, 0);
	utrace_counts_clear(&pt->counts);
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
