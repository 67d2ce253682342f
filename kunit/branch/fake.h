/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - an emulated debug store
 */
#ifndef _KERNEL_UTRACE_TESTS_BRANCH_FAKE_H
#define _KERNEL_UTRACE_TESTS_BRANCH_FAKE_H

#include "../../branch/window.h"

/**
 * struct branch_fake - an emulated processor that records branches
 * @window: its window
 * @store: addresses of the window; a threshold beyond the end selects circular
 *	mode
 * @on: recording is enabled
 * @off_os: branches with the kernel on the checked side are left out
 * @off_usr: branches with user mode on the checked side are left out
 * @by_target: the checked side is the target of the branch, else its source
 * @forgets: some entries into the kernel and exits are left out, as by an
 *	erratum
 * @skid: number of records from the threshold to the interrupt
 * @masked: an interrupt is being handled, so no other one becomes due
 * @armed: the threshold was reached
 * @left: number of records until the interrupt
 * @full: called when recording is disabled with a full window; may be NULL
 */
struct branch_fake {
	struct branch_window window;
	struct branch_store store;
	bool on;
	bool off_os;
	bool off_usr;
	bool by_target;
	bool forgets;
	unsigned int skid;
	bool masked;
	bool armed;
	unsigned int left;
	void (*full)(struct branch_fake *fake);
};

void branch_fake_init(struct branch_fake *fake, struct utrace_branch *records,
		      unsigned int n);
bool branch_fake_store(struct branch_fake *fake,
		       const struct utrace_branch *branch);
bool branch_fake_due(struct branch_fake *fake);

#endif /* _KERNEL_UTRACE_TESTS_BRANCH_FAKE_H */
