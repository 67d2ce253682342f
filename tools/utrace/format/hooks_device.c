// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures of ioctl() for devices
 */
#include <linux/gpio.h>
#include <linux/rtc.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "sets.h"

/* The parameter of a clock decides what its value is. */
void hook_rtc_value(const struct element *e, const struct member *m)
{
	__u64 value = element_number(e, m), param = element_named(e, "param");

	if (param == RTC_PARAM_CORRECTION) {
		utrace_write_literal(e->s, "svalue=");
		utrace_write_signed(e->s, value);
		return;
	}
	utrace_write_literal(e->s, "uvalue=");
	if (param == RTC_PARAM_FEATURES)
		utrace_print_flags(e->s, UTRACE_FLAGS_RTC_FEATURES, value);
	else if (param == RTC_PARAM_BACKUP_SWITCH_MODE)
		utrace_print_flags(e->s, UTRACE_FLAGS_RTC_BACKUP, value);
	else
		utrace_print_hex(e->s, value);
}

/* PERF_EVENT_IOC_QUERY_BPF: the call writes all members but the first. */
void whole_perf_query(const struct element *e)
{
	struct element before;

	element_before(e, &before);
	utrace_write_char(e->s, '{');
	element_print_member(&before, element_member(e, "ids_len"));
	utrace_write_literal(e->s, ", ");
	if (e->item->flags & UTRACE_ITEM_F_OUT)
		element_print_answer(e);
	else
		utrace_write_literal(e->s, "...");
	utrace_write_char(e->s, '}');
}

/* The features of a CPU of KVM are many. */
void hook_cpuid_entries(const struct element *e, const struct member *m)
{
	if (element_named(e, "nent") && !e->items->verbose)
		utrace_write_literal(e->s, "[...]");
	else
		element_print_plain(e, m);
}

/*
 * The member of an attribute of GPIO lines that its number chooses, or NULL.  The
 * members are in the order of the numbers.
 */
static const struct member *gpio_attr_value(const struct element *attr)
{
	__u64 id = element_named(attr, "id");

	if (element_named(attr, "padding") || id < GPIO_V2_LINE_ATTR_ID_FLAGS ||
	    id > GPIO_V2_LINE_ATTR_ID_DEBOUNCE)
		return NULL;
	return element_nth(attr, id - GPIO_V2_LINE_ATTR_ID_FLAGS);
}

void whole_gpio_attr(const struct element *e)
{
	const struct member *m = gpio_attr_value(e);

	utrace_write_char(e->s, '{');
	if (m) {
		element_print_member(e, m);
	} else {
		element_print_member(e, element_member(e, "id"));
		utrace_write_literal(e->s, ", ");
		m = element_member(e, "padding");
		if (element_is_there(e, m)) {
			element_print_member(e, m);
			utrace_write_literal(e->s, ", ");
		}
		element_print_member(e, element_member(e, "data"));
	}
	utrace_write_char(e->s, '}');
}

/* An attribute that is known is printed without braces of its own. */
void whole_gpio_config_attr(const struct element *e)
{
	const struct member *m;
	struct element attr;

	element_of(&attr, e, "gpio_attr", e->data, e->len);
	m = gpio_attr_value(&attr);
	utrace_write_char(e->s, '{');
	element_print_member(m ? &attr : e, m ?: element_member(e, "attr"));
	utrace_write_literal(e->s, ", ");
	element_print_member(e, element_member(e, "mask"));
	utrace_write_char(e->s, '}');
}

/* An offset and a length in an array of arrays. */
void whole_oob_part(const struct element *e)
{
	utrace_write_char(e->s, '[');
	element_print_members(e);
	utrace_write_char(e->s, ']');
}

/* The call writes the number of the device or volume, which comes first. */
void whole_ubi_numbered(const struct element *e)
{
	struct element before;
	bool answered = element_before(e, &before);

	element_print_whole(&before);
	if (!answered)
		return;
	utrace_write_literal(e->s, " => [");
	element_print_plain(e, element_nth(e, 0));
	utrace_write_char(e->s, ']');
}
