// SPDX-License-Identifier: GPL-2.0
/*
 * The semaphores of markers: 16 bits in the memory of a process, which count
 * the tracers of the marker there. A note in the file of the program has the
 * address.
 */
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"

/* A note has three addresses, and the texts "provider", "name", "arguments". */
static GElf_Addr semaphore_of(const char *note, size_t size, const char *name)
{
	const GElf_Addr *addresses = (const void *)note;
	const char *texts = note + 3 * sizeof(*addresses);

	if (size < 3 * sizeof(*addresses) ||
	    strcmp(texts + strlen(texts) + 1, name))
		return 0;
	return addresses[2];
}

/* The address of the semaphore in the file, or 0. */
unsigned long find_semaphore(const char *file, const char *name)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	size_t strings, at = 0, next, owner, note;
	GElf_Addr found = 0;
	Elf_Scn *section = NULL;
	Elf_Data *data = NULL;
	GElf_Shdr header;
	GElf_Nhdr head;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getshdrstrndx(elf, &strings))
		give_up("%s is no program", file);
	while (!data && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    !strcmp(elf_strptr(elf, strings, header.sh_name),
			    ".note.stapsdt"))
			data = elf_getdata(section, NULL);
	}
	while (data && !found &&
	       (next = gelf_getnote(data, at, &head, &owner, &note))) {
		found = semaphore_of((char *)data->d_buf + note, head.n_descsz,
				     name);
		at = next;
	}
	elf_end(elf);
	close(fd);
	return found;
}

/* Returns -1 until the process runs the program. */
int read_semaphore(pid_t pid, unsigned long at)
{
	unsigned short value;
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = pread(fd, &value, sizeof(value), at);
	close(fd);
	return got == sizeof(value) ? value : -1;
}

/* Wait up to 10 s until the semaphore has this value. */
bool semaphore_becomes(pid_t pid, unsigned long at, int value)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (read_semaphore(pid, at) == value)
			return true;
		usleep(100000);
	}
	return false;
}
