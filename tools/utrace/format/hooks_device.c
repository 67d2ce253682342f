// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures of ioctl() for devices
 */
#include <linux/array_size.h>
#include <linux/dm-ioctl.h>
#include <linux/gpio.h>
#include <linux/ioctl.h>
#include <linux/ptp_clock.h>
#include <linux/rtc.h>
#include <linux/seq_buf.h>
#include <linux/tee.h>

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

/* Device mapper */

/* What a command of the device mapper uses. */
#define DM_START	0x01	/* where the data are */
#define DM_DEVICE	0x02	/* the number or the names of a device */
#define DM_COUNT	0x04	/* the number of targets, whose data follow */
#define DM_EVENT	0x08	/* the number of an event, or a cookie */
#define DM_DATA		0x10	/* data that follow */
#define DM_STATE	0x20	/* it returns the state of the device */
#define DM_ANSWER	0x40	/* it returns data */

static const unsigned char dm_uses[] = {
	[_IOC_NR(DM_VERSION)] = DM_DEVICE,
	[_IOC_NR(DM_REMOVE_ALL)] = 0,
	[_IOC_NR(DM_LIST_DEVICES)] = DM_START | DM_ANSWER,
	[_IOC_NR(DM_DEV_CREATE)] = DM_DEVICE | DM_STATE,
	[_IOC_NR(DM_DEV_REMOVE)] = DM_DEVICE | DM_EVENT,
	[_IOC_NR(DM_DEV_RENAME)] = DM_START | DM_DEVICE | DM_EVENT | DM_DATA | DM_STATE,
	[_IOC_NR(DM_DEV_SUSPEND)] = DM_DEVICE | DM_EVENT | DM_STATE,
	[_IOC_NR(DM_DEV_STATUS)] = DM_DEVICE | DM_STATE,
	[_IOC_NR(DM_DEV_WAIT)] = DM_START | DM_DEVICE | DM_EVENT | DM_STATE,
	[_IOC_NR(DM_TABLE_LOAD)] = DM_START | DM_DEVICE | DM_COUNT | DM_STATE,
	[_IOC_NR(DM_TABLE_CLEAR)] = DM_DEVICE | DM_STATE,
	[_IOC_NR(DM_TABLE_DEPS)] = DM_START | DM_DEVICE | DM_STATE | DM_ANSWER,
	[_IOC_NR(DM_TABLE_STATUS)] = DM_START | DM_DEVICE | DM_STATE,
	[_IOC_NR(DM_LIST_VERSIONS)] = DM_START | DM_ANSWER,
	[_IOC_NR(DM_TARGET_MSG)] = DM_START | DM_DEVICE | DM_DATA | DM_STATE,
	[_IOC_NR(DM_DEV_SET_GEOMETRY)] = DM_START | DM_DEVICE | DM_DATA,
	[_IOC_NR(DM_DEV_ARM_POLL)] = DM_DEVICE,
};

/* Print a member unless it is a text without a character. */
static void print_next(const struct element *e, const char *name)
{
	const struct member *m = element_member(e, name);

	if (!element_is_there(e, m) ||
	    (m->type == MEMBER_CSTR && !e->data[m->at[e->abi]]))
		return;
	utrace_write_literal(e->s, ", ");
	element_print_member(e, m);
}

/* Print the members that are in @uses; @state: and those of the state. */
static void print_dm(const struct element *e, unsigned int uses, bool state)
{
	utrace_write_literal(e->s, "[{");
	element_print_member(e, element_member(e, "version"));
	if ((__u32)element_named(e, "version") != DM_VERSION_MAJOR) {
		utrace_write_literal(e->s,
				     " /* unsupported device mapper ABI version */}]");
		return;
	}
	print_next(e, "data_size");
	if (element_named(e, "data_size") < element_size(e)) {
		utrace_write_literal(e->s, " /* data_size too small */}]");
		return;
	}
	if (uses & DM_START)
		print_next(e, "data_start");
	if (uses & DM_DEVICE) {
		print_next(e, "dev");
		print_next(e, "name");
		print_next(e, "uuid");
	}
	if (state || uses & DM_COUNT)
		print_next(e, "target_count");
	if (state)
		print_next(e, "open_count");
	if (state || uses & DM_EVENT)
		print_next(e, "event_nr");
	print_next(e, "flags");
	utrace_write_char(e->s, '}');
	if (uses & DM_DATA || (uses & DM_COUNT && element_named(e, "target_count")))
		utrace_write_literal(e->s, ", ...");
	utrace_write_char(e->s, ']');
}

