/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - which arguments of a call are printed, in which order
 */
#ifndef UTRACE_FORMAT_SHOWN_H
#define UTRACE_FORMAT_SHOWN_H

#include "decode/forms.h"

bool shown_find(struct utrace_shown *shown, const struct utrace_call *call,
		const unsigned long args[6], enum utrace_abi abi);

#endif /* UTRACE_FORMAT_SHOWN_H */
