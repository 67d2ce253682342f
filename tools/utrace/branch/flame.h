/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a flame graph of branches, as SVG
 */
#ifndef UTRACE_BRANCH_FLAME_H
#define UTRACE_BRANCH_FLAME_H

struct tree;

void flame_write(const char *path, const struct tree *tree, const char *title);

#endif /* UTRACE_BRANCH_FLAME_H */
