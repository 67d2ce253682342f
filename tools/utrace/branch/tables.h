/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - tables of a report about branches
 */
#ifndef UTRACE_BRANCH_TABLES_H
#define UTRACE_BRANCH_TABLES_H

struct tally;

void report_functions(const struct tally *tally, unsigned int most);
void report_edges(const struct tally *tally, unsigned int most);
void report_lines(const struct tally *tally, unsigned int most);
void report_kernel(const struct tally *tally);
void report_tasks(const struct tally *tally);
const char *report_kind(unsigned int kind);

#endif /* UTRACE_BRANCH_TABLES_H */
