# SPDX-License-Identifier: GPL-2.0
#
# utrace - the names of the system calls in syscall_64.tbl as one macro
#
# The trace events use it to print the name of a call. Their format files
# contain the names, so that tools that read binary records can print them, too.

$1 ~ /^[0-9]+$/ && $2 ~ /^(common|64)$/ {
	names = names sprintf(", \\\n\t{ %d, \"%s\" }", $1, $3)
}

END {
	print "#define UTRACE_CALL_NAMES" substr(names, 2)
}
