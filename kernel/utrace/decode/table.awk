#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the rows of the tables of system calls
#
# Usage: table.awk args.tbl syscall_64.tbl syscall_32.tbl
# Writes rows.h, which table.c includes. Names and numbers of the calls come
# from the two tables of the kernel, the types of their arguments from args.tbl.

BEGIN {
	split("hex addr int long size octal fd dfd signal path string argv", words)
	for (i in words)
		plain[words[i]] = "UTRACE_ARG_" toupper(words[i])
	memory["in"] = "UTRACE_ARG_IN"
	memory["out"] = "UTRACE_ARG_OUT"
	memory["iov"] = "UTRACE_ARG_IN_IOVEC"
	memory["outiov"] = "UTRACE_ARG_OUT_IOVEC"
	memory["sockaddr"] = "UTRACE_ARG_SOCKADDR"
	memory["outsockaddr"] = "UTRACE_ARG_OUT_SOCKADDR"
}

# Report an error, which makes END fail.
function complain(file, number, message) {
	printf "%s:%d: %s\n", file, number, message > "/dev/stderr"
	failed = 1
}

function malformed(message) {
	complain(FILENAME, FNR, message)
	exit
}

# The member len of struct utrace_arg for TYPE, where FROM ("@1", "@ret", "=8")
# specifies the length. The call has NARGS arguments.
function length_of(type, from, nargs) {
	if (from ~ /^@[0-9]$/ && substr(from, 2) + 0 < nargs)
		return substr(from, 2)
	if (type == "out" && from == "@ret")
		return "UTRACE_LEN_RESULT"
	if (type ~ /^(in|out)$/ && from ~ /^=[1-9][0-9]*$/ &&
	    substr(from, 2) + 0 < 128)
		return "UTRACE_LEN_FIXED | " substr(from, 2)
	malformed("'" from "' cannot be the length of an argument of type '" type "'")
}

# The initializer of struct utrace_arg for WORD, one type in args.tbl.
function argument(word, nargs,	type) {
	if (word in plain)
		return "{ " plain[word] " }"
	if (word ~ /^flags:[a-z_]+$/)
		return "{ UTRACE_ARG_FLAGS, UTRACE_FLAGS_" \
			toupper(substr(word, 7)) " }"
	type = word
	sub(/[@=].*/, "", type)
	if (type == word || !(type in memory))
		malformed("'" word "' is not a type of arguments")
	return "{ " memory[type] ", " \
		length_of(type, substr(word, length(type) + 1), nargs) " }"
}

# All members of struct utrace_call but the name, from the current line.
function members(	nargs, result, text, i) {
	nargs = NF - 1
	result = "long"
	if (nargs > 1 && $(NF - 1) == "->") {
		result = $NF
		nargs -= 2
	}
	if (!(result in plain))
		malformed("'" result "' is not a type of results")
	if (nargs > 6)
		malformed("a call has 6 arguments at most")
	for (i = 1; i <= nargs; i++)
		text = text "\n\t\t\t" argument($(i + 1), nargs) ","
	if (nargs)
		text = "\n\t\t.arg = {" text "\n\t\t},"
	return "\n\t\t.nargs = " nargs ",\n\t\t.known = true," \
		"\n\t\t.result = " plain[result] "," text
}

FNR == 1	{ file++ }
		{ sub(/#.*/, "") }
NF == 0		{ next }

file == 1 {
	if ($1 in row)
		malformed("'" $1 "' is here twice")
	row[$1] = members()
	line[$1] = FNR
	args_file = FILENAME
	next
}

NF < 3 || $1 !~ /^[0-9]+$/ { malformed("not a line of a table of system calls") }

file == 2 && $2 !~ /^(64|common|x32)$/ { next }

{
	name[file, $1 + 0] = $3
	abi[file, $1 + 0] = $2
	there[$3]
	there[$2 "/" $3]
	if ($1 > last[file] + 0)
		last[file] = $1 + 0
}

# Print the rows of the table that was read as file number FILE. A line of
# args.tbl for the ABI of the call takes precedence over the line for all ABIs.
function write_rows(file,	nr, own) {
	for (nr = 0; nr <= last[file]; nr++) {
		if (!((file, nr) in name))
			continue
		own = abi[file, nr] "/" name[file, nr]
		printf "\t[%d] = {\n\t\t.name = \"%s\",\n" \
			"\t\t.name_len = %d,%s\n\t},\n", nr,
			name[file, nr], length(name[file, nr]),
			own in row ? row[own] : row[name[file, nr]]
	}
}

END {
	if (failed)
		exit 1
	for (call in line)
		if (!(call in there))
			complain(args_file, line[call],
				 "there is no system call '" call "'")
	if (failed)
		exit 1
	print "/* Made by table.awk, do not edit. */"
	print "static const struct utrace_call native_calls[] = {"
	write_rows(2)
	print "};\n\n#ifdef CONFIG_IA32_EMULATION"
	print "static const struct utrace_call ia32_calls[] = {"
	write_rows(3)
	print "};\n#endif"
}
