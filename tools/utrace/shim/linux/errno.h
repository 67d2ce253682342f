/* SPDX-License-Identifier: GPL-2.0 */
#include_next <linux/errno.h>

/* What a call that a signal interrupted returns before it is restarted. */
#define ERESTARTSYS		512
#define ERESTARTNOINTR		513
#define ERESTARTNOHAND		514
#define ERESTART_RESTARTBLOCK	516
