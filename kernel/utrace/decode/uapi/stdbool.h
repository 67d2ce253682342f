/* SPDX-License-Identifier: GPL-2.0 */
#define bool _Bool
