/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - fields of the records of a user_event
 */
#ifndef UTRACE_MARKER_USER_FORMAT_H
#define UTRACE_MARKER_USER_FORMAT_H

#include <stdbool.h>

#include <linux/types.h>

struct user_format;
struct user_variant;
struct utrace_rec_user_event;

/* Called for each field, with a text such as "u32 count". */
typedef void user_field_function(const char *text, void *data);

struct user_format *user_format_read(const char *name);
struct user_format *user_format_read_event(const char *event);
void user_format_free(struct user_format *format);
void user_format_fields(const struct user_format *format,
			user_field_function *function, void *data);

const struct user_variant *
user_format_choose(const struct user_format *format,
		   const struct utrace_rec_user_event *rec);
const char *user_variant_text(const struct user_variant *variant,
			      const struct utrace_rec_user_event *rec);
const char *user_variant_name(const struct user_variant *variant,
			      unsigned int n);
bool user_variant_number(const struct user_variant *variant,
			 const struct utrace_rec_user_event *rec,
			 unsigned int n, __u64 *value, bool *is_signed);

#endif /* UTRACE_MARKER_USER_FORMAT_H */
