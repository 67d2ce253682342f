// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: a readable report on Intel processors
 *
 * Reading /sys/kernel/debug/utrace/branches runs the self-test on all CPUs.
 * The command 'utrace branches test' prints the file, and parses the word after
 * "result:".
 */
#include <linux/cpu.h>
#include <linux/cpufeature.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/processor.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include "intel.h"

/* Result for the whole machine: the worst result of a CPU, in this order. */
enum report_result {
	REPORT_OK,
	REPORT_IN_USE,
	REPORT_BUSY,
	REPORT_FAILED,
	REPORT_NO_HARDWARE,
	REPORT_ERRATUM,
};

static const char * const report_results[] = {
	[REPORT_OK]		= "ok",
	[REPORT_IN_USE]		= "in-use",
	[REPORT_BUSY]		= "busy",
	[REPORT_FAILED]		= "failed",
	[REPORT_NO_HARDWARE]	= "no-hardware",
	[REPORT_ERRATUM]	= "erratum",
};

static const char *report_yes(bool yes)
{
	return yes ? "yes" : "no";
}

static void report_machine(struct seq_file *m)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	seq_printf(m, "kernel: %s\n", init_utsname()->release);
	seq_printf(m, "processor: %s, family %u model %#x stepping %u, %s\n",
		   c->x86_vendor_id, c->x86, c->x86_model, c->x86_stepping,
		   c->x86_model_id);
	seq_printf(m, "features: ds %s, bts %s, dtes64 %s, ds_cpl %s\n",
		   report_yes(boot_cpu_has(X86_FEATURE_DS)),
		   report_yes(boot_cpu_has(X86_FEATURE_BTS)),
		   report_yes(boot_cpu_has(X86_FEATURE_DTES64)),
		   report_yes(boot_cpu_has(X86_FEATURE_DSCPL)));
	seq_printf(m, "virtual machine: %s\n",
		   report_yes(boot_cpu_has(X86_FEATURE_HYPERVISOR)));
	seq_printf(m, "page table isolation: %s\n",
		   report_yes(boot_cpu_has(X86_FEATURE_PTI)));
	seq_printf(m, "fred: %s\n",
		   report_yes(boot_cpu_has(X86_FEATURE_FRED)));
	seq_printf(m, "erratum AAJ122: %s\n",
		   report_yes(utrace_bts_intel_errs()));
}

static enum report_result report_cpu(struct seq_file *m, unsigned int cpu,
				     struct bts_check *check)
{
	int ret = utrace_bts_intel_check(cpu, check);

	seq_printf(m, "cpu %u: ", cpu);
	switch (ret) {
	case 0:
		seq_printf(m, "ok, %u records of known branches, interrupt %u of %u records after the threshold\n",
			   check->test.records, check->test.late,
			   BRANCH_MARGIN);
		return REPORT_OK;
	case -EALREADY:
		seq_puts(m, "not tested, since utrace records it now\n");
		return REPORT_IN_USE;
	case -EBUSY:
		seq_puts(m, "not tested, since perf records branches\n");
		return REPORT_BUSY;
	case -EOPNOTSUPP:
		seq_puts(m, "not tested, since perf knows of no branch trace store\n");
		return REPORT_NO_HARDWARE;
	case -EIO:
		seq_printf(m, "failed: %s; %u records, %u interrupts\n",
			   check->fault ? utrace_bts_fault_text(check->fault) :
			   "the processor has another debug store",
			   check->test.records, check->test.interrupts);
		return REPORT_FAILED;
	default:
		seq_printf(m, "not tested: error %d\n", ret);
		return REPORT_FAILED;
	}
}

static enum report_result report_cpus(struct seq_file *m)
{
	struct bts_check *check __free(kfree) = kzalloc(sizeof(*check),
							GFP_KERNEL);
	enum report_result result = REPORT_OK;
	unsigned int cpu;

	if (!check)
		return REPORT_FAILED;
	guard(cpus_read_lock)();
	for_each_online_cpu(cpu)
		result = max(result, report_cpu(m, cpu, check));
	return result;
}

static int report_show(struct seq_file *m, void *unused)
{
	enum report_result result;

	report_machine(m);
	if (!utrace_bts_intel_is_there())
		result = REPORT_NO_HARDWARE;
	else if (utrace_bts_intel_errs())
		result = REPORT_ERRATUM;
	else
		result = report_cpus(m);
	seq_printf(m, "result: %s\n", report_results[result]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static int __init report_init(void)
{
	debugfs_create_file("branches", 0400, debugfs_create_dir("utrace", NULL),
			    NULL, &report_fops);
	return 0;
}
late_initcall(report_init);
