// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_markers
 *
 * Counts the hits of a marker in a program and the writes of a user_event, in
 * one process, and with ``follow=1`` also in the processes that it creates from
 * then on.  With ``stop_at=N`` the task stops at hit N.  The marker is an
 * offset in the file, for example that of the SDT marker gc__start of Python::
 *
 *	cd /sys/kernel/debug
 *	modprobe utrace_markers pid=1234 file=/usr/bin/python3.11 \
 *		offset=0x287f3 semaphore=0x68326e arg=-4,7,112 stop_at=10
 *	cat utrace_markers/counts
 *	echo 1 > utrace_markers/go	# the task goes on after the stop
 *	echo 0 > utrace_markers/arm	# nothing is armed now, and 1 arms all again
 *	rmmod utrace_markers
 *	modprobe utrace_markers pid=1234 event=heartbeat follow=1
 *
 * ``readelf -n`` shows addresses; convert them to offsets with ``readelf -l``.
 * ``arg=`` describes one argument of the marker: its size in bytes, negative if
 * the argument is signed; a register by its number in <asm/perf_regs.h>; and an
 * offset from there, if the argument is in memory.  The example is ``s32
 * [rsp+112]``.
 *
 * There are two clients: the one of markers gets hits and writes, and an engine
 * stops the task.
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/utrace.h>
#include <linux/utrace_markers.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "the process");

static bool follow;
module_param(follow, bool, 0444);
MODULE_PARM_DESC(follow, "also what the process creates from now on");

static char *file;
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "path of the program or library; none: no marker");

static ulong offset;
module_param(offset, ulong, 0444);
MODULE_PARM_DESC(offset, "offset of the instruction in the file");

static ulong semaphore;
module_param(semaphore, ulong, 0444);
MODULE_PARM_DESC(semaphore, "offset of the semaphore in the file, or 0");

static int arg[3], narg;
module_param_array(arg, int, &narg, 0444);
MODULE_PARM_DESC(arg, "an argument: bytes,register or bytes,register,distance");

static char *event;
module_param(event, charp, 0444);
MODULE_PARM_DESC(event, "name of a user_event; none: no event");

static ulong stop_at;
module_param(stop_at, ulong, 0644);
MODULE_PARM_DESC(stop_at, "number of the hit at which the task stops; 0: none");

static struct dentry *dir;
static struct file *program;
static struct utrace_engine *stopper;
static struct marker_owner *markers;

/*
 * Protects the counters below: several tasks may hit the marker or write the
 * event.
 */
static DEFINE_SPINLOCK(lock);
static u64 hits, unreadable, writes;
static s64 last, sum;
static u8 bytes[64];
static size_t nbytes;

static const struct utrace_engine_ops stopper_ops = {
	.owner	= THIS_MODULE,
	.name	= "utrace_markers",
};

/*
 * Called in the trap of the breakpoint: hit->ip and hit->args are those of the
 * marker.  The task stops on its way back to the program, directly after the
 * marker.  A pending signal is handled before the stop: then the task stops at
 * the first instruction of the handler, or the signal has killed it.
 */
static void markers_hit(void *data, const struct utrace_marker_hit *hit,
			struct pt_regs *regs)
{
	bool stop;

	scoped_guard(spinlock, &lock) {
		stop = ++hits == READ_ONCE(stop_at);
		if (hit->faulted) {
			/*
			 * The page is not in memory, and a hit does not wait
			 * for pages.
			 */
			unreadable++;
		} else if (hit->nargs) {
			last = hit->args[0];
			sum += last;
		}
	}
	/* -EINPROGRESS: the task still runs.  -ESRCH: it is being killed. */
	if (stop)
		(void)!utrace_control(current, stopper, UTRACE_STOP);
}

static void markers_written(void *data, const struct utrace_user_write *write)
{
	guard(spinlock)(&lock);
	writes++;
	nbytes = min(write->copied, sizeof(bytes));
	memcpy(bytes, write->data, nbytes);
}

static const struct utrace_markers_ops markers_ops = {
	.hit		= markers_hit,
	.written	= markers_written,
};

