// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - damaged arguments of markers
 */
#include "fuzz.h"
#include "marker/args.h"

void fuzz_one(char *data, size_t n)
{
	struct marker_args args;
	char text[64];
	unsigned int i;

	(void)n;
	marker_args_parse(&args, data, 8);
	for (i = 0; i < args.n; i++)
		marker_arg_place(&args.arg[i], text, sizeof(text));
}
