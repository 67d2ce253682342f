/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the SDT markers of a file, read with libelf
 *
 * A note of .note.stapsdt has three addresses: of the marker, of the section
 * .stapsdt.base when the note was made, and of the semaphore.  If the base has
 * moved since, by prelink, the others have moved with the base.  Then come the
 * provider, the name, and the arguments as assembly has them.
 */
#ifndef UTRACE_SDT_H
#define UTRACE_SDT_H

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/utrace_marker.h>

#include "asm/perf_regs.h"

/**
 * struct sdt_site - a marker, or the first instruction of a function
 * @provider: provider of the marker
 * @name: its name, or that of the function
 * @address: address in the file, to which the program adds where the file is
 * @offset: offset of the instruction in the file
 * @semaphore: offset of the semaphore in the file, or 0
 * @nargs: number of @args
 * @args: the arguments
 */
struct sdt_site {
	char provider[32];
	char name[32];
	__u64 address;
	__u64 offset;
	__u64 semaphore;
	__u32 nargs;
	struct utrace_marker_arg args[UTRACE_MARKER_ARGS];
};

struct sdt_file {
	int fd;
	Elf *elf;
};

static inline bool sdt_open(struct sdt_file *file, const char *path)
{
	elf_version(EV_CURRENT);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	file->elf = file->fd < 0 ? NULL :
		    elf_begin(file->fd, ELF_C_READ, NULL);
	return file->elf && elf_kind(file->elf) == ELF_K_ELF;
}

static inline void sdt_close(struct sdt_file *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
}

/* The offset of an address in the file; 0 if the file does not have it. */
static inline __u64 sdt_offset(Elf *elf, __u64 address)
{
	GElf_Phdr head;
	size_t i, n;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &head) && head.p_type == PT_LOAD &&
		    address >= head.p_vaddr &&
		    address < head.p_vaddr + head.p_filesz)
			return address - head.p_vaddr + head.p_offset;
	return 0;
}

static inline Elf_Scn *sdt_section(Elf *elf, const char *name, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *its = gelf_getshdr(section, head) ?
				  elf_strptr(elf, names, head->sh_name) : NULL;

		if (its && !strcmp(its, name))
			return section;
	}
	return NULL;
}

/*
 * The number of a register: %rax, %eax, %ax and %al are one.  The name is as
 * in assembly, of @len characters without the percent sign.
 */
static inline int sdt_register(const char *name, size_t len)
{
	static const char names[][3] = {
		[PERF_REG_X86_AX] = "ax", [PERF_REG_X86_BX] = "bx",
		[PERF_REG_X86_CX] = "cx", [PERF_REG_X86_DX] = "dx",
		[PERF_REG_X86_SI] = "si", [PERF_REG_X86_DI] = "di",
		[PERF_REG_X86_BP] = "bp", [PERF_REG_X86_SP] = "sp",
		[PERF_REG_X86_IP] = "ip",
	};
	int i;

	if (len > 1 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
		i = atoi(name + 1);
		return i >= 8 && i <= 15 ? PERF_REG_X86_R8 + i - 8 : -1;
	}
	if (len == 3 && (name[0] == 'r' || name[0] == 'e'))
		name++;
	else if (len == 2 && name[1] == 'l')	/* %al */
		len = 1;
	else if (len != 2 && (len != 3 || name[2] != 'l'))	/* %sil */
		return -1;
	for (i = 0; i <= PERF_REG_X86_IP; i++)
		if (!strncmp(names[i], name, len == 1 ? 1 : 2) &&
		    (len > 1 || names[i][1] == 'x'))
			return i;
	return -1;
}

/* Read "%rax" at @text; returns where the name ends, or NULL. */
static inline const char *sdt_parse_register(const char *text, __u8 *reg)
{
	size_t len;
	int number;

	if (*text++ != '%')
		return NULL;
	len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
	number = sdt_register(text, len);
	*reg = number;
	return number < 0 ? NULL : text + len;
}

/* Read "(%rax,%rbx,4)", of which parts may be missing. */
static inline const char *sdt_parse_memory(const char *text,
					   struct utrace_marker_arg *arg)
{
	char *end;

	if (*text++ != '(')
		return NULL;
	if (*text == '%')
		text = sdt_parse_register(text, &arg->reg);
	if (text && *text == ',') {
		text = sdt_parse_register(text + 1, &arg->index);
		arg->scale = 1;
		if (text && *text == ',') {
			arg->scale = strtoul(text + 1, &end, 10);
			text = end;
		}
	}
	return text && *text == ')' ? text + 1 : NULL;
}

/* Read "-4@8(%rsp)"; returns where the argument ends, or NULL. */
static inline const char *sdt_parse_arg(const char *text,
					struct utrace_marker_arg *arg)
{
	char *end;

