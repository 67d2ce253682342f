// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - functions and source lines of a file, by elfutils
 *
 * Each object has its own Dwfl, which has only its file.  Its symbols and lines
 * come from the file, or from a file of debugging information that is installed
 * (/usr/lib/debug); nothing is fetched from a server.
 *
 * The file may be malicious, so this code runs in a child, see symbols.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <libiberty/demangle.h>
/* <linux/types.h> also defines this macro. */
#undef ARRAY_SIZE

#include "code.h"
#include "lib/files.h"
#include "lib/memory.h"
#include "symbols_elf.h"

/**
 * struct source - the source of the symbols of an object
 * @dwfl: the handle of @module
 * @module: the file
 * @elf: the file as libelf knows it
 * @bias: difference between addresses of @module and of the file
 * @code: functions and stubs without symbols
 */
struct source {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	GElf_Addr bias;
	struct code *code;
};

/* The directory of debugging information.  Only root can write there. */
#define INSTALLED	"/usr/lib/debug"

/*
 * A file has the path of its debugging information.  A path outside of the
 * directory could name a device or a FIFO, which libdw would open.  A file with
 * the right build ID is found without the path.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **found)
{
	bool installed = link && !strncmp(link, INSTALLED "/", sizeof(INSTALLED)) &&
			 !strstr(link, "/../");

	if (link && strchr(link, '/') && !installed)
		return dwfl_build_id_find_debuginfo(module, userdata, name, base,
						    file, link, crc, found);
	return dwfl_standard_find_debuginfo(module, userdata, name, base, file,
					    link, crc, found);
}

static char *debug_path = INSTALLED;

static const Dwfl_Callbacks callbacks = {
	.section_address = dwfl_offline_section_address,
	.find_debuginfo = find_debuginfo,
	.debuginfo_path = &debug_path,
};

static void take_build_id(Elf *elf, struct build_id *id)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	*id = (struct build_id){};
	if (n <= 0)
		return;
	id->size = n < BUILD_ID_MAX ? n : BUILD_ID_MAX;
	memcpy(id->bytes, bytes, id->size);
}

/* The build ID of a file; its size is 0 if there is none. */
void source_build_id(int fd, struct build_id *id)
{
	Elf *elf;

	*id = (struct build_id){};
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		take_build_id(elf, id);
	elf_end(elf);
}

/*
 * Pass the file of an object that has a path to libdw.  Returns why that fails,
 * or NULL.
 */
static const char *report_file(struct source *source, const char *path)
{
	char link[32], real[PATH_MAX];
	int fd = file_open(path);
	ssize_t n;

	if (fd < 0)
		return errno == EISDIR ? "it is not a regular file" :
		       "the file does not exist, or may not be read";
	/*
	 * With ".." in the path, libdw could look for debugging information
	 * anywhere.
	 */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	real[n > 0 ? n : 0] = '\0';
	source->module = dwfl_report_offline(source->dwfl, real, real, fd);
	if (!source->module)
		close(fd);
	return NULL;
}

/* Open the file of an object.  Returns why that fails, or NULL. */
static const char *open_module(struct source *source,
			       const struct object *object)
{
	const char *why = NULL;

	if (!object->image && *object->path != '/')
		return "it is no file";
	source->dwfl = dwfl_begin(&callbacks);
	if (!source->dwfl)
		return dwfl_errmsg(-1);
	/* The memory is only read. */
	if (object->image)
		source->module =
			dwfl_report_offline_memory(source->dwfl, "[image]",
						   "[image]",
						   (char *)object->image,
						   object->image_size);
	else
		why = report_file(source, object->path);
	dwfl_report_end(source->dwfl, NULL, NULL);
	if (source->module)
		source->elf = dwfl_module_getelf(source->module, &source->bias);
	return source->elf ? NULL : why ?: "it is not an ELF file";
}

/**
 * source_open() - open the file of an object
 * @object: the object
 * @why: set to the reason if that fails
 *
 * Return: the source, or NULL.
 */
struct source *source_open(const struct object *object, const char **why)
{
	struct source *source = checked(calloc(1, sizeof(*source)));
	struct build_id id = {};

	elf_version(EV_CURRENT);
	/* Keep libdw from asking servers. */
	unsetenv("DEBUGINFOD_URLS");
	*why = open_module(source, object);
	if (!*why && object->id.size) {
		take_build_id(source->elf, &id);
		if (memcmp(&id, &object->id, sizeof(id)))
			*why = "the file has changed since the recording";
	}
	if (!*why) {
		source->code = code_open(source->elf);
		return source;
	}
	source_close(source);
	return NULL;
}

/* Return the address of code at an offset of the file. */
__u64 source_address(const struct source *source, __u64 offset)
{
	size_t i, n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(source->elf, &n))
		n = 0;
	for (i = 0; i < n; i++)
		if (gelf_getphdr(source->elf, i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_flags & PF_X && offset >= ph.p_offset &&
		    offset - ph.p_offset < ph.p_filesz)
			return offset - ph.p_offset + ph.p_vaddr;
	return offset;
}

/*
 * Return a name as in the source, demangled for C++ and Rust, without a
 * version.
 */
static const char *readable(const char *name)
{
	const char *plain = NULL;

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		plain = cplus_demangle(name, DMGL_AUTO);
	return plain ?: checked(strndup(name, strcspn(name, "@")));
}

static const char *name_address(__u64 address)
{
	return xasprintf("sub_%llx", address);
}

/*
 * Find a symbol that covers the address, or begins before it and has no size.
 */
static const char *find_symbol(struct source *source, __u64 address,
			       struct symbol *symbol)
{
	GElf_Off offset;
	GElf_Sym sym;
	const char *name;

	name = dwfl_module_addrinfo(source->module, address + source->bias,
				    &offset, &sym, NULL, NULL, NULL);
	if (!name || !*name || (sym.st_size && offset >= sym.st_size))
		return NULL;
	symbol->start = address - offset;
	/* A symbol without a size ends where another function begins. */
	if (!sym.st_size &&
	    code_function(source->code, address) > symbol->start)
		return NULL;
	return name;
}

/* Find the function that has an address; see symbols_find(). */
void source_find(struct source *source, __u64 address, struct symbol *symbol)
{
	const char *name;

	*symbol = (struct symbol){ .name = "[no symbol]" };
	if (code_stub(source->code, address, symbol))
		return;
	name = find_symbol(source, address, symbol);
	if (name) {
		symbol->name = readable(name);
		return;
	}
	symbol->start = code_function(source->code, address);
	if (symbol->start)
		symbol->name = name_address(symbol->start);
}

/* Find the source line of an address; see symbols_line(). */
const char *source_line_of(const struct source *source, __u64 address, int *line)
{
	static char path[PATH_MAX];
	const char *file, *folder;
	Dwfl_Line *found;

	found = dwfl_module_getsrc(source->module, address + source->bias);
	if (!found)
		return NULL;
	file = dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL);
	folder = dwfl_line_comp_dir(found);
	if (!file || *file == '/' || !folder)
		return file;
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return path;
}

/* Close a source, if it is not NULL. */
void source_close(struct source *source)
{
	if (!source)
		return;
	code_close(source->code);
	dwfl_end(source->dwfl);
	free(source);
}
