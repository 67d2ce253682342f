/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - the test program as data of the kernel
 *
 * user_task.c writes this data to a file, which it executes.
 */
#include <linux/linkage.h>

	.section .rodata, "a", @progbits

	.balign 8
	.globl utrace_user_program
utrace_user_program:
	.incbin "kernel/utrace/tests/user_program"
	.globl utrace_user_program_end
utrace_user_program_end:

	.section .note.GNU-stack, "", @progbits
