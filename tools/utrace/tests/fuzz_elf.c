// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - damaged ELF files: their markers, and functions without symbols
 *
 * The file is in memory that ends where the file does, so that a sanitizer
 * finds reads after its end.
 */
#include <stdlib.h>
#include <string.h>

#include "branch/code.h"
#include "branch/symbols.h"
#include "fuzz.h"
#include "marker/elf.h"

static void take(const struct marker_site *site, void *data)
{
	char text[64];
	unsigned int i;

	(void)data;
	for (i = 0; i < site->args.n; i++)
		marker_arg_place(&site->args.arg[i], text, sizeof(text));
}

static void look_up(Elf *elf)
{
	struct code *code = code_open(elf);
	struct symbol symbol;
	__u64 address;

	for (address = 0; address < 0x2000; address += 5) {
		code_function(code, address);
		code_stub(code, address, &symbol);
	}
	code_function(code, -1);
	code_stub(code, -1, &symbol);
	code_close(code);
}

void fuzz_one(char *data, size_t n)
{
	char *copy = malloc(n ?: 1);
	Elf *elf;

	if (!copy)
		abort();
	memcpy(copy, data, n);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, n);
	if (elf && !marker_notes_of(elf, take, NULL)) {
		marker_is_go(elf);
		look_up(elf);
	}
	elf_end(elf);
	free(copy);
}
