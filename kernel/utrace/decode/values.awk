# SPDX-License-Identifier: GPL-2.0
#
# utrace - sizes, offsets and constants of three ABIs for generated tables
#
# Only a compiler knows these numbers.  So a script that uses this file runs
# twice for the same output:
#
# -v header=	is the header with the types and constants.
# -v query=1	writes a C file whose array "values" has all numbers that the
#		output needs.  It is compiled for each ABI.
# else		writes the output.  The first three input files are the values
#		for the native ABI, for 32-bit programs and for x32, as
#		"objcopy -O binary -j .values" and "od -An -tx8 -v -w8" write
#		them: one number a line, in the order of the query.

# Report an error, which makes the script fail at its end.
function complain(file, number, message) {
	printf "%s:%d: %s\n", file, number, message > "/dev/stderr"
	failed = 1
}

function malformed(message) {
	complain(FILENAME, FNR, message)
	exit
}

# The initializer of an array with the value of a C EXPRESSION in each ABI. With
# ABI ("i386", "x86_64" or "x32") the others do not have it; their value is 0.
function each_abi(expression, abi,	guard) {
	nvalues++
	if (!query)
		return "{ " value[1, nvalues] ", " value[2, nvalues] ", " \
			value[3, nvalues] " }"
	guard["i386"] = "defined(__i386__)"
	guard["x32"] = "defined(__x86_64__) && defined(__ILP32__)"
	guard["x86_64"] = "defined(__x86_64__) && !defined(__ILP32__)"
	if (abi == "")
		asked = asked "\t" expression ",\n"
	else
		asked = asked "#if " guard[abi] "\n\t" expression \
			",\n#else\n\t0,\n#endif\n"
	return "{ 0 }"
}

# The value of an EXPRESSION in one ABI, 1 to 3, that each_abi() was called for
# last.
function last_value(abi) {
	return query ? "0x" nvalues : value[abi, nvalues]
}

function offset(type, member) {
	return "__builtin_offsetof(" type ", " member ")"
}

function size_of(type, member) {
	return "sizeof(((" type " *)0)->" member ")"
}

# Write the query instead of the output.
function write_query() {
	printf "#include <" header ">\n\nconst long long values[]\n" \
		"\t__attribute__((section(\".values\"))) = {\n%s};\n", asked
}

FNR == 1	{ file++ }

!query && file <= 3 {
	sub(/^ *0*/, "0x")
	if ($1 == "0x")
		$1 = "0x0"
	value[file, FNR] = $1
	next
}
