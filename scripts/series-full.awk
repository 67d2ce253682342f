# SPDX-License-Identifier: GPL-2.0
#
# Print one of our Makefiles or Kconfigs as it is after some patches of the full
# series, without the files that later patches add. The rules:
#
# * The lines of a Makefile for one symbol, obj-y or obj-$(CONFIG_X), are
#   printed once all their objects can be built, as half of a client does not
#   link.
# * A line about one object, or a paragraph about a $(src)/ file, is printed
#   once that file is there. A paragraph that defines a command is printed once
#   another paragraph calls the command.
# * A Makefile whose objects do not need each other is cut line by line.
# * A Kconfig has no entry for a symbol that is left out in a Makefile, or that
#   depends on such a symbol, and no `source` of a file that is not there.
# * The table of contents of a page names only pages that are there.
#
# Variables: tree is the folder of the sources, dir the folder of the Makefile
# in it, pages that of a page. list is a file with the symbols that are left out,
# which runs for Makefiles write and runs for Kconfigs read. kconfig is set for a
# Kconfig, alone for a Makefile whose objects do not need each other.

function there(name,	line, got) {
	got = (getline line < name)
	close(name)
	return got >= 0
}

function object_there(name,	stem) {
	if (name ~ /\/$/)
		return there(tree "/" dir "/" name "Makefile")
	stem = name
	sub(/\.o$/, "", stem)
	return stem in composed || there(tree "/" dir "/" stem ".c") ||
		there(tree "/" dir "/" stem ".S")
}

# Return the symbol of a line of objects, or "" for any other line.
function group(line) {
	return match(line, /^obj-[^ \t]+/) ? substr(line, 5, RLENGTH - 4) : ""
}

function missing_object(line,	name) {
	if (line !~ /^(CFLAGS_[a-z_0-9]+\.o|\$\(obj\)\/[a-z_0-9]+\.o:)/)
		return 0
	name = line
	sub(/^(CFLAGS_|\$\(obj\)\/)/, "", name)
	sub(/\.o.*/, ".o", name)
	return !object_there(name)
}

function missing_source(paragraph,	name) {
	while (match(paragraph, /\$\(src\)\/[a-z_0-9.\/]+/)) {
		name = substr(paragraph, RSTART + 7, RLENGTH - 7)
		if (!there(tree "/" dir "/" name))
			return 1
		paragraph = substr(paragraph, RSTART + RLENGTH)
	}
	return 0
}

function end_paragraph() {
	if (text != "" && !missing_source(text))
		kept[++paragraphs] = text
	text = ""
}

# Whether an object of the line is not there.
function missing_any(line,	j, n, words) {
	n = split(line, words)
	for (j = 3; j <= n; j++)
		if (!object_there(words[j]))
			return 1
	return 0
}

# Whether paragraph i defines a command that no paragraph calls.
function unused(i,	j, name) {
	if (!match(kept[i], /\n +cmd_[a-z_]+/))
		return 0
	name = substr(kept[i], RSTART, RLENGTH)
	sub(/.* cmd_/, "if_changed,", name)
	for (j = 1; j <= paragraphs; j++)
		if (index(kept[j], name ")"))
			return 0
	return 1
}

function print_paragraphs(	i, printed) {
	for (i = 1; i <= paragraphs; i++) {
		if (unused(i))
			continue
		if (printed++)
			printf "\n"
		printf "%s", kept[i]
	}
}

BEGIN {
	if (kconfig)
		while ((getline line < list) > 0)
			off[line]
}

{
	lines[NR] = $0
}

!kconfig && /^[a-z_0-9]+-(y|objs) [:+]?=/ {
	sub(/-(y|objs)$/, "", $1)
	composed[$1]
}

END {
	if (pages)
		write_page()
	else if (kconfig)
		write_kconfig()
	else
		write_makefile()
}

function write_page(	i) {
	for (i = 1; i <= NR; i++)
		if (lines[i] !~ /^   [a-z-]+$/ || there(tree "/" pages "/" substr(lines[i], 4) ".rst"))
			print lines[i]
}

function left_out(line,	symbol) {
	symbol = group(line)
	if (symbol == "")
		return missing_object(line)
	return alone ? missing_any(line) : symbol in off
}

function write_makefile(	i, symbol) {
	for (i = 1; i <= NR && !alone; i++) {
		symbol = group(lines[i])
		if (symbol != "" && missing_any(lines[i]))
			off[symbol]
	}
	for (symbol in off)
		if (match(symbol, /CONFIG_[A-Z_0-9]+/))
			print substr(symbol, RSTART + 7, RLENGTH - 7) >> list
	for (i = 1; i <= NR; i++) {
		if (lines[i] == "")
			end_paragraph()
		else if (!left_out(lines[i]))
			text = text lines[i] "\n"
	}
	end_paragraph()
	print_paragraphs()
}

# Leave out the entries that depend on symbols that are left out.
function spread(	i, j, n, name, words, more) {
	do {
		more = 0
		for (i = 1; i <= NR; i++) {
			n = split(lines[i], words, /[^A-Z_0-9a-z]+/)
			if (lines[i] ~ /^(menu)?config /)
				name = words[2]
			if (lines[i] !~ /^\tdepends on / || name in off)
				continue
			for (j = 4; j <= n; j++)
				if (words[j] in off)
					more = off[name] = 1
		}
	} while (more)
}

# An entry ends at the next line that is not indented. The comment before an
# entry belongs to the entry.
function write_kconfig(	i, name, skip, held) {
	spread()
	for (i = 1; i <= NR; i++) {
		if (lines[i] ~ /^#/ && i > 1) {
			held = held lines[i] "\n"
			continue
		}
		if (lines[i] ~ /^[a-z]/) {
			skip = 0
			if (lines[i] ~ /^(menu)?config /) {
				name = lines[i]
				sub(/^(menu)?config /, "", name)
				skip = name in off
			} else if (lines[i] ~ /^source /) {
				name = lines[i]
				gsub(/^source "|"$/, "", name)
				skip = !there(tree "/" name)
			}
		}
		if (!skip)
			text = text held lines[i] "\n"
		held = ""
	}
	text = text held
	sub(/\n+$/, "\n", text)
	printf "%s", text
}
