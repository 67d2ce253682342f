/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - an emulated debug store
 */
#ifndef _KERNEL_UTRACE_TESTS_BTS_FAKE_H
#define _KERNEL_UTRACE_TESTS_BTS_FAKE_H

#include "../../bts/window.h"

/**
 * struct bts_fake - a processor that records branches
 * @window: what it records to
 * @store: where it records; a threshold beyond the end makes it a circle
 * @on: it records
 * @off_os: it leaves out what has the kernel on one side
 * @off_usr: it leaves out what has user mode on one side
 * @by_target: that side is the target of the branch, else its source
 * @forgets: it leaves out some ways into the kernel and out of it, as by an erratum
 * @skid: number of records from the threshold to the interrupt
 * @masked: an interrupt is handled, so no other one is asked for
 * @armed: the threshold was reached
 * @left: records from here to the interrupt
 * @full: called when it is switched off and has no room; may be NULL
 */
struct bts_fake {
	struct bts_window window;
	struct bts_store store;
	bool on;
	bool off_os;
	bool off_usr;
	bool by_target;
	bool forgets;
	unsigned int skid;
	bool masked;
	bool armed;
	unsigned int left;
	void (*full)(struct bts_fake *fake);
};

void bts_fake_init(struct bts_fake *fake, struct utrace_branch *records,
		   unsigned int n);
bool bts_fake_store(struct bts_fake *fake, const struct utrace_branch *branch);
bool bts_fake_due(struct bts_fake *fake);

#endif /* _KERNEL_UTRACE_TESTS_BTS_FAKE_H */
