// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - arguments of markers
 *
 * The note of a marker has its arguments in assembler syntax, with their sizes:
 * "-4@%eax 8@16(%rsp) 4@$1".
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/perf_regs.h>
#include <linux/array_size.h>

#include "args.h"
#include "lib/memory.h"

/* The names of registers and of their lower parts. */
static const char *const registers[][4] = {
	[PERF_REG_X86_AX] = { "rax", "eax", "ax", "al" },
	[PERF_REG_X86_BX] = { "rbx", "ebx", "bx", "bl" },
	[PERF_REG_X86_CX] = { "rcx", "ecx", "cx", "cl" },
	[PERF_REG_X86_DX] = { "rdx", "edx", "dx", "dl" },
	[PERF_REG_X86_SI] = { "rsi", "esi", "si", "sil" },
	[PERF_REG_X86_DI] = { "rdi", "edi", "di", "dil" },
	[PERF_REG_X86_BP] = { "rbp", "ebp", "bp", "bpl" },
	[PERF_REG_X86_SP] = { "rsp", "esp", "sp", "spl" },
	[PERF_REG_X86_R8] = { "r8", "r8d", "r8w", "r8b" },
	[PERF_REG_X86_R9] = { "r9", "r9d", "r9w", "r9b" },
	[PERF_REG_X86_R10] = { "r10", "r10d", "r10w", "r10b" },
	[PERF_REG_X86_R11] = { "r11", "r11d", "r11w", "r11b" },
	[PERF_REG_X86_R12] = { "r12", "r12d", "r12w", "r12b" },
	[PERF_REG_X86_R13] = { "r13", "r13d", "r13w", "r13b" },
	[PERF_REG_X86_R14] = { "r14", "r14d", "r14w", "r14b" },
	[PERF_REG_X86_R15] = { "r15", "r15d", "r15w", "r15b" },
};

static const struct utrace_marker_arg nowhere = {
	.size = sizeof(__u64),
	.kind = UTRACE_ARG_CONST,
	.reg = UTRACE_ARG_NO_REG,
	.index = UTRACE_ARG_NO_REG,
};

/* Parse a number at @at.  Returns false if there is none. */
static bool take_number(const char **at, __s64 *number)
{
	char *end;

	if (!isdigit((unsigned char)(*at)[**at == '-' || **at == '+']))
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 0);
	*at = end;
	return !errno;
}

static bool is_name(const char *name, const char *text, size_t n)
{
	return name && strlen(name) == n && !strncmp(name, text, n);
}

/*
 * Parse a register at @at.  The size of the argument counts, not which part of
 * the register is named.  Returns whether the kernel can read the register.
 */
static bool take_register(const char **at, __u8 *number)
{
	size_t n, i, part;
	const char *name;

	if (**at != '%')
		return false;
	name = *at + 1;
	n = strcspn(name, "(),");
	*at = name + n;
	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		for (part = 0; part < ARRAY_SIZE(registers[i]); part++) {
			if (is_name(registers[i][part], name, n)) {
				*number = i;
				return true;
			}
		}
	}
	return false;
}

/* Parse an index and its scale, as ",%rcx,8". */
static bool take_index(const char **at, struct utrace_marker_arg *where)
{
	__s64 scale = 1;

	++*at;
	if (!take_register(at, &where->index))
		return false;
	if (**at == ',') {
		++*at;
		if (!take_number(at, &scale))
			return false;
	}
	where->scale = scale;
	return scale == 1 || scale == 2 || scale == 4 || scale == 8;
}

/* Parse a memory operand, as "16(%rsp)", "(%rax)" or "-8(%rbp,%rcx,4)". */
static bool parse_memory(struct utrace_marker_arg *where, const char *at)
{
	where->kind = UTRACE_ARG_MEM;
	if (*at != '(' && !take_number(&at, &where->disp))
		return false;
	if (*at++ != '(')
		return false;
	if (*at == '%' && !take_register(&at, &where->reg))
		return false;
	if (*at == ',' && !take_index(&at, where))
		return false;
	return !strcmp(at, ")") && (where->reg != UTRACE_ARG_NO_REG ||
				    where->index != UTRACE_ARG_NO_REG);
}

static bool parse_place(struct utrace_marker_arg *where, const char *at)
{
	if (*at == '$') {
		at++;
		return take_number(&at, &where->disp) && !*at;
	}
	if (*at != '%')
		return parse_memory(where, at);
	where->kind = UTRACE_ARG_REG;
	return take_register(&at, &where->reg) && !*at;
}

static bool is_size(long size)
{
	switch (size) {
	case 1: case 2: case 4: case 8:
	case -1: case -2: case -4: case -8:
		return true;
	default:
		return false;
	}
}

/* Return an argument of @size bytes; the caller fills in its place. */
static struct marker_arg new_arg(long size, bool is_float)
{
	struct marker_arg arg = { .where = nowhere, .type = "?" };

