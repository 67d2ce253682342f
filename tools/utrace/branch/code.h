/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - functions and stubs without symbols
 */
#ifndef UTRACE_BRANCH_CODE_H
#define UTRACE_BRANCH_CODE_H

#include <stdbool.h>

#include <gelf.h>
#include <linux/types.h>

struct code;
struct symbol;

struct code *code_open(Elf *elf);
void code_close(struct code *code);
__u64 code_function(const struct code *code, __u64 address);
bool code_stub(const struct code *code, __u64 address, struct symbol *symbol);

#endif /* UTRACE_BRANCH_CODE_H */
