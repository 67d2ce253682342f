# SPDX-License-Identifier: GPL-2.0
#
# utrace - list the names of the constants in preprocessed C headers
#
# Reads the output of "cpp -dD": macros without arguments, and enumerators.
# Writes one name a line.

/^#define / {
	if ($2 !~ /\(/ && NF > 2 && $2 !~ /^_/ && !seen[$2]++)
		print $2
	next
}

/^#/ { next }

# In the list of an enum a name is an enumerator if "{" or "," precedes it.
{
	text = $0
	while (text != "") {
		if (!inside) {
			if (!match(text, /(^|[^A-Za-z0-9_])enum([^A-Za-z0-9_]|$)/)) {
				if (awaited && (at = index(text, "{")) > 0 &&
				    !index(substr(text, 1, at), ";")) {
					text = substr(text, at + 1)
					inside = first = 1
					awaited = 0
					continue
				}
				if (text ~ /[;({]/)
					awaited = 0
				break
			}
			text = substr(text, RSTART + RLENGTH)
			awaited = 1
			continue
		}
		if (first && match(text, /^[ \t]*[A-Za-z_][A-Za-z0-9_]*/)) {
			name = substr(text, RSTART, RLENGTH)
			gsub(/[ \t]/, "", name)
			text = substr(text, RSTART + RLENGTH)
			if (!seen[name]++)
				print name
			first = 0
			continue
		}
		if (!match(text, /[,}]/))
			break
		first = substr(text, RSTART, 1) == ","
		inside = substr(text, RSTART, 1) != "}"
		text = substr(text, RSTART + 1)
	}
}
