// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - a marker at whose hits the task may stop
 *
 * While the module is loaded, the process that has loaded it has a marker at
 * @offset of the file @path.  With @report each hit asks for a report at the
 * safe point, and the callback there lets the task go on: there a client would
 * decide to stop the task.  @more further markers are at @more_offset and after
 * it, two bytes apart.  bench/markers.c measures hits, and compares @hits and
 * @reports.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/perf_regs.h>
#include <linux/sched.h>
#include <linux/utrace.h>
#include <linux/utrace_markers.h>

static char *path = "";
module_param(path, charp, 0);
MODULE_PARM_DESC(path, "the file");

static unsigned long offset;
module_param(offset, ulong, 0);
MODULE_PARM_DESC(offset, "where the marker is in the file");

static bool report;
module_param(report, bool, 0);
MODULE_PARM_DESC(report, "ask for reports");

static unsigned int more;
module_param(more, uint, 0);
MODULE_PARM_DESC(more, "how many further markers");

static unsigned long more_offset;
module_param(more_offset, ulong, 0);
MODULE_PARM_DESC(more_offset, "where the first of these is in the file");

static unsigned long hits;
module_param(hits, ulong, 0444);
MODULE_PARM_DESC(hits, "hits so far");

static unsigned long reports;
module_param(reports, ulong, 0444);
MODULE_PARM_DESC(reports, "hits with a report so far");

static struct utrace_engine *reporter;
static struct marker_owner *markers;

/* The only task of the process was asked for a report. */
static bool asked;

static u32 safe_point(u32 action, struct utrace_engine *engine,
		      unsigned long event)
{
	reports += asked;
	asked = false;
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops ops = {
	.report_quiesce	= safe_point,
	.owner		= THIS_MODULE,
	.name		= "utrace_report",
};

static void marker_hit(void *data, const struct utrace_marker_hit *hit,
		       struct pt_regs *regs)
{
	hits++;
	if (report)
		asked = !utrace_control(current, reporter, UTRACE_REPORT);
}

static const struct utrace_markers_ops markers_ops = {
	.hit	= marker_hit,
};

/* A marker with the two arguments of the other rows, see bench/markers.c. */
static int arm_at(struct file *file, unsigned long at)
{
	const struct utrace_marker site = {
		.offset = at,
		.nargs = 2,
		.args = {
			{ .size = 8, .kind = UTRACE_ARG_REG,
			  .reg = PERF_REG_X86_DI,
			  .index = UTRACE_ARG_NO_REG },
			{ .size = -4, .kind = UTRACE_ARG_REG,
			  .reg = PERF_REG_X86_SI,
			  .index = UTRACE_ARG_NO_REG },
		},
	};

	return utrace_markers_arm(markers, file, &site, 0, 0);
}

static int arm(void)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	unsigned int i;
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = arm_at(file, offset);
	for (i = 0; i < more && !ret; i++)
		ret = arm_at(file, more_offset + 2 * i);
	filp_close(file, NULL);
	return ret;
}

static int begin(void)
{
	int ret = utrace_set_events(NULL, reporter, UTRACE_EVENT(QUIESCE));

	if (ret && ret != -EINPROGRESS)
		return ret;
	markers = utrace_markers_attach(current, false, &markers_ops, NULL);
	if (IS_ERR(markers))
		return PTR_ERR(markers);
	ret = arm();
	if (ret)
		utrace_markers_detach(markers);
	return ret;
}

static int __init report_init(void)
{
	int ret;

	reporter = utrace_attach_task(current, UTRACE_ATTACH_CREATE |
				    UTRACE_ATTACH_OWN_EVENTS |
				    UTRACE_ATTACH_PROCESS, &ops, NULL);
	if (IS_ERR(reporter))
		return PTR_ERR(reporter);
	ret = begin();
	if (ret)
		utrace_engine_shutdown(reporter);
	return ret;
}

static void __exit report_exit(void)
{
	utrace_markers_detach(markers);
	utrace_engine_shutdown(reporter);
}

module_init(report_init);
module_exit(report_exit);
MODULE_DESCRIPTION("utrace bench: a marker whose hits ask for a report");
MODULE_LICENSE("GPL");
