// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - numbers of ioctl() as text
 *
 * The names are those of the kernel's headers for programs, one table for each
 * ABI. Numbers that have the size of a buffer in them are taken apart.
 */
#include <linux/array_size.h>
#include <linux/ioctl.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "ioctls.h"
#include "sets.h"

/**
 * struct ioctl_name - the names of a number of ioctl()
 * @number: the number
 * @name: its names
 */
struct ioctl_name {
	unsigned int number;
	const char *name;
};

#include "ioctl_names.h"

static const struct {
	const struct ioctl_name *names;
	size_t n;
} tables[UTRACE_ABIS] = {
	[UTRACE_ABI_NATIVE] = { native_names, ARRAY_SIZE(native_names) },
	[UTRACE_ABI_IA32] = { ia32_names, ARRAY_SIZE(ia32_names) },
	[UTRACE_ABI_X32] = { x32_names, ARRAY_SIZE(x32_names) },
};

/**
 * struct sized - numbers that contain the size of a buffer
 * @type: _IOC_TYPE() of the number
 * @direction: _IOC_DIR() of the number
 * @first: the first _IOC_NR()
 * @last: the last one
 * @set: names of _IOC_NR() from @first on, or UTRACE_FLAG_SETS
 * @size: the size is an argument of the name
 * @any: _IOC_NR() is an argument of the name, in base 10; the number may have other
 *	names, too
 * @name: the name
 */
struct sized {
	unsigned char type;
	unsigned char direction;
	unsigned char first, last;
	unsigned short set;
	bool size;
	bool any;
	const char *name;
};

#define SIZED(type, direction, nr, name)	\
	{ type, direction, nr, nr, UTRACE_FLAG_SETS, true, false, name }

#define ANY(type, direction, name)	\
	{ type, direction, 0, 0xff, UTRACE_FLAG_SETS, false, true, name }

static const struct sized sized[] = {
	SIZED('E', _IOC_READ, 0x06, "EVIOCGNAME"),
	SIZED('E', _IOC_READ, 0x07, "EVIOCGPHYS"),
	SIZED('E', _IOC_READ, 0x08, "EVIOCGUNIQ"),
	SIZED('E', _IOC_READ, 0x09, "EVIOCGPROP"),
	SIZED('E', _IOC_READ, 0x0a, "EVIOCGMTSLOTS"),
	SIZED('E', _IOC_READ, 0x18, "EVIOCGKEY"),
	SIZED('E', _IOC_READ, 0x19, "EVIOCGLED"),
	SIZED('E', _IOC_READ, 0x1a, "EVIOCGSND"),
	SIZED('E', _IOC_READ, 0x1b, "EVIOCGSW"),
	{ 'E', _IOC_READ, 0x20, 0x3f, UTRACE_FLAGS_EV, true, false, "EVIOCGBIT" },
	{ 'E', _IOC_READ, 0x40, 0x7f, UTRACE_FLAGS_EV_ABS, false, false, "EVIOCGABS" },
	{ 'E', _IOC_WRITE, 0xc0, 0xff, UTRACE_FLAGS_EV_ABS, false, false, "EVIOCSABS" },
	SIZED('H', _IOC_READ, 0x04, "HIDIOCGRAWNAME"),
	SIZED('H', _IOC_READ, 0x05, "HIDIOCGRAWPHYS"),
	SIZED('H', _IOC_READ, 0x06, "HIDIOCGNAME"),
	SIZED('H', _IOC_READ, 0x08, "HIDIOCGRAWUNIQ"),
	SIZED('H', _IOC_READ, 0x12, "HIDIOCGPHYS"),
	SIZED('H', _IOC_READ | _IOC_WRITE, 0x06, "HIDIOCSFEATURE"),
	SIZED('H', _IOC_READ | _IOC_WRITE, 0x07, "HIDIOCGFEATURE"),
	SIZED('H', _IOC_READ | _IOC_WRITE, 0x09, "HIDIOCSINPUT"),
	SIZED('H', _IOC_READ | _IOC_WRITE, 0x0a, "HIDIOCGINPUT"),
	SIZED('H', _IOC_READ | _IOC_WRITE, 0x0b, "HIDIOCSOUTPUT"),
	SIZED('H', _IOC_READ | _IOC_WRITE, 0x0c, "HIDIOCGOUTPUT"),
	ANY('M', _IOC_READ, "MIXER_READ"),
	ANY('M', _IOC_WRITE, "MIXER_WRITE"),
	SIZED('U', _IOC_READ, 0x2c, "UI_GET_SYSNAME"),
	SIZED('j', _IOC_READ, 0x13, "JSIOCGNAME"),
	SIZED('k', _IOC_WRITE, 0x00, "SPI_IOC_MESSAGE"),
};