	*arg = (struct utrace_marker_arg){
		.reg = UTRACE_ARG_NO_REG,
		.index = UTRACE_ARG_NO_REG,
	};
	arg->size = strtol(text, &end, 10);
	if (*end != '@')
		return NULL;
	text = end + 1;
	if (*text == '%') {
		arg->kind = UTRACE_ARG_REG;
		return sdt_parse_register(text, &arg->reg);
	}
	arg->kind = *text == '$' ? UTRACE_ARG_CONST : UTRACE_ARG_MEM;
	text += *text == '$';
	arg->disp = *text == '-' ? strtoll(text, &end, 0) :
		    (__s64)strtoull(text, &end, 0);
	if (arg->kind == UTRACE_ARG_CONST)
		return end;
	/* A number without registers is an address. */
	return *end == '(' ? sdt_parse_memory(end, arg) : end;
}

static inline bool sdt_parse_args(const char *text, struct sdt_site *site)
{
	for (site->nargs = 0; *text; site->nargs++) {
		if (site->nargs == UTRACE_MARKER_ARGS)
			return false;
		text = sdt_parse_arg(text, &site->args[site->nargs]);
		if (!text || (*text && *text != ' '))
			return false;
		text += strspn(text, " ");
	}
	return true;
}

/* Read what one note tells; false: the note makes no sense. */
static inline bool sdt_parse(Elf *elf, const char *note, size_t size,
			     __u64 base, struct sdt_site *site)
{
	const char *provider = note + 24, *name, *args, *end = note + size;
	__u64 at[3];

	if (size < 27 || end[-1])
		return false;
	memcpy(at, note, sizeof(at));
	name = provider + strlen(provider) + 1;
	args = name < end ? name + strlen(name) + 1 : end;
	if (args >= end || strlen(provider) >= sizeof(site->provider) ||
	    strlen(name) >= sizeof(site->name))
		return false;
	snprintf(site->provider, sizeof(site->provider), "%s", provider);
	snprintf(site->name, sizeof(site->name), "%s", name);
	site->address = at[0] + base - at[1];
	site->offset = sdt_offset(elf, site->address);
	site->semaphore = at[2] ? sdt_offset(elf, at[2] + base - at[1]) : 0;
	return site->offset && !at[2] == !site->semaphore &&
	       sdt_parse_args(args, site);
}

static inline int sdt_parse_all(Elf *elf, struct sdt_site *sites, int most)
{
	GElf_Shdr base = {}, head;
	Elf_Scn *section;
	Elf_Data *data;
	GElf_Nhdr note;
	size_t at = 0, name, desc;
	int n = 0;

	sdt_section(elf, ".stapsdt.base", &base);
	section = sdt_section(elf, ".note.stapsdt", &head);
	data = section ? elf_getdata(section, NULL) : NULL;
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		const char *bytes = data->d_buf;

		if (note.n_type != 3 || strcmp(bytes + name, "stapsdt"))
			continue;
		if (n == most || !sdt_parse(elf, bytes + desc, note.n_descsz,
					    base.sh_addr, &sites[n]))
			return -1;
		n++;
	}
	return n;
}

/* Read the markers of a file; returns their number, or -1. */
static inline int sdt_read(const char *path, struct sdt_site *sites, int most)
{
	struct sdt_file file;
	int n = -1;

	memset(sites, 0, most * sizeof(*sites));
	if (sdt_open(&file, path))
		n = sdt_parse_all(file.elf, sites, most);
	sdt_close(&file);
	return n;
}

static inline __u64 sdt_symbol(Elf *elf, const char *table, const char *name)
{
	GElf_Shdr head;
	Elf_Scn *section = sdt_section(elf, table, &head);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;
	const char *its;
	int i;

	for (i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		its = elf_strptr(elf, head.sh_link, symbol.st_name);
		if (its && !strcmp(its, name) && symbol.st_shndx != SHN_UNDEF)
			return symbol.st_value;
	}
	return 0;
}

/* The first instruction of a function; without @name that of the program. */
static inline bool sdt_function(const char *path, const char *name,
				struct sdt_site *site)
{
	struct sdt_file file;
	GElf_Ehdr head;

	*site = (struct sdt_site){};
	if (sdt_open(&file, path) && gelf_getehdr(file.elf, &head)) {
		site->address = !name ? head.e_entry :
				sdt_symbol(file.elf, ".dynsym", name) ?:
				sdt_symbol(file.elf, ".symtab", name);
		site->offset = sdt_offset(file.elf, site->address);
		snprintf(site->name, sizeof(site->name), "%s", name ?: "entry");
	}
	sdt_close(&file);
	return site->offset;
}

#endif /* UTRACE_SDT_H */
