// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - functions and stubs without symbols
 *
 * In a stripped program, the table for unwinding the stack (.eh_frame_hdr)
 * still has the addresses of functions.  A stub of the procedure linkage table
 * jumps to the address in a slot, and the relocation of that slot has the name
 * of the function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <linux/array_size.h>

#include "code.h"
#include "lib/memory.h"
#include "symbols.h"

/* Bytes of a stub, unless its section has another size. */
#define STUB_SIZE	16

/**
 * struct range - a section of stubs
 * @start: first address
 * @step: bytes of a stub
 * @data: the bytes
 */
struct range {
	__u64 start;
	__u64 step;
	Elf_Data *data;
};

/**
 * struct slot - a slot that a stub jumps through
 * @address: address of the slot
 * @name: name of the function, in the file
 */
struct slot {
	__u64 address;
	const char *name;
};

/**
 * struct code - functions and stubs of a file
 * @functions: first addresses of functions, ascending
 * @nfunctions: number of elements of @functions
 * @stubs: sections of stubs: .plt, .plt.sec and .plt.got
 * @nstubs: number of elements of @stubs that are used
 * @slots: slots of functions, by their address
 * @nslots: number of elements of @slots
 * @slots_size: allocated elements of @slots
 */
struct code {
	__u64 *functions;
	size_t nfunctions;
	struct range stubs[4];
	size_t nstubs;
	struct slot *slots;
	size_t nslots;
	size_t slots_size;
};

static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The table of .eh_frame_hdr in the encoding that all linkers use.  It may be
 * at any address.
 */
struct frame_header {
	__u8 version;
	__u8 pointer_encoding;
	__u8 count_encoding;
	__u8 table_encoding;
	__s32 pointer;
	__u32 count;
	struct {
		__s32 function;
		__s32 frame;
	} table[];
} __attribute__((packed));

static void read_functions(struct code *code, const GElf_Shdr *sh,
			   const Elf_Data *data)
{
	const struct frame_header *header = data->d_buf;
	size_t i, n;

	if (!header || data->d_size < sizeof(*header) || header->version != 1 ||
	    header->pointer_encoding == DW_EH_PE_omit ||
	    header->count_encoding != DW_EH_PE_udata4 ||
	    header->table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return;
	n = (data->d_size - sizeof(*header)) / sizeof(header->table[0]);
	if (n > header->count)
		n = header->count;
	free(code->functions);
	code->functions = checked(calloc(n ?: 1, sizeof(*code->functions)));
	for (i = 0; i < n; i++)
		code->functions[i] = sh->sh_addr + header->table[i].function;
	qsort(code->functions, n, sizeof(*code->functions), compare);
	code->nfunctions = n;
}

/* The relocations of a section have the names of slots. */
static void read_slots(struct code *code, Elf *elf, const GElf_Shdr *sh,
		       Elf_Data *relocations)
{
	Elf_Scn *scn = elf_getscn(elf, sh->sh_link);
	Elf_Data *symbols = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr strings;
	GElf_Rela rela;
	GElf_Sym sym;
	const char *name;
	int i;

	if (!symbols || !gelf_getshdr(scn, &strings))
		return;
	for (i = 0; gelf_getrela(relocations, i, &rela); i++) {
		if (!gelf_getsym(symbols, GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(elf, strings.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		code->slots = grow(code->slots, code->nslots,
				   &code->slots_size, sizeof(*code->slots));
		code->slots[code->nslots++] =
			(struct slot){ rela.r_offset, name };
	}
}

static void read_section(struct code *code, Elf *elf, Elf_Scn *scn,
			 const char *name, const GElf_Shdr *sh)
{
	Elf_Data *data;

	/* In a file of debugging information, these sections have no data. */
	if (sh->sh_type == SHT_NOBITS)
		return;
	data = elf_getdata(scn, NULL);
	if (!data)
		return;
	if (!strcmp(name, ".eh_frame_hdr"))
		read_functions(code, sh, data);
	else if (sh->sh_type == SHT_RELA)
		read_slots(code, elf, sh, data);
	else if (!strncmp(name, ".plt", 4) && data->d_buf &&
		 code->nstubs < ARRAY_SIZE(code->stubs))
		code->stubs[code->nstubs++] =
			(struct range){ sh->sh_addr, sh->sh_entsize ?: STUB_SIZE,
					data };
}

/* Read functions and stubs of a file, which stays open. */
struct code *code_open(Elf *elf)
{
	struct code *code = checked(calloc(1, sizeof(*code)));
	Elf_Scn *scn = NULL;
	const char *name;
	size_t strings;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &strings))
		return code;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (name)
			read_section(code, elf, scn, name, &sh);
	}
	if (code->nslots)
		qsort(code->slots, code->nslots, sizeof(*code->slots), compare);
	return code;
}

/* Free what code_open() returned.  May be NULL. */
void code_close(struct code *code)
{
	if (!code)
		return;
	free(code->functions);
	free(code->slots);
	free(code);
}

/*
 * Find the last function that begins at or before an address.  Returns 0 for
 * none.
 */
__u64 code_function(const struct code *code, __u64 address)
{
	size_t low = 0, high = code->nfunctions, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (code->functions[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? code->functions[low - 1] : 0;
}

/*
 * Find the slot that the stub of @n bytes at @at jumps through.  Returns 0 if
 * there is no such jump.  A stub is: [ENDBR64] [BND] JMP *slot(%rip)
 */
static __u64 slot_of(const __u8 *stub, size_t n, __u64 at)
{
	static const __u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t i = 0;
	__s32 offset;

	if (n >= sizeof(endbr) && !memcmp(stub, endbr, sizeof(endbr)))
		i = sizeof(endbr);
	if (i < n && stub[i] == 0xf2)
		i++;
	if (n - i < 6 || stub[i] != 0xff || stub[i + 1] != 0x25)
		return 0;
	memcpy(&offset, stub + i + 2, sizeof(offset));
	return at + i + 6 + offset;
}

static const char *stub_name(const struct code *code, __u64 slot)
{
	const struct slot *found;

	found = code->nslots ? bsearch(&slot, code->slots, code->nslots,
				       sizeof(*found), compare) : NULL;
	if (!found)
		return "[plt]";
	return xasprintf("%s@plt", found->name);
}

/**
 * code_stub() - find the stub at an address
 * @code: what code_open() returned
 * @address: the address
 * @symbol: set if there is one
 *
 * Return: true if there is one.
 */
bool code_stub(const struct code *code, __u64 address, struct symbol *symbol)
{
	const struct range *range;
	__u64 at, slot;
	size_t i;

	for (i = 0; i < code->nstubs; i++) {
		range = &code->stubs[i];
		if (address < range->start ||
		    address - range->start >= range->data->d_size)
			continue;
		at = address - range->start;
		at -= at % range->step;
		slot = slot_of(range->data->d_buf + at,
			       range->data->d_size - at, range->start + at);
		symbol->start = range->start + at;
		symbol->name = stub_name(code, slot);
		return true;
	}
	return false;
}
