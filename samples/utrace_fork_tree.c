// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_fork_tree
 *
 * Keeps the tree of processes and threads below a process: which task created
 * which, the name of each task, and how each ended. ::
 *
 *	modprobe utrace_fork_tree pid=1234
 *	cat /sys/kernel/debug/utrace_fork_tree/tree
 *
 * Each task has one line, indented by generation: its number, "process" or
 * "thread", its state ("running 0", "exit N" or "signal N"), its name.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "utrace_sample_lib.h"

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process whose tree is kept");

struct node {
	struct list_head list;
	struct task_struct *task;	/* only compared; NULL after the exit */
	unsigned int depth;
	pid_t pid;
	const char *kind, *state;
	int code;
	char comm[TASK_COMM_LEN];
};

/* Nodes in the order of the output: each is followed by its descendants. */
static LIST_HEAD(nodes);
static DEFINE_MUTEX(nodes_lock);

#define node_of(entry)	list_entry(entry, struct node, list)

/*
 * Find the node of @task, or add one below @parent, or at the top if @parent is
 * NULL. Returns NULL if there is no memory.
 */
static struct node *node_get(struct task_struct *task, struct node *parent)
{
	struct list_head *next = parent ? parent->list.next : &nodes;
	struct node *node;

	list_for_each_entry(node, &nodes, list)
		if (node->task == task)
			goto update;
	node = kzalloc(sizeof(*node), GFP_KERNEL);
	if (!node)
		return NULL;
	node->task = task;
	node->state = "running";
	node->depth = parent ? parent->depth + 1 : 0;
	/* Insert the node after all earlier descendants of the parent. */
	while (next != &nodes && node_of(next)->depth >= node->depth)
		next = next->next;
	list_add_tail(&node->list, next);
update:
	/* An exec may have changed pid, kind and name. */
	node->pid = task->pid;
	node->kind = thread_group_leader(task) ? "process" : "thread";
	get_task_comm(node->comm, task);
	return node;
}

static u32 fork_tree_clone(u32 action, struct utrace_engine *engine,
			   unsigned long clone_flags, struct task_struct *child)
{
	guard(mutex)(&nodes_lock);
	node_get(child, node_get(current, NULL));
	return UTRACE_RESUME;
}

static u32 fork_tree_exec(u32 action, struct utrace_engine *engine,
			  const struct linux_binfmt *fmt,
			  const struct linux_binprm *bprm, struct pt_regs *regs)
{
	guard(mutex)(&nodes_lock);
	node_get(current, NULL);
	return UTRACE_RESUME;
}

static u32 fork_tree_exit(u32 action, struct utrace_engine *engine,
			  long orig_code, long *code)
{
	int signal = *code & 0x7f;
	struct node *node;

	guard(mutex)(&nodes_lock);
	node = node_get(current, NULL);
	if (node) {
		node->task = NULL;
		node->state = signal ? "signal" : "exit";
		node->code = signal ?: *code >> 8;
	}
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops fork_tree_ops = {
	.report_clone	= fork_tree_clone,
	.report_exec	= fork_tree_exec,
	.report_exit	= fork_tree_exit,
	.owner		= THIS_MODULE,
	.name		= "utrace_fork_tree",
};

static int tree_show(struct seq_file *m, void *unused)
{
	struct node *node;

	guard(mutex)(&nodes_lock);
	list_for_each_entry(node, &nodes, list)
		seq_printf(m, "%*s%d %s %s %d %s\n", 2 * node->depth, "",
			   node->pid, node->kind, node->state, node->code,
			   node->comm);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tree);

static struct utrace_sample fork_tree = {
	.ops	= &fork_tree_ops,
	.events	= UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXEC) | UTRACE_EVENT(EXIT),
	.flags	= UTRACE_ATTACH_OBSERVER | UTRACE_ATTACH_TREE,
	.file	= "tree",
	.fops	= &tree_fops,
};

static int __init fork_tree_start(void)
{
	return utrace_sample_init(&fork_tree, pid);
}

static void __exit fork_tree_end(void)
{
	struct node *node, *next;

	utrace_sample_exit(&fork_tree);
	list_for_each_entry_safe(node, next, &nodes, list)
		kfree(node);
}

module_init(fork_tree_start);
module_exit(fork_tree_end);
MODULE_DESCRIPTION("utrace sample: the tree of processes and threads");
MODULE_LICENSE("GPL");
