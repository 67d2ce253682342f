/* SPDX-License-Identifier: GPL-2.0 */
#define fls_long(n)	((n) ? 64U - __builtin_clzl(n) : 0U)
#define __ffs64(n)	((unsigned int)__builtin_ctzl(n))
