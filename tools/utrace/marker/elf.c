// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the SDT markers of a file
 *
 * <sys/sdt.h> writes a note for each marker: three addresses, then provider,
 * name and arguments as strings.
 */
#include <string.h>

#include <linux/array_size.h>

#include "elf.h"

#define SECTION		".note.stapsdt"
#define OWNER		"stapsdt"
#define TYPE		3

/**
 * struct notes - the notes of a file
 * @elf: the file
 * @size: bytes of an address
 * @base: address of the section .stapsdt.base, 0 if there is none
 * @function: called for each marker
 * @data: its argument
 */
struct notes {
	Elf *elf;
	unsigned int size;
	__u64 base;
	marker_site_function *function;
	void *data;
};

/* Return why a file can have no markers, or NULL if it can. */
const char *marker_why_not(Elf *elf)
{
	GElf_Ehdr header;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return "it is not an ELF file";
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return "it is neither a program nor a library";
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_386)
		return "it is made for another kind of processor";
	return NULL;
}

/* Return the bytes of an address of a program. */
unsigned int marker_address_size(Elf *elf)
{
	return gelf_fsize(elf, ELF_T_ADDR, 1, EV_CURRENT);
}

/*
 * Find the offset of an address in the file.  Returns false if there is none.
 */
bool marker_offset(Elf *elf, __u64 address, __u64 *offset)
{
	size_t i, n;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    address < ph.p_vaddr ||
		    address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = address - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

/*
 * Find the next section of this name, and set @header to its header.  Returns
 * NULL if there is none.
 */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, const char *name,
			     GElf_Shdr *header)
{
	const char *is;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		is = elf_strptr(elf, names, header->sh_name);
		if (is && !strcmp(is, name))
			return section;
	}
	return NULL;
}

/*
 * Check whether a program has code compiled by Go.  The runtime of Go reads
 * return addresses from the stack, to move the stack and to collect garbage.
 */
bool marker_is_go(Elf *elf)
{
	static const char *const names[] = {
		".go.buildinfo", ".note.go.buildid", ".gopclntab",
	};
	GElf_Shdr header;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (next_section(elf, NULL, names[i], &header))
			return true;
	return false;
}

/* Parse a string that ends before @end.  Returns NULL if there is none. */
static const char *take_string(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', end - text);

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static __u64 take_address(const struct notes *notes, const char **at)
{
	__u64 address = 0;

	/* Both the processor and the file are little-endian. */
	memcpy(&address, *at, notes->size);
	*at += notes->size;
	return address;
}

/* Report the marker of a note, if the note is valid. */
static void take_note(const struct notes *notes, const char *at, size_t n)
{
	const char *end = at + n, *args;
	struct marker_site site = {};
	__u64 address, base, semaphore, moved;

	if (n < 3 * notes->size)
		return;
	address = take_address(notes, &at);
	base = take_address(notes, &at);
	semaphore = take_address(notes, &at);
	/* prelink moves the sections, but not the addresses in notes. */
	moved = notes->base ? notes->base - base : 0;
	site.provider = take_string(&at, end);
	site.name = site.provider ? take_string(&at, end) : NULL;
	if (!site.name ||
	    !marker_offset(notes->elf, address + moved, &site.offset))
		return;
	if (semaphore && !marker_offset(notes->elf, semaphore + moved,
					&site.semaphore))
		return;
	args = take_string(&at, end);
	marker_args_parse(&site.args, args ?: "", notes->size);
	notes->function(&site, notes->data);
}

static void take_section(const struct notes *notes, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, next, name, desc;
	const char *bytes;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &desc))) {
		bytes = data->d_buf;
		if (note.n_type == TYPE && note.n_namesz == sizeof(OWNER) &&
		    !memcmp(bytes + name, OWNER, sizeof(OWNER)))
			take_note(notes, bytes + desc, note.n_descsz);
		at = next;
	}
}

static void take_file(struct notes *notes)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	notes->size = marker_address_size(notes->elf);
	if (next_section(notes->elf, NULL, ".stapsdt.base", &header))
		notes->base = header.sh_addr;
	while ((section = next_section(notes->elf, section, SECTION, &header)))
		if (header.sh_type == SHT_NOTE)
			take_section(notes, section);
}

/* Find the SDT markers of an open file; see marker_notes(). */
const char *marker_notes_of(Elf *elf, marker_site_function *function, void *data)
{
	struct notes notes = {
		.elf = elf,
		.function = function,
		.data = data,
	};
	const char *why = marker_why_not(elf);

	if (!why)
		take_file(&notes);
	return why;
}

/**
 * marker_notes() - find the SDT markers of a file
 * @fd: the file
 * @function: called for each marker, in the order of the file
 * @data: its argument
 *
 * Return: why the file can have no markers, or NULL.
 */
const char *marker_notes(int fd, marker_site_function *function, void *data)
{
	const char *why;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	why = marker_notes_of(elf, function, data);
	elf_end(elf);
	return why;
}