static const char *find_name(unsigned int number, enum utrace_abi abi)
{
	const struct ioctl_name *names = tables[abi].names;
	size_t first = 0, end = tables[abi].n, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (names[middle].number == number)
			return names[middle].name;
		if (names[middle].number < number)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

static const struct sized *find_sized(unsigned int number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sized); i++)
		if (sized[i].type == _IOC_TYPE(number) &&
		    sized[i].direction == _IOC_DIR(number) &&
		    _IOC_NR(number) >= sized[i].first &&
		    _IOC_NR(number) <= sized[i].last)
			return &sized[i];
	return NULL;
}

/* Print a number by its name, also in a comment. */
static void print_number(struct seq_buf *s, unsigned int set, unsigned int number)
{
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES)
		utrace_print_flags(s, set, number);
	else if (!utrace_print_names(s, set, number))
		utrace_print_hex(s, number);
}

static void print_sized(struct seq_buf *s, const struct sized *is,
			unsigned int number)
{
	seq_buf_printf(s, "%s(", is->name);
	if (is->set != UTRACE_FLAG_SETS) {
		print_number(s, is->set, _IOC_NR(number) - is->first);
		if (is->size)
			utrace_write_literal(s, ", ");
	}
	if (is->size)
		utrace_write_decimal(s, _IOC_SIZE(number));
	if (is->any)
		utrace_write_decimal(s, _IOC_NR(number));
	utrace_write_char(s, ')');
}

/* Print the parts of a number without a name. */
static void print_parts(struct seq_buf *s, unsigned int number)
{
	static const char *const directions[] = {
		[_IOC_NONE] = "_IOC_NONE",
		[_IOC_READ] = "_IOC_READ",
		[_IOC_WRITE] = "_IOC_WRITE",
		[_IOC_READ | _IOC_WRITE] = "_IOC_READ|_IOC_WRITE",
	};

	seq_buf_printf(s, "_IOC(%s, ", directions[_IOC_DIR(number)]);
	utrace_print_hex(s, _IOC_TYPE(number));
	utrace_write_literal(s, ", ");
	utrace_print_hex(s, _IOC_NR(number));
	utrace_write_literal(s, ", ");
	utrace_print_hex(s, _IOC_SIZE(number));
	utrace_write_char(s, ')');
}

/* Check whether a number has a name. */
bool ioctl_has_name(unsigned int number, enum utrace_abi abi)
{
	return find_name(number, abi) || find_sized(number);
}

/**
 * ioctl_print() - print a number of ioctl() by its names
 * @s: the text is appended here
 * @number: the number
 * @abi: ABI of the call
 */
void ioctl_print(struct seq_buf *s, unsigned int number, enum utrace_abi abi)
{
	const struct sized *is = find_sized(number);
	const char *name;

	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES) {
		utrace_print_hex(s, number);
		if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		utrace_write_literal(s, " /* ");
	}
	name = find_name(number, abi);
	if (is && (is->any || !name))
		print_sized(s, is, number);
	if (is && is->any && name)
		utrace_write_literal(s, " or ");
	if (name)
		seq_buf_puts(s, name);
	else if (!is)
		print_parts(s, number);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(s, " */");
}
