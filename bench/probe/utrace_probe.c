// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - a uprobe whose consumer does nothing
 *
 * The module has the probe at @offset of the file @path, in all processes, while it
 * is loaded.  bench/markers.c measures hits beside those of a marker.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/uprobes.h>

static char *path = "";
module_param(path, charp, 0);
MODULE_PARM_DESC(path, "the file");

static unsigned long offset;
module_param(offset, ulong, 0);
MODULE_PARM_DESC(offset, "where the probe is in the file");

static struct path file;
static struct uprobe *uprobe;

static int empty_hit(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	return 0;
}

static struct uprobe_consumer consumer = {
	.handler = empty_hit,
};

static int __init probe_init(void)
{
	int ret = kern_path(path, LOOKUP_FOLLOW, &file);

	if (ret)
		return ret;
	uprobe = uprobe_register(d_inode(file.dentry), offset, 0, &consumer);
	if (!IS_ERR(uprobe))
		return 0;
	path_put(&file);
	return PTR_ERR(uprobe);
}

static void __exit probe_exit(void)
{
	uprobe_unregister_nosync(uprobe, &consumer);
	uprobe_unregister_sync();
	path_put(&file);
}

module_init(probe_init);
module_exit(probe_exit);
MODULE_DESCRIPTION("utrace bench: a uprobe that does nothing");
MODULE_LICENSE("GPL");
