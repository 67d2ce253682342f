/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - functions that the samples share
 *
 * A sample fills in a struct utrace_sample and calls utrace_sample_init() and
 * utrace_sample_exit() when its module is loaded and unloaded.
 */
#ifndef _UTRACE_SAMPLE_LIB_H
#define _UTRACE_SAMPLE_LIB_H

#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/utrace.h>

/**
 * struct utrace_sample - one sample module
 * @ops:	callbacks of the sample's engines
 * @events:	events that the engines want
 * @flags:	scope and class of the engines, UTRACE_ATTACH_*
 * @file:	name of the file in debugfs that shows what the engines saw
 * @fops:	file operations of @file
 * @dir:	the sample's directory in debugfs, from utrace_sample_init() to
 *	utrace_sample_exit()
 *
 * The module fills in all members but @dir, before utrace_sample_init().
 */
struct utrace_sample {
	const struct utrace_engine_ops *ops;
	unsigned long events;
	int flags;
	const char *file;
	const struct file_operations *fops;
	struct dentry *dir;
	/* private: */
	struct mutex lock;	/* protects additions to @engines */
	struct list_head engines;
};

int utrace_sample_init(struct utrace_sample *sample, int pid);
int utrace_sample_attach(struct utrace_sample *sample, int pid);
void utrace_sample_exit(struct utrace_sample *sample);

#endif /* _UTRACE_SAMPLE_LIB_H */
