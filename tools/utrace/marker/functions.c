// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the functions of a file, by elfutils
 *
 * The symbols come from the file, or from a file of debugging information that
 * is installed (/usr/lib/debug); nothing is fetched from a server.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "elf.h"
#include "lib/memory.h"

static const Dwfl_Callbacks callbacks = {
	.section_address = dwfl_offline_section_address,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

/**
 * struct functions - a search for functions of a file
 * @wish: the functions to find
 * @provider: name of the file, without its directory
 * @module: the file
 * @elf: the file as libelf knows it
 * @bias: difference between addresses of @module and of the file
 * @function: called for each function
 * @data: its argument
 */
struct functions {
	const struct marker_wish *wish;
	const char *provider;
	Dwfl_Module *module;
	Elf *elf;
	GElf_Addr bias;
	marker_site_function *function;
	void *data;
};

/* Return a symbol without its version, or NULL if it does not match. */
static char *match(const struct functions *functions, const char *symbol)
{
	char *name = checked(strndup(symbol, strcspn(symbol, "@")));

	if (!fnmatch(functions->wish->name, name, 0))
		return name;
	free(name);
	return NULL;
}

static void report(const struct functions *functions, const char *function,
		   __u64 offset)
{
	const struct marker_wish *wish = functions->wish;
	unsigned int size = marker_address_size(functions->elf);
	struct marker_site site = {
		.provider = functions->provider,
		.offset = offset,
		.flags = wish->is_return ? UTRACE_MARKER_F_RETURN : 0,
	};
	char *name;

	if (wish->is_return)
		marker_args_of_return(&site.args, size);
	else
		marker_args_of_call(&site.args, wish->args, size);
	name = xasprintf("%s%s", function, wish->is_return ? "%return" : "");
	site.name = name;
	functions->function(&site, functions->data);
	free(name);
}

static void take_symbol(const struct functions *functions, int i)
{
	GElf_Addr address;
	GElf_Word section;
	GElf_Sym symbol;
	const char *is;
	__u64 offset;
	char *name;

	is = dwfl_module_getsym_info(functions->module, i, &symbol, &address,
				     &section, NULL, NULL);
	if (!is || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
	    section == SHN_UNDEF)
		return;
	name = match(functions, is);
	if (name && marker_offset(functions->elf, address - functions->bias,
				  &offset))
		report(functions, name, offset);
	free(name);
}

/* Open the file in @dwfl.  Returns why that fails, or NULL. */
static const char *open_module(struct functions *functions, Dwfl *dwfl,
			       const char *path, int fd)
{
	int copy = dup(fd);

	if (copy < 0)
		return strerror(errno);
	functions->module = dwfl_report_offline(dwfl, path, path, copy);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!functions->module) {
		close(copy);
		return "it is not an ELF file";
	}
	functions->elf = dwfl_module_getelf(functions->module,
					    &functions->bias);
	return marker_why_not(functions->elf);
}

/**
 * marker_functions() - find functions of a file
 * @path: path of the file, to find its debugging information
 * @fd: the file
 * @wish: the functions to find
 * @function: called for each name of each function
 * @data: its argument
 *
 * Return: why the file can have no functions, or NULL.
 */
const char *marker_functions(const char *path, int fd,
			     const struct marker_wish *wish,
			     marker_site_function *function, void *data)
{
	const char *slash = strrchr(path, '/'), *why;
	struct functions functions = {
		.wish = wish,
		.provider = slash ? slash + 1 : path,
		.function = function,
		.data = data,
	};
	Dwfl *dwfl;
	int i, n;

	elf_version(EV_CURRENT);
	/* Keep libdw from asking servers. */
	unsetenv("DEBUGINFOD_URLS");
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return dwfl_errmsg(-1);
	why = open_module(&functions, dwfl, path, fd);
	if (!why && wish->is_return && !wish->force &&
	    marker_is_go(functions.elf))
		why = "it is made by Go, whose runtime ends a program when it finds a "
		      "return probe ('unexpected return pc'); trace entries of "
		      "functions, or give --force";
	n = why ? 0 : dwfl_module_getsymtab(functions.module);
	for (i = 0; i < n; i++)
		take_symbol(&functions, i);
	dwfl_end(dwfl);
	return why;
}
