# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the names of the bits and values of arguments
#
# Usage: awk -v who=kernel -f values.awk -f sets.awk -f set_names.awk [VALUES...]
#	NAMES tables/*.tbl
# Writes set_names.h, which flags.c includes. With who=kernel only the sets marked
# "kernel" have names.

END {
	if (failed)
		exit 1
	for (i = 0; i < nsets; i++)
		if (who != "kernel" || (i, "kernel") in set_option)
			rows = rows make_set(i)
	if (failed)
		exit 1
	if (query) {
		write_query()
		exit
	}
	print "/* Made by set_names.awk, do not edit. */"
	print arrays "static const struct flag_set flag_sets[" \
		(who == "kernel" ? "UTRACE_KERNEL_FLAG_SETS" : \
				   "UTRACE_FLAG_SETS") "] = {"
	print rows "};"
}
