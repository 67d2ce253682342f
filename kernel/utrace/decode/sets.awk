# SPDX-License-Identifier: GPL-2.0
#
# utrace - read the sets of names, and the names of constants from names.awk
#
# Leaves nsets, set_name[i] and set_number[name], with i from 0.  add_sets()
# makes the initializers of all sets.

BEGIN { nsets = 0 }

# Add the current line, a list of names, to the last set: its first word ("values",
# "bits" or "field"), and the others.
function add_list(	i) {
	i = nsets - 1
	list_of[i, nlists[i] + 0] = $1
	$1 = ""
	list_words[i, nlists[i] + 0] = $0
	nlists[i]++
}

FILENAME ~ /tables\/[^\/]*\.tbl$/ {
	sub(/#.*/, "")
	while (/\\$/) {
		sub(/\\$/, "")
		$0 = getline next_line > 0 ? $0 next_line : $0
	}
	if (NF == 0)
		next
	if ($0 ~ /^[^ \t]/)
		is_set = $1 == "set"
	# structs.awk takes the structures.
	if (!is_set && structures_wanted)
		add_structure_line()
	if (!is_set)
		next
	if ($1 == "set" && NF >= 2) {
		if ($2 in set_number)
			malformed("set '" $2 "' is here twice")
		set_number[$2] = nsets
		set_line[nsets] = FNR
		set_name[nsets] = $2
		for (f = 3; f <= NF; f++)
			set_option[nsets, $f] = 1
		nsets++
	} else if (/^\t/ && nsets && $1 == "zero") {
		set_zero[nsets - 1] = $2
	} else if (/^\t/ && nsets && $1 == "huge") {
		set_huge[nsets - 1] = $2
	} else if (/^\t/ && nsets && $1 == "unknown") {
		set_unknown[nsets - 1] = $2
		set_unknown_bits[nsets - 1] = $3
	} else if (/^\t/ && nsets && $1 ~ /^(values|bits|field)$/) {
		add_list()
	} else {
		malformed("not a set or a part of one")
	}
	next
}

FILENAME ~ /names$/ {
	constant[++nconstants] = $1
	next
}

# Return true if the hex number A is less than B; both begin with 0x.
function is_less(a, b) {
	return length(a) == length(b) ? a < b : length(a) < length(b)
}

# Find the names of WORDS: names, PREFIX* for all constants with a prefix, and
# -NAME or -PREFIX* for exceptions.  Names that are given come first, then the
# others by value.  Fills in chosen[] and number[], and returns how many.
function choose(i, words,	n, m, k, j, w, out, prefix, given, name, v) {
	n = split(words, w, " ")
	split("", out)
	split("", given)
	m = 0
	for (k = 1; k <= n; k++)
		if (w[k] ~ /^-/)
			out[substr(w[k], 2)]
	for (k = 1; k <= n; k++) {
		if (w[k] ~ /[*]$/ || w[k] ~ /^-/)
			continue
		given[w[k]]
		m = add_constant(m, w[k], m)
	}
	first_sorted = m
	for (k = 1; k <= n; k++) {
		if (w[k] !~ /[*]$/ || w[k] ~ /^-/)
			continue
		prefix = substr(w[k], 1, length(w[k]) - 1)
		for (j = 1; j <= nconstants; j++) {
			name = constant[j]
			if (index(name, prefix) != 1 || name in given ||
			    is_out(name, out))
				continue
			given[name]
			m = add_constant(m, name, first_sorted)
		}
	}
	return m
}

function is_out(name, out,	one) {
	if (name in out)
		return 1
	for (one in out)
		if (one ~ /[*]$/ && index(name, substr(one, 1, length(one) - 1)) == 1)
			return 1
	return 0
}

# Add a constant to the M chosen ones.  Those after the first SORTED ones are
# sorted by value.  "NAME=NUMBER" gives a name to a number that no header has.
function add_constant(m, name, sorted,	at, v) {
	gsub(/~/, " ", name)
	at = index(name, "=")
	each_abi(at ? substr(name, at + 1) : name, set_abi)
	v = last_value(set_abi == "i386" ? 2 : set_abi == "x32" ? 3 : 1)
	if (at)
		name = substr(name, 1, at - 1)
	for (at = m; at > sorted && is_less(v, number[at]); at--) {
		chosen[at + 1] = chosen[at]
		number[at + 1] = number[at]
	}
	chosen[at + 1] = name
	number[at + 1] = v
	return m + 1
}

# The array NAME of M chosen constants; for bits without 0, which ends it.
function named_array(name, m, bits,	k, text, used) {
	split("", used)
	text = "static const struct named " name "[] = {\n"
	for (k = 1; k <= m; k++) {
		if ((bits && number[k] == "0x0") || number[k] in used)
			continue
		used[number[k]]
		text = text "\t{ " number[k] ", " length(chosen[k]) ", \"" \
			chosen[k] "\" },\n"
	}
	return text "\t{}\n};\n\n"
}

# Make set I: its arrays and its row.
function make_set(i,	k, kind, words, mask, row_text, name, unknown, n, members) {
	set_abi = (i, "i386") in set_option ? "i386" : \
		(i, "x32") in set_option ? "x32" : ""
	row_text = ""
	for (k = 0; k < nlists[i] + 0; k++) {
		kind = list_of[i, k]
		words = list_words[i, k]
		mask = "~0ULL"
		if (kind == "field") {
			match(words, /[^ ]+/)
			each_abi(substr(words, RSTART, RLENGTH))
			mask = last_value(1)
			words = substr(words, RSTART + RLENGTH)
		}
		name = "set_" set_name[i] "_" (kind == "bits" ? "bits" : "values")
		arrays = arrays named_array(name, choose(i, words), kind == "bits")
		if (kind == "bits")
			row_text = row_text ", .bits = " name
		else
			row_text = row_text ", .mask = " mask ", .values = " name
	}
	if (i in set_zero)
		row_text = row_text ", .zero = \"" set_zero[i] "\""
	if (i in set_huge)
		row_text = row_text ", .huge = \"" set_huge[i] "\""
	if (i in set_unknown)
		row_text = row_text ", .unknown = \"" set_unknown[i] "\""
	if (set_unknown_bits[i] != "")
		row_text = row_text ", .unknown_bits = \"" set_unknown_bits[i] "\""
	n = split("named apart number hex permissions wide", members, " ")
	for (k = 1; k <= n; k++)
		if ((i, members[k]) in set_option)
			row_text = row_text ", ." members[k] " = true"
	if ((i, "signed") in set_option)
		row_text = row_text ", .decimal = true"
	return "\t[UTRACE_FLAGS_" toupper(set_name[i]) "] = { " \
		substr(row_text, 3) " },\n"
}

# The enum of all sets. Those of the kernel come first, so that its array is short.
function sets_enum(	i, own, text) {
	for (i = 0; i < nsets; i++) {
		if ((i, "kernel") in set_option)
			own = own "\tUTRACE_FLAGS_" toupper(set_name[i]) ",\n"
		else
			text = text "\tUTRACE_FLAGS_" toupper(set_name[i]) ",\n"
	}
	return "enum utrace_flag_set {\n" own "\tUTRACE_KERNEL_FLAG_SETS,\n" \
		text "\tUTRACE_FLAG_SETS\n};"
}

function note_set(name) {
	if (!(name in set_number))
		malformed("there is no set '" name "' in tables/")
}
