# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the tables of the members of structures
#
# Usage: awk -f values.awk -f structs.awk -f sets.awk -f fields.awk [VALUES...]
#	tables/*.tbl
# Writes fields.h, which structs.c includes.

BEGIN {
	# Types of members without ":", and those with an argument after it.
	split("d u x o dev mode id pid fd signal time str bytes sigset be16 be32 " \
	      "inaddr in6addr addr cstr xstr", words)
	for (i in words)
		simple[words[i]]
}

# The initializer of a test, for "MEMBER", "!MEMBER", "MEMBER&MASK",
# "MEMBER==VALUE", "MEMBER!=VALUE" or "MEMBER&MASK==VALUE" of layout I.
function test(i, text,	name, mask, compare, negate) {
	negate = "false"
	if (sub(/^!/, "", text))
		negate = "true"
	mask = "~0ULL"
	compare = ""
	if (match(text, /[!=]=/)) {
		compare = substr(text, RSTART + 2)
		if (substr(text, RSTART, 1) == "=")
			negate = "false"
		else
			negate = "true"
		text = substr(text, 1, RSTART - 1)
	} else {
		negate = negate == "true" ? "false" : "true"
	}
	if (match(text, /&/)) {
		mask = substr(text, RSTART + 1)
		text = substr(text, 1, RSTART - 1)
	}
	return "\t{\n\t\t.at = " each_abi(offset(ctype[i], text), layout_abi[i]) \
		",\n\t\t.size = " each_abi(size_of(ctype[i], text), layout_abi[i]) \
		",\n\t\t.mask = " each_abi(mask) \
		",\n\t\t.value = " each_abi(compare == "" ? "0" : compare) \
		",\n\t\t.negate = " negate ",\n\t},\n"
}

# Report an error in the line of member J of layout I.
function wrong(i, j, message) {
	complain(layout_file[i], member_line[i, j], message)
}

# The members of struct member for a type WORD of member J of layout I.
function member_type(i, j, word,	kind, of, count) {
	if (word in simple)
		return "MEMBER_" toupper(word)
	kind = word
	sub(/:.*/, "", kind)
	of = substr(word, length(kind) + 2)
	if (kind == "flags") {
		note_set(of)
		return "MEMBER_FLAGS,\n\t\t.of = UTRACE_FLAGS_" toupper(of)
	}
	if (kind == "hook")
		return "MEMBER_HOOK,\n\t\t.hook = hook_" of
	if (kind == "array" && (of in simple || of ~ /^(flags|struct):/))
		return "MEMBER_ARRAY,\n\t\t.elements = " member_type(i, j, of) \
			",\n\t\t.element = " each_abi("sizeof(((" ctype[i] \
			" *)0)->" member[i, j] "[0])", layout_abi[i])
	if (kind == "in" || kind == "after") {
		sub(/[*@=].*/, "", of)
		if (of ~ /^(bytes|string|sockaddr)$/)
			return "MEMBER_" toupper(of) "_POINTER"
		if (of in layout)
			return "MEMBER_POINTER,\n\t\t.of = " layout[of]
	}
	if (kind == "struct" && of in layout)
		return "MEMBER_STRUCT,\n\t\t.of = " layout[of]
	wrong(i, j, "'" word "' is not a type of members")
	return "MEMBER_X"
}

# Add member J of layout I.
function add_field(i, j,	name, text, n, words, k, flags, test_number) {
	name = member[i, j]
	sub(/.*[.]/, "", name)
	n = split(options[i, j], words, " ")
	flags = type[i, j] ~ /^(in|after):[^@]*[*=]/ ? " | MEMBER_MANY" : ""
	if (type[i, j] ~ /^after:/)
		flags = flags " | MEMBER_AFTER"
	for (k = 1; k <= n; k++) {
		if (words[k] == "v") {
			flags = flags " | MEMBER_VERBOSE"
		} else if (words[k] == "v...") {
			flags = flags " | MEMBER_VERBOSE | MEMBER_DOTS"
		} else if (words[k] == "nz") {
			flags = flags " | MEMBER_NONZERO"
		} else if (words[k] == "or_v") {
			flags = flags " | MEMBER_OR_VERBOSE"
		} else if (words[k] == "out") {
			flags = flags " | MEMBER_OUT"
		} else if (words[k] == "more") {
			flags = flags " | MEMBER_MORE"
		} else if (words[k] == "bare") {
			flags = flags " | MEMBER_BARE"
		} else if (words[k] ~ /^name=/) {
			name = substr(words[k], 6)
		} else if (words[k] ~ /^hook=/) {
			text = text ",\n\t\t.hook = hook_" substr(words[k], 6)
		} else if (words[k] ~ /^nsec=/) {
			text = text ",\n\t\t.nsec_at = " each_abi(offset( \
				ctype[i], substr(words[k], 6)), layout_abi[i])
		} else if (words[k] ~ /^count=/) {
			text = text ",\n\t\t.count_at = " each_abi(offset( \
				ctype[i], substr(words[k], 7)), layout_abi[i]) \
				",\n\t\t.count_size = " each_abi(size_of( \
				ctype[i], substr(words[k], 7)), layout_abi[i]) \
				",\n\t\t.count_signed = " each_abi( \
				"(__typeof__(((" ctype[i] " *)0)->" \
				substr(words[k], 7) "))-1 < 0", layout_abi[i])
		} else if (words[k] ~ /^if=/) {
			tests = tests test(i, substr(words[k], 4))
			text = text ",\n\t\t.test = " ++ntests
		} else {
			wrong(i, j, "'" words[k] "' is not an option of members")
		}
	}
	fields = fields "\t{\n\t\t.name = \"" name "\",\n\t\t.name_len = " \
		length(name) ",\n\t\t.type = " member_type(i, j, type[i, j]) \
		",\n\t\t.at = " \
		each_abi(offset(ctype[i], member[i, j]), layout_abi[i]) \
		",\n\t\t.size = " \
		each_abi(type[i, j] ~ /^after:/ ? "0" : \
			 size_of(ctype[i], member[i, j]), layout_abi[i]) \
		",\n\t\t.flags = 0" flags text ",\n\t},\n"
	nfields++
}

function add_structure(i,	j, first, n, words, k, text) {
	first = nfields + 0
	for (j = 0; j < nmembers[i]; j++)
		add_field(i, j)
	n = split(layout_options[i], words, " ")
	for (k = 1; k <= n; k++) {
		if (words[k] ~ /^hook=/)
			text = text ",\n\t\t.hook = whole_" substr(words[k], 6)
		else if (words[k] ~ /^(brackets|part|paths)$/)
			text = text ",\n\t\t." words[k] " = true"
		else if (words[k] == "buffers" || words[k] ~ /^limit=/)
			continue
		else
			complain(layout_file[i], layout_line[i], "'" words[k] \
				 "' is not an option of structures")
	}
	structures = structures "\t[" i "] = {\n\t\t.name = \"" layout_name[i] \
		"\",\n\t\t.first = " first ",\n\t\t.n = " nmembers[i] text \
		",\n\t},\n"
}

END {
	if (failed)
		exit 1
	for (i = 0; i < nlayouts; i++)
		add_structure(i)
	if (failed)
		exit 1
	if (query) {
		write_query()
		exit
	}
	print "/* Made by fields.awk, do not edit. */"
	print "static const struct test tests[] = {\n" tests "};\n"
	print "static const struct member members[] = {\n" fields "};\n"
	print "static const struct structure structures[] = {\n" structures "};"
}
