// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command on ptrace(2): the items of a record
 *
 * Does what kernel/utrace/dev/record.c does with a capture, with its sizes.
 */
#include "capture/capture.h"
#include "decode/items.h"

/* As in kernel/utrace/dev/record.h. */
#define CAPTURE_SIZE	(UTRACE_CAPTURE_SIZE - sizeof(struct utrace_item))
#define CAPTURE_MOST	(SZ_1K * 15 - sizeof(struct utrace_item))

static struct utrace_capture capture_of(const struct capture_choice *choice)
{
	size_t strings = choice->strings ?: UTRACE_ITEM_SIZE;
	size_t buffers = choice->buffers ?: UTRACE_ITEM_SIZE;
	bool large = max(strings, buffers) > UTRACE_ITEM_SIZE;

	return (struct utrace_capture){
		.size = CAPTURE_SIZE,
		.most = large ? CAPTURE_MOST : CAPTURE_SIZE,
		.strings = strings,
		.buffers = buffers,
	};
}

/* Append an item that says how many are missing. */
static void count_missing(struct captured *to, unsigned int lost)
{
	struct utrace_item missing = {
		.kind = UTRACE_ITEM_MISSING,
		.arg = UTRACE_ITEM_NO_ARG,
		.whole = lost,
	};

	to->data = realloc(to->data, to->size + sizeof(missing));
	memcpy(to->data + to->size, &missing, sizeof(missing));
	to->size += sizeof(missing);
	to->flags |= UTRACE_REC_F_INCOMPLETE;
}

static void describe(struct captured *to, struct utrace_capture *c)
{
	const struct utrace_item *item = NULL;

	*to = (struct captured){ .data = c->data, .size = c->used };
	while ((item = utrace_item_next(c->data, c->used, item))) {
		if (item->flags & UTRACE_ITEM_F_TRUNCATED)
			to->flags |= UTRACE_REC_F_TRUNCATED;
		if (item->flags & UTRACE_ITEM_F_FAULTED)
			to->flags |= UTRACE_REC_F_FAULTED;
	}
	if (c->lost)
		count_missing(to, c->lost);
}

void captured_entry(struct captured *to, const struct capture_choice *choice,
		    unsigned int nr, const unsigned long args[6])
{
	struct utrace_capture c = capture_of(choice);

	utrace_capture_call(&c, nr, args, choice->what);
	utrace_capture_stacks(&c, NULL, choice->what);
	describe(to, &c);
}

void captured_exit(struct captured *to, const struct capture_choice *choice,
		   unsigned int nr, const unsigned long args[6], long result)
{
	struct utrace_capture c = capture_of(choice);

	utrace_capture_result(&c, nr, args, result, choice->what);
	describe(to, &c);
}

void captured_program(struct captured *to, const struct capture_choice *choice)
{
	struct utrace_capture c = capture_of(choice);

	utrace_capture_program(&c, NULL);
	describe(to, &c);
}

void captured_free(struct captured *captured)
{
	free(captured->data);
}