void whole_dm_head(const struct element *e)
{
	unsigned int nr = _IOC_NR(e->args[1]), uses, in = 0;
	struct element before;
	bool answered = element_before(e, &before);

	if (!element_named(&before, "data_size")) {
		structs_print_address(e->s, e->address);
		return;
	}
	uses = nr < ARRAY_SIZE(dm_uses) ? dm_uses[nr] : 0;
	if (nr == _IOC_NR(DM_DEV_SUSPEND) && element_named(&before, "flags") & DM_SUSPEND_FLAG)
		in = DM_EVENT;
	print_dm(&before, uses & ~in, false);
	if (!answered)
		return;
	utrace_write_literal(e->s, " => ");
	print_dm(e, (uses & (DM_START | DM_DEVICE)) | (uses & DM_ANSWER ? DM_DATA : 0),
		 uses & DM_STATE);
}

/* Trusted execution environments */

void hook_uuid(const struct element *e, const struct member *m)
{
	const __u8 *uuid = e->data + m->at[e->abi];
	size_t i;

	for (i = 0; i < m->size[e->abi]; i++)
		seq_buf_printf(e->s, i == 4 || i == 6 || i == 8 || i == 10 ?
			       "-%02x" : "%02x", uuid[i]);
}

/* The structure that describes a parameter of this kind. */
static const char *tee_structure(__u64 attr)
{
	switch (attr & TEE_IOCTL_PARAM_ATTR_TYPE_MASK) {
	case TEE_IOCTL_PARAM_ATTR_TYPE_VALUE_INPUT:
	case TEE_IOCTL_PARAM_ATTR_TYPE_VALUE_OUTPUT:
	case TEE_IOCTL_PARAM_ATTR_TYPE_VALUE_INOUT:
		return "tee_value";
	case TEE_IOCTL_PARAM_ATTR_TYPE_MEMREF_INPUT:
	case TEE_IOCTL_PARAM_ATTR_TYPE_MEMREF_OUTPUT:
	case TEE_IOCTL_PARAM_ATTR_TYPE_MEMREF_INOUT:
		return "tee_memory";
	default:
		return "tee_none";
	}
}

/* Print a command and the parameters behind it, if the buffer has just those. */
void whole_tee_command(const struct element *e)
{
	const struct tee_ioctl_param *params = (const void *)e->data + element_size(e);
	__u64 n = element_named(e, "num_params"), i;
	struct element param;

	if (e->item->flags & (UTRACE_ITEM_F_FAULTED | UTRACE_ITEM_F_TRUNCATED) ||
	    e->len < element_size(e) ||
	    e->len != element_size(e) + n * sizeof(*params)) {
		structs_print_address(e->s, e->address);
		return;
	}
	utrace_write_char(e->s, '{');
	element_print_members(e);
	utrace_write_literal(e->s, ", params=[");
	for (i = 0; i < n; i++) {
		if (i)
			utrace_write_literal(e->s, ", ");
		element_of(&param, e, tee_structure(params[i].attr), &params[i],
			   sizeof(*params));
		element_print(&param);
	}
	utrace_write_literal(e->s, "]}");
}

/* Clocks of the precision time protocol */

/* A structure that is printed as its members, without braces. */
void whole_members(const struct element *e)
{
	element_print_members(e);
}

void whole_ptp_date(const struct element *e)
{
	element_print_whole(e);
	structs_print_date(e->s, element_named(e, "sec"), element_named(e, "nsec"),
			   9, " /* ", " */");
}

/* The times before and after each sample. */
void hook_ptp_times(const struct element *e, const struct member *m)
{
	size_t size = sizeof(struct ptp_clock_time), i;
	__u64 n = 2 * element_named(e, "n_samples") + 1;
	const __u8 *times = e->data + m->at[e->abi];
	struct element time;

	if (n > m->size[e->abi] / size)
		n = m->size[e->abi] / size;
	utrace_write_char(e->s, '[');
	for (i = 0; i < n; i++) {
		if (i)
			utrace_write_literal(e->s, ", ");
		if (i >= e->items->most && !e->items->verbose) {
			utrace_write_literal(e->s, "...");
			break;
		}
		element_of(&time, e, "ptp_date", times + i * size, size);
		element_print(&time);
	}
	utrace_write_char(e->s, ']');
}
