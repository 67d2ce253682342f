/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - functions of the programs that are process 1 of their own
 * boots
 */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>

/* If @ok is false, print the failure and reboot, which ends the measurement. */
void must(bool ok, const char *what);

/* Print a row. */
void say(const char *name, double value);

void write_file(const char *path, const char *text);
void load_module(const char *path, const char *args);

/* Print that all rows are there, and reboot. */
void all_said(void);

#endif /* ROWS_H */
