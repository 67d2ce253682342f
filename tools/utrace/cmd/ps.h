/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the command ps: list tracers and their tasks
 */
#ifndef UTRACE_CMD_PS_H
#define UTRACE_CMD_PS_H

int ps_main(int argc, char **argv);

#endif /* UTRACE_CMD_PS_H */
