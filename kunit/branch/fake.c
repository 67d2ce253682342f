// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - an emulated debug store
 *
 * The debug store of a processor, as far as a kernel can see it.  The code that
 * runs the branches checks after each one whether the interrupt is due, and
 * raises it.
 */
#include <linux/container_of.h>

#include "fake.h"

static struct branch_fake *fake_of(struct branch_window *window)
{
	return container_of(window, struct branch_fake, window);
}

static void fake_enable(struct branch_window *window)
{
	fake_of(window)->on = true;
}

static void fake_disable(struct branch_window *window)
{
	struct branch_fake *fake = fake_of(window);

	fake->on = false;
	if (fake->full && fake->store.index >= fake->store.max)
		fake->full(fake);
}

static const struct branch_source_ops fake_ops = {
	.enable		= fake_enable,
	.disable	= fake_disable,
};

/**
 * branch_fake_init() - initialize an emulated processor
 * @fake: filled in
 * @records: memory of its window
 * @n: size of the window in records, at least BRANCH_WINDOW_MIN
 */
void branch_fake_init(struct branch_fake *fake, struct utrace_branch *records,
		      unsigned int n)
{
	*fake = (struct branch_fake){
		.store.base = (unsigned long)records,
		.store.max = (unsigned long)(records + n),
	};
	utrace_branch_window_init(&fake->window, &fake->store, &fake_ops);
}

static bool fake_leaves_out(const struct branch_fake *fake,
			    const struct utrace_branch *branch)
{
	bool kernel = (s64)(fake->by_target ? branch->to : branch->from) < 0;

	if (fake->forgets && (s64)(branch->from ^ branch->to) < 0 &&
	    (branch->from ^ branch->to) % 3 == 0)
		return true;
	return kernel ? fake->off_os : fake->off_usr;
}

/**
 * branch_fake_store() - record a branch, unless a filter drops it
 * @fake: the processor
 * @branch: the branch
 *
 * Return: true if it was recorded.
 */
bool branch_fake_store(struct branch_fake *fake,
		       const struct utrace_branch *branch)
{
	struct branch_store *store = &fake->store;
	bool circle = store->threshold > store->max;

	if (!fake->on || fake_leaves_out(fake, branch))
		return false;
	if (store->index >= store->max)
		return false;
	*(struct utrace_branch *)(unsigned long)store->index = *branch;
	store->index += sizeof(*branch);
	if (circle && store->index == store->max)
		store->index = store->base;
	if (fake->armed) {
		fake->left -= !!fake->left;
	} else if (store->index == store->threshold && !fake->masked) {
		fake->armed = true;
		fake->left = fake->skid;
	}
	return true;
}

/**
 * branch_fake_due() - check whether the interrupt is due
 * @fake: the processor
 *
 * Return: true, once for each interrupt that is due.
 */
bool branch_fake_due(struct branch_fake *fake)
{
	bool due = fake->armed && (!fake->left || !fake->on ||
				   fake->store.index >= fake->store.max);

	if (due)
		fake->armed = false;
	return due;
}
