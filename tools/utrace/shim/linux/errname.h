/* SPDX-License-Identifier: GPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>

static inline const char *errname(int err)
{
	switch (abs(err)) {
	case ERESTARTSYS:
		return "ERESTARTSYS";
	case ERESTARTNOINTR:
		return "ERESTARTNOINTR";
	case ERESTARTNOHAND:
		return "ERESTARTNOHAND";
	case ERESTART_RESTARTBLOCK:
		return "ERESTART_RESTARTBLOCK";
	}
	return strerrorname_np(abs(err));
}
