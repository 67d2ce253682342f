/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - source lines
 */
#ifndef UTRACE_BRANCH_SOURCE_H
#define UTRACE_BRANCH_SOURCE_H

struct place;

const char *source_text(const struct place *place);
const char *source_line(const char *path, unsigned int line);

#endif /* UTRACE_BRANCH_SOURCE_H */
