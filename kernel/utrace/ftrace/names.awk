# SPDX-License-Identifier: GPL-2.0
#
# The names of the system calls in syscall_64.tbl as one macro, for the trace
# events, whose formats say them to tools.

$1 ~ /^[0-9]+$/ && $2 ~ /^(common|64)$/ {
	names = names sprintf(", \\\n\t{ %d, \"%s\" }", $1, $3)
}

END {
	print "#define UTRACE_CALL_NAMES" substr(names, 2)
}
