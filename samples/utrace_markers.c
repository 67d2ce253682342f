// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_markers
 *
 * Counts the hits of a place in a program, in one process, and stops the process at
 * the hit that is asked for. The place is an offset in the file, for example that of
 * an SDT marker, which ``utrace markers list`` shows with its semaphore. ::
 *
 *	modprobe utrace_markers pid=1234 file=/usr/bin/python3.11 \
 *		offset=0xf20a1 semaphore=0x683260 stop_at=10
 *	cat /sys/kernel/debug/utrace_markers/hits
 *	echo 1 > /sys/kernel/debug/utrace_markers/go	# after the stop
 *
 * Two clients are at work: markers tell of the hits, and an engine stops the task.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/utrace.h>
#include <linux/utrace_markers.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "the process");

static char *file;
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "path of the program or library");

static ulong offset;
module_param(offset, ulong, 0444);
MODULE_PARM_DESC(offset, "offset of the instruction in the file");

static ulong semaphore;
module_param(semaphore, ulong, 0444);
MODULE_PARM_DESC(semaphore, "offset of the semaphore in the file, or 0");

static ulong stop_at;
module_param(stop_at, ulong, 0444);
MODULE_PARM_DESC(stop_at, "number of the hit at which the process stops; 0: none");

static atomic64_t hits;
static struct dentry *dir;
static struct utrace_engine *stopper;
static struct marker_owner *markers;

static const struct utrace_engine_ops stopper_ops = {
	.owner	= THIS_MODULE,
	.name	= "utrace_markers",
};

/*
 * The hit is told in the midst of the trap; the task stops on its way back to the
 * program, with the registers of the marker.
 */
static void markers_hit(void *data, const struct utrace_marker_hit *hit,
			struct pt_regs *regs)
{
	if (atomic64_inc_return(&hits) != stop_at)
		return;
	/* -EINPROGRESS: the task runs still.  -ESRCH: it is being killed. */
	(void)!utrace_control(current, stopper, UTRACE_STOP);
}

static const struct utrace_markers_ops markers_ops = {
	.hit	= markers_hit,
};

static int hits_get(void *data, u64 *value)
{
	*value = atomic64_read(&hits);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(hits_fops, hits_get, NULL, "%llu\n");

static int go_set(void *data, u64 unused)
{
	return utrace_control(NULL, stopper, UTRACE_RESUME);
}
DEFINE_DEBUGFS_ATTRIBUTE(go_fops, NULL, go_set, "%llu\n");

static int markers_arm(void)
{
	struct utrace_ioc_marker marker = {
		.offset = offset,
		.semaphore = semaphore,
	};
	struct file *program = filp_open(file, O_RDONLY, 0);
	int ret;

	if (IS_ERR(program))
		return PTR_ERR(program);
	ret = utrace_markers_arm(markers, program, &marker);
	filp_close(program, NULL);
	return ret;
}

static void markers_end(void)
{
	if (!IS_ERR_OR_NULL(markers))
		utrace_markers_detach(markers);
	/* -ESRCH: the process is gone; -EINPROGRESS: a callback, of which there is none. */
	(void)!utrace_control(NULL, stopper, UTRACE_DETACH);
	utrace_engine_put(stopper);
}

static int markers_begin(struct task_struct *task)
{
	int ret;

	stopper = utrace_attach_task(task, UTRACE_ATTACH_CREATE |
				     UTRACE_ATTACH_PROCESS, &stopper_ops, NULL);
	if (IS_ERR(stopper))
		return PTR_ERR(stopper);
	markers = utrace_markers_attach(task, false, &markers_ops, NULL);
	ret = PTR_ERR_OR_ZERO(markers) ?: markers_arm();
	if (ret)
		markers_end();
	return ret;
}

static int __init markers_init(void)
{
	struct pid *process = find_get_pid(pid);
	struct task_struct *task = get_pid_task(process, PIDTYPE_TGID);
	int ret = -EINVAL;

	put_pid(process);
	if (!task)
		return -ESRCH;
	if (file)
		ret = markers_begin(task);
	put_task_struct(task);
	if (ret)
		return ret;
	dir = debugfs_create_dir("utrace_markers", NULL);
	debugfs_create_file_unsafe("hits", 0400, dir, NULL, &hits_fops);
	debugfs_create_file_unsafe("go", 0200, dir, NULL, &go_fops);
	return 0;
}

static void __exit markers_exit(void)
{
	debugfs_remove(dir);
	markers_end();
}

module_init(markers_init);
module_exit(markers_exit);
MODULE_DESCRIPTION("utrace sample: count the hits of a marker, and stop at one");
MODULE_LICENSE("GPL");
