/* SPDX-License-Identifier: GPL-2.0 */
#include_next <linux/errno.h>

/* Results of calls that a signal interrupted and that are to be restarted. */
#define ERESTARTSYS		512
#define ERESTARTNOINTR		513
#define ERESTARTNOHAND		514
#define ERESTART_RESTARTBLOCK	516
