/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace_sample_lib - what the samples that watch whole trees share
 */
#ifndef _UTRACE_SAMPLE_LIB_H
#define _UTRACE_SAMPLE_LIB_H

#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/utrace.h>

/**
 * struct utrace_sample - one sample module
 * @ops:	callbacks of its engines
 * @events:	the events they want
 * @flags:	their scope and class, UTRACE_ATTACH_*
 * @file:	name of the file in debugfs that shows what they saw
 * @fops:	how it is read
 * @dir:	the folder in debugfs
 *
 * The module fills in all but @dir and calls utrace_sample_init().
 */
struct utrace_sample {
	const struct utrace_engine_ops *ops;
	unsigned long events;
	int flags;
	const char *file;
	const struct file_operations *fops;
	struct dentry *dir;
	/* private: */
	struct mutex lock;	/* Guards @engines */
	struct list_head engines;
};

int utrace_sample_init(struct utrace_sample *sample, int pid);
int utrace_sample_attach(struct utrace_sample *sample, int pid);
void utrace_sample_exit(struct utrace_sample *sample);

#endif /* _UTRACE_SAMPLE_LIB_H */