	if (!is_size(size))
		return arg;
	arg.where.size = size;
	arg.known = !is_float;
	snprintf(arg.type, sizeof(arg.type), "%c%u",
		 is_float ? 'f' : size < 0 ? 's' : 'u',
		 8 * (unsigned int)labs(size) % 100);
	return arg;
}

/* @size: bytes of an argument without a size. */
static struct marker_arg parse_arg(const char *text, long size)
{
	bool is_float = false;
	struct marker_arg arg;
	char *end;
	long number = strtol(text, &end, 10);

	if (end != text && *end == 'f') {
		is_float = true;
		end++;
	}
	if (end != text && *end == '@') {
		size = number;
		text = end + 1;
	}
	arg = new_arg(size, is_float);
	if (arg.known && !parse_place(&arg.where, text))
		arg.known = false;
	if (!arg.known)
		arg.where = nowhere;
	return arg;
}

/**
 * marker_args_parse() - parse the arguments of a note
 * @args: filled in
 * @text: the arguments in the syntax of the note
 * @size: bytes of an address of the program
 *
 * Arguments that the kernel cannot read are not @known: floating point, and
 * memory at symbols.
 */
void marker_args_parse(struct marker_args *args, const char *text,
		       unsigned int size)
{
	char *copy = checked(strdup(text)), *rest = copy, *word;

	args->n = 0;
	while (args->n < UTRACE_MARKER_ARGS && (word = strsep(&rest, " ")))
		if (*word)
			args->arg[args->n++] = parse_arg(word, size);
	free(copy);
}

/**
 * marker_args_of_call() - get the first arguments of a function, at its entry
 * @args: filled in
 * @n: number of arguments, %MARKER_CALL_ARGS at most
 * @size: bytes of an address of the program
 *
 * All are signed integers of the size of a register.
 */
void marker_args_of_call(struct marker_args *args, unsigned int n,
			 unsigned int size)
{
	static const __u8 numbers[MARKER_CALL_ARGS] = {
		PERF_REG_X86_DI, PERF_REG_X86_SI, PERF_REG_X86_DX,
		PERF_REG_X86_CX, PERF_REG_X86_R8, PERF_REG_X86_R9,
	};
	struct utrace_marker_arg *where;
	unsigned int i;

	args->n = n;
	for (i = 0; i < n; i++) {
		args->arg[i] = new_arg(-(long)size, false);
		where = &args->arg[i].where;
		where->kind = UTRACE_ARG_REG;
		where->reg = numbers[i];
		if (size == 8)
			continue;
		/*
		 * 32-bit programs have them on the stack, after the return
		 * address.
		 */
		where->kind = UTRACE_ARG_MEM;
		where->reg = PERF_REG_X86_SP;
		where->disp = (i + 1) * size;
	}
}

/* Get the return value of a function, a signed integer, as its one argument. */
void marker_args_of_return(struct marker_args *args, unsigned int size)
{
	args->n = 1;
	args->arg[0] = new_arg(-(long)size, false);
	args->arg[0].where.kind = UTRACE_ARG_REG;
	args->arg[0].where.reg = PERF_REG_X86_AX;
}

/* Print a number with the size and the sign of the argument. */
static void print_number(const struct utrace_marker_arg *where, char *text,
			 size_t size)
{
	unsigned int rest = 64 - 8 * abs(where->size);

	if (where->size < 0)
		snprintf(text, size, "%lld",
			 (__s64)((__u64)where->disp << rest) >> rest);
	else
		snprintf(text, size, "%llu",
			 (__u64)where->disp << rest >> rest);
}

/* Return the name of a register, or NULL if there is no such register. */
const char *marker_register(unsigned int number)
{
	return number < ARRAY_SIZE(registers) ? registers[number][0] : NULL;
}

/**
 * marker_arg_place() - print the place of an argument
 * @arg: the argument
 * @text: set to "7", "rax", "[rsp+16]", or "?" if it is not known
 * @size: bytes of @text
 */
void marker_arg_place(const struct marker_arg *arg, char *text, size_t size)
{
	const struct utrace_marker_arg *where = &arg->where;
	const char *base = "", *plus = "", *index = "";
	char scale[8] = "", disp[24] = "";

	if (where->reg != UTRACE_ARG_NO_REG)
		base = registers[where->reg][0];
	if (where->index != UTRACE_ARG_NO_REG) {
		plus = *base ? "+" : "";
		index = registers[where->index][0];
		if (where->scale > 1)
			snprintf(scale, sizeof(scale), "*%u", where->scale);
	}
	if (where->disp)
		snprintf(disp, sizeof(disp), "%+lld", where->disp);
	if (!arg->known)
		snprintf(text, size, "?");
	else if (where->kind == UTRACE_ARG_CONST)
		print_number(where, text, size);
	else if (where->kind == UTRACE_ARG_REG)
		snprintf(text, size, "%s", base);
	else
		snprintf(text, size, "[%s%s%s%s%s]", base, plus, index, scale,
			 disp);
}
