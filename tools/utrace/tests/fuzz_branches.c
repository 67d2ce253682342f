// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - damaged files of 'utrace branches record'
 *
 * This makes a whole report, but without symbols: a child looks those up, whose
 * limits leave no room for the sanitizers.
 */
#include <stdio.h>

#include "branch/branches.h"
#include "branch/symbols.h"
#include "fuzz.h"

__u64 symbols_find(unsigned int object, __u64 offset, struct symbol *symbol)
{
	*symbol = (struct symbol){
		.name = object % 2 ? "name" : "[no symbol]",
		.start = object % 2 ? offset & ~0xffULL : 0,
	};
	return offset;
}

const char *symbols_line(unsigned int object, __u64 address, int *line)
{
	*line = address % 100;
	return object % 3 ? __FILE__ : NULL;
}

const char *symbols_why_not(unsigned int object)
{
	return object % 2 ? NULL : "no reason";
}

void symbols_build_id(int fd, struct build_id *id)
{
	(void)fd;
	*id = (struct build_id){};
}

void fuzz_one(char *data, size_t n)
{
	struct branches_options options = {
		.edges = 10,
		.source = true,
		.flame = "/dev/null",
	};
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fuzz_file(data, n));
	options.file = path;
	branches_report(&options);
}
