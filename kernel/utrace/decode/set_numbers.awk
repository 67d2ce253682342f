# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the numbers of the sets of names
#
# Usage: awk -v query=1 -f values.awk -f sets.awk -f set_numbers.awk tables/*.tbl
# Writes sets.h.

END {
	if (failed)
		exit 1
	print "/* Made by set_numbers.awk, do not edit. */\n" sets_enum()
}
