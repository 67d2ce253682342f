/* SPDX-License-Identifier: GPL-2.0 */
/* linux/shm.h includes it for a function of the C library. */