static int markers_arm(const struct utrace_marker *site)
{
	int ret = 0;

	if (program)
		ret = utrace_markers_arm(markers, program, site, 0, 0);
	if (ret || !event)
		return ret;
	ret = utrace_markers_arm_user_event(markers, event, 0, 0);
	if (ret && program)
		(void)!utrace_markers_disarm(markers, program, site);
	return ret;
}

static int markers_disarm(const struct utrace_marker *site)
{
	int ret = 0;

	if (program)
		ret = utrace_markers_disarm(markers, program, site);
	if (event)
		ret = utrace_markers_disarm_user_event(markers, event) ?: ret;
	return ret;
}

/* Arm or disarm as the parameters say.  -EEXIST and -ENOENT: nothing to do. */
static int arm_set(void *data, u64 on)
{
	struct utrace_marker site = {
		.offset = offset,
		.semaphore = semaphore,
	};

	if (narg) {
		site.nargs = 1;
		site.args[0] = (struct utrace_marker_arg){
			.size = arg[0],
			.kind = narg > 2 ? UTRACE_ARG_MEM : UTRACE_ARG_REG,
			.reg = narg > 1 ? arg[1] : UTRACE_ARG_NO_REG,
			.index = UTRACE_ARG_NO_REG,
			.disp = arg[2],
		};
	}
	return on ? markers_arm(&site) : markers_disarm(&site);
}
DEFINE_DEBUGFS_ATTRIBUTE(arm_fops, NULL, arm_set, "%llu\n");

static int go_set(void *data, u64 unused)
{
	return utrace_control(NULL, stopper, UTRACE_RESUME);
}
DEFINE_DEBUGFS_ATTRIBUTE(go_fops, NULL, go_set, "%llu\n");

static int counts_show(struct seq_file *m, void *unused)
{
	guard(spinlock)(&lock);
	seq_printf(m, "hits %llu\nunreadable %llu\nlast %lld\nsum %lld\n",
		   hits, unreadable, last, sum);
	seq_printf(m, "writes %llu\nwritten %*ph\n", writes, (int)nbytes, bytes);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static void markers_end(void)
{
	if (!IS_ERR_OR_NULL(markers))
		utrace_markers_detach(markers);
	if (!IS_ERR_OR_NULL(stopper)) {
		/*
		 * -ESRCH: the process is gone; -EINPROGRESS: a callback runs;
		 * this engine has none.
		 */
		(void)!utrace_control(NULL, stopper, UTRACE_DETACH);
		utrace_engine_put(stopper);
	}
	if (!IS_ERR_OR_NULL(program))
		filp_close(program, NULL);
}

static int markers_begin(struct task_struct *task)
{
	if (file)
		program = filp_open(file, O_RDONLY, 0);
	if (IS_ERR(program))
		return PTR_ERR(program);
	stopper = utrace_attach_task(task, UTRACE_ATTACH_CREATE |
				     (follow ? UTRACE_ATTACH_TREE :
					       UTRACE_ATTACH_PROCESS),
				     &stopper_ops, NULL);
	if (IS_ERR(stopper))
		return PTR_ERR(stopper);
	markers = utrace_markers_attach(task, follow, &markers_ops, NULL);
	return PTR_ERR_OR_ZERO(markers) ?: arm_set(NULL, true);
}

static int __init markers_init(void)
{
	struct pid *process = find_get_pid(pid);
	struct task_struct *task = get_pid_task(process, PIDTYPE_TGID);
	int ret;

	put_pid(process);
	if (!task)
		return -ESRCH;
	ret = file || event ? markers_begin(task) : -EINVAL;
	put_task_struct(task);
	if (ret) {
		markers_end();
		return ret;
	}
	dir = debugfs_create_dir("utrace_markers", NULL);
	debugfs_create_file("counts", 0400, dir, NULL, &counts_fops);
	debugfs_create_file_unsafe("arm", 0200, dir, NULL, &arm_fops);
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
MODULE_DESCRIPTION("utrace sample: count the hits of a marker and the writes of an event");
MODULE_LICENSE("GPL");
