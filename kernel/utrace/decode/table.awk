# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the rows of the tables of system calls
#
# Usage: awk -f values.awk -f sets.awk -f structs.awk -f table.awk [VALUES...]
#	tables/*.tbl args.tbl syscall_64.tbl syscall_32.tbl
# Writes rows.h, which table.c includes, and to the file arg_hooks the functions
# of the command that print arguments. Names and numbers of the calls come
# from the two tables of the kernel, the types of their arguments from args.tbl,
# the structures that arguments point to from tables/.

BEGIN {
	split("hex addr int long size octal fd dfd signal path string argv pid " \
	      "mode dev upper", words)
	for (i in words)
		plain[words[i]] = "UTRACE_ARG_" toupper(words[i])
	# Numbers that do not have the size of the ABI's word: type and bytes.
	plain["uint"] = "UTRACE_ARG_SIZE, 4"
	plain["xint"] = "UTRACE_ARG_HEX, 4"
	plain["int64"] = "UTRACE_ARG_LONG, 8"
	plain["pages"] = "UTRACE_ARG_HEX, UTRACE_LEN_PAGES"
	plain["ctxfd"] = "UTRACE_ARG_FD, 1"
	plain["fandfd"] = "UTRACE_ARG_DFD, 1"
	plain["id"] = "UTRACE_ARG_ID, 4"
	plain["id16"] = "UTRACE_ARG_ID, 2"
	plain["name"] = "UTRACE_ARG_STRING, UTRACE_LEN_NAME"
	plain["lower"] = "UTRACE_ARG_UPPER, 1"
	memory["in"] = "UTRACE_ARG_IN"
	memory["out"] = "UTRACE_ARG_OUT"
	memory["out?"] = "UTRACE_ARG_OUT"
	memory["intext"] = "UTRACE_ARG_IN"
	memory["outtext"] = "UTRACE_ARG_OUT"
	memory["sockaddr"] = "UTRACE_ARG_SOCKADDR"
	memory["outsockaddr"] = "UTRACE_ARG_OUT_SOCKADDR"
	# What a pointer in a structure points to, besides structures.
	pointee["bytes"] = "UTRACE_ITEM_BYTES"
	pointee["string"] = "UTRACE_ITEM_STRING"
	pointee["sockaddr"] = "UTRACE_ITEM_SOCKADDR"
	# A descriptor leads to a file.
	pointee["fd"] = "UTRACE_ITEM_FILE"
	abi_index["native"] = 1
	abi_index["i386"] = 2
	abi_index["x32"] = 3
}

# Structures

# The initializers of a pointer MEMBER of layout I with type WHAT, for example
# "iovec*msg_iovlen", "bytes@iov_len" or "string". After "after:" there is no
# pointer but the memory itself, at the offset of the member.
function pointer(i, prefix, name, what,	kind, unit, count, text, t, after) {
	after = sub(/^after:/, "", what)
	kind = what
	sub(/[*@=].*/, "", kind)
	count = substr(what, length(kind) + 2)
	unit = substr(what, length(kind) + 1, 1)
	t = ctype[i]
	name = prefix name
	if (!(kind in pointee) && !(kind in layout)) {
		complain(layout_file[i], layout_line[i],
			 "'" what "' is not a type of pointers")
		return
	}
	text = "\t{\n\t\t.kind = " (kind in pointee ? pointee[kind] : \
		"UTRACE_ITEM_STRUCT,\n\t\t.layout = " layout[kind]) \
		",\n\t\t.at = " each_abi(offset(t, name), layout_abi[i]) \
		",\n\t\t.size = " each_abi(after ? "0" : size_of(t, name), \
			layout_abi[i])
	if (layout_options[i] ~ / buffers/)
		text = text ",\n\t\t.limited = true"
	if (unit == "=") {
		text = text ",\n\t\t.unit = UTRACE_UNIT_ELEMENTS" \
			",\n\t\t.count = " count
	} else if (unit != "") {
		count = prefix count
		text = text ",\n\t\t.unit = UTRACE_UNIT_" \
			(unit == "*" ? "ELEMENTS" : "BYTES") \
			",\n\t\t.count_at = " \
			each_abi(offset(t, count), layout_abi[i]) \
			",\n\t\t.count_size = " \
			each_abi(size_of(t, count), layout_abi[i])
	}
	pointers = pointers text ",\n\t},\n"
	npointers++
}

# Add the pointers of layout I, whose members are those of layout J after
# PREFIX: pointers of structures within structures belong to the outer one.
function add_pointers(i, j, prefix,	m, what) {
	for (m = 0; m < nmembers[j]; m++) {
		what = type[j, m]
		if (what ~ /^in:/)
			pointer(i, prefix, member[j, m], substr(what, 4))
		else if (what == "fd" || what ~ /^after:/)
			pointer(i, prefix, member[j, m], what)
		else if (what ~ /^struct:/ && (substr(what, 8) in layout))
			add_pointers(i, layout[substr(what, 8)],
				     prefix member[j, m] ".")
	}
}

function add_layouts(	i, before, limit) {
	for (i = 0; i < nlayouts; i++) {
		before = npointers + 0
		check_depth(i, i, 1)
		add_pointers(i, i, "")
		limit = ""
		if (match(layout_options[i], / limit=[^ ]+/))
			limit = "\t\t.limit_at = " \
				each_abi(offset(ctype[i], substr(layout_options[i], \
					RSTART + 7, RLENGTH - 7)), layout_abi[i]) ",\n"
		layouts = layouts "\t[" i "] = {\t/* " layout_name[i] " */\n" \
			"\t\t.size = " \
			each_abi("sizeof(" ctype[i] ")", layout_abi[i]) ",\n" \
			limit "\t\t.pointer = " before ",\n" \
			"\t\t.npointers = " (npointers - before) ",\n\t},\n"
	}
}

# Report layout TOP if more than 4 structures follow one another by pointers. The
# capture follows pointers by recursion on the kernel's stack. Structures that
# point to each other are reported, too. I is the layout at LEVEL, from 1.
function check_depth(top, i, level,	m, what) {
	if (level > 4) {
		complain(layout_file[top], layout_line[top],
			 "more than 4 structures follow one another by pointers")
		return
	}
	for (m = 0; m < nmembers[i]; m++) {
		what = type[i, m]
		if (!sub(/^(in|after|struct):/, "", what))
			continue
		sub(/[*@=].*/, "", what)
		if (what in layout)
			check_depth(top, layout[what],
				    level + (type[i, m] ~ /^(in|after):/))
	}
}

# The UTRACE_CAPTURE_ bit for an argument that points to structures KIND.
function capture_bit(kind) {
	return layout_options[layout[kind]] ~ / buffers/ ? \
		"UTRACE_CAPTURE_BUFFERS" : "UTRACE_CAPTURE_STRUCTS"
}

# The binary logarithm of MAX in WORD, which ends with "<=MAX"; 0: it does not.
function limit_of(word,	most, n) {
	if (!match(word, /<=[0-9]+$/))
		return 0
	most = substr(word, RSTART + 2) + 0
	for (n = 0; n < 31 && 2 ^ n < most; n++)
		continue
	if (!n || 2 ^ n != most)
		malformed("'" word "' does not end with a power of 2")
	return n
}

# The offset by ABI of the member that WORD names after ".", in the structure of an
# argument of type OTHER.
function member_offset(other, word) {
	gsub(/^[^:]*:|[*@=%+~\/<].*/, "", other)
	sub(/.*[.]/, "", word)
	if (!(other in layout))
		malformed("no structure has the member '" word "'")
	return each_abi(offset(ctype[layout[other]], word))
}

# The index of the row that describes the memory of an argument of type WORD,
# for example "out:stat" or "inout:pollfd*1". The call has NARGS arguments.
function memory_row(word, nargs,	way, what, kind, from, unit, always, text, narrow, most, at) {
	most = limit_of(word)
	sub(/<=.*/, "", word)
	# An int has no upper half.
	if (match(word, /[*@][0-9]$/) &&
	    $(substr(word, RSTART + 1) + 2) ~ /^((u|x)?int|fd)$/)
		narrow = " | UTRACE_MEMORY_INT"
	if (match(word, /@[*][0-9][.]/))
		at = member_offset($(substr(word, RSTART + 2, 1) + 2), word)
	if ((word, narrow, most, at) in memory_index)
		return memory_index[word, narrow, most, at]
	way = word
	sub(/:.*/, "", way)
	what = substr(word, length(way) + 2)
	always = sub(/!$/, "", way)
	kind = what
	sub(/[*@=%+~\/].*/, "", kind)
	from = substr(what, length(kind) + 1)
	if (!(kind in layout))
		malformed("there is no structure '" kind "' in tables/")
	unit = from ~ /^\*\*/ ? "POINTED_ELEMENTS" : \
		from ~ /^\*/ ? "ELEMENTS" : from ~ /^@\*/ ? "POINTED" : \
		from ~ /^@/ ? "BYTES" : from ~ /^=/ ? "FIXED" : \
		from ~ /^%/ ? "BITS" : from ~ /^[+]/ ? "AFTER" : \
		from ~ /^~/ ? "RECORDS" : \
		from ~ /^\// ? "PAGES" : "ONE"
	gsub(/[*@=%+~\/]/, "", from)
	if (unit == "POINTED")
		sub(/[.].*/, "", from)
	if (unit == "FIXED" && from ~ /^[1-9][0-9]?$/)
		from = from + 0
	else if (from == "ret")
		from = "UTRACE_LEN_RESULT"
	else if (unit != "ONE" && (from !~ /^[0-9]$/ || from + 0 >= nargs))
		malformed("'" word "' does not say which argument is the length")
	text = "\t{\n\t\t.layout = " layout[kind] ",\n\t\t.flags = " \
		(way ~ /in|frame/ ? "UTRACE_MEMORY_IN" : "0") \
		(way ~ /out|[+]/ ? " | UTRACE_MEMORY_OUT" : "") \
		(way == "in+" ? " | UTRACE_MEMORY_ENTRY" : "") \
		(way == "rem" ? " | UTRACE_MEMORY_RESTART" : "") \
		(way == "frame" ? " | UTRACE_MEMORY_FRAME" : "") \
		(always ? " | UTRACE_MEMORY_ALWAYS" : "") narrow \
		(way == "outin" || capture_bit(kind) ~ /BUFFERS/ && way == "out" ? \
		 " | UTRACE_MEMORY_FLAT" : "") \
		",\n\t\t.unit = UTRACE_UNIT_" unit \
		",\n\t\t.what = " capture_bit(kind)
	if (unit != "ONE")
		text = text ",\n\t\t.arg = " from
	if (most)
		text = text ",\n\t\t.most = " most
	if (way == "frame")
		text = text ",\n\t\t.at = " each_abi(offset("struct " kind, "mask"))
	else if (at != "")
		text = text ",\n\t\t.at = " at
	memories = memories text ",\n\t},\n"
	memory_index[word, narrow, most, at] = nmemories++
	return memory_index[word, narrow, most, at]
}

# Arguments

# The member len of struct utrace_arg for TYPE, where FROM ("@1", "@ret", "=8",
# "@1<=64") specifies the length. The call has NARGS arguments.
function length_of(type, from, nargs,	bits) {
	bits = type ~ /text$/ ? " | UTRACE_LEN_TEXT" : \
		type ~ /[?]$/ ? " | UTRACE_LEN_QUERY" : ""
	if (type ~ /^in/ && limit_of(from))
		bits = bits " | " limit_of(from) " << UTRACE_LEN_MOST_SHIFT"
	if (type ~ /^in/)
		sub(/<=.*/, "", from)
	if (from ~ /^@[0-9]$/ && substr(from, 2) + 0 < nargs)
		return substr(from, 2) bits
	if (type ~ /^out(text|[?])?$/ && from == "@ret")
		return "UTRACE_LEN_RESULT" bits
	if (type ~ /^(in|out)$/ && from ~ /^=[1-9][0-9]*$/ &&
	    substr(from, 2) + 0 < 1024)
		return "UTRACE_LEN_FIXED | " substr(from, 2)
	malformed("'" from "' cannot be the length of an argument of type '" type "'")
}

# Note that an argument is captured, in the members takes_in and takes_out of
# the row.
function takes(way, what) {
	if (way != "out")
		takes_in[what]
	if (way ~ /out/)
		takes_out[what]
}

# The initializer of struct utrace_arg for WORD, one type in args.tbl.
function argument(word, nargs,	type) {
	if (word ~ /^by:/)
		word = "flags" substr(word, 3)
	if (word ~ /^byhook:/)
		word = substr(word, 3)
	if (word in plain) {
		if (word ~ /^(path|string|name|argv)$/)
			takes("in", "UTRACE_CAPTURE_STRINGS")
		if (word ~ /^(ctx|d|fand)?fd$/)
			takes("in", "UTRACE_CAPTURE_FILES")
		return "{ " plain[word] " }"
	}
	if (word ~ /^string<=[1-9][0-9]*$/ && substr(word, 9) + 0 < 2048) {
		takes("in", "UTRACE_CAPTURE_STRINGS")
		return "{ UTRACE_ARG_STRING, " substr(word, 9) " }"
	}
	if (word == "-")
		return "{ UTRACE_ARG_NONE }"
	if (word ~ /^hook:/) {
		if (!(word in hook_index)) {
			hook_index[word] = nhooks++
			hooks = hooks "\targ_" substr(word, 6) ",\n"
		}
		return "{ UTRACE_ARG_HOOK, " hook_index[word] + 0 " }"
	}
	if (word ~ /^names:/) {
		note_set(substr(word, 7))
		return "{ UTRACE_ARG_NAMES, UTRACE_FLAGS_" \
			toupper(substr(word, 7)) " }"
	}
	if (word ~ /^flags:/) {
		note_set(substr(word, 7))
		return "{ UTRACE_ARG_FLAGS, UTRACE_FLAGS_" \
			toupper(substr(word, 7)) " }"
	}
	if (word ~ /^(in|out|inout|outin|in[+]|rem|frame)!?:/) {
		type = word
		gsub(/^[^:]*:|[*@=%+~\/<].*/, "", type)
		takes(word ~ /^(in|frame):/ ? "in" : word ~ /^(inout|outin|in[+])/ ? \
		      "inout" : "out", capture_bit(type))
		return "{ UTRACE_ARG_STRUCT, " memory_row(word, nargs) " }"
	}
	type = word
	sub(/[@=].*/, "", type)
	if (type == word || !(type in memory))
		malformed("'" word "' is not a type of arguments")
	takes(type ~ /^out/ ? "out" : "in",
	      type ~ /sockaddr/ ? "UTRACE_CAPTURE_SOCKETS" : \
				  "UTRACE_CAPTURE_BUFFERS")
	return "{ " memory[type] ", " \
		length_of(type, substr(word, length(type) + 1), nargs) " }"
}

# Remove "= NAME FROM..." from the current line: the call NAME, whose arguments
# this one takes. FROM is the number of an argument, or N*M: word M of the memory
# that argument N points to, or N*: all words. Returns the number of it, from 1, or
# 0.
function take_unpack(	i, f, text, memory, words, parts, n) {
	for (i = 2; i <= NF && $i != "="; i++)
		continue
	if (i > NF)
		return 0
	memory = words = 0
	for (f = i + 2; f <= NF; f++) {
		if ($f ~ /^[0-5]$/) {
			text = text " " $f ","
			n++
		} else if ($f ~ /^[0-5][*][0-5]?$/) {
			split($f, parts, "*")
			memory = parts[1]
			if (parts[2] == "") {
				for (; n < 6; n++)
					text = text " UTRACE_UNPACK_WORD + " n + 0 ","
				words = 6
			} else {
				text = text " UTRACE_UNPACK_WORD + " parts[2] ","
				n++
				if (words <= parts[2])
					words = parts[2] + 1
			}
		} else {
			malformed("'" $f "' is not where an argument is")
		}
	}
	unpack_name[++nunpacks] = $(i + 1)
	unpack_words[nunpacks] = words
	unpack_text[nunpacks] = memory " " text
	NF = i - 1
	return nunpacks
}

# The rows of the calls that other ones stand for, and how they take arguments. A
# call has as many words as arguments if it has all.
function add_unpacks(	i, own, words) {
	for (i = 1; i <= nunpacks; i++) {
		own = "i386/" unpack_name[i]
		if (!(own in row) || row_unpack[own])
			own = unpack_name[i]
		if (!(own in row)) {
			complain(args_file, 0, "there is no line for '" own "'")
			continue
		}
		words = unpack_words[i]
		if (words == 6)
			words = row_nargs[own]
		split(unpack_text[i], words_text, " ")
		unpacks = unpacks "\t{\n\t\t.memory = " words_text[1] \
			",\n\t\t.words = " words ",\n\t\t.from = {" \
			substr(unpack_text[i], length(words_text[1]) + 2) \
			" },\n\t},\n"
		union_in = row_in[own]
		union_out = row_out[own]
		commands = add_commands(unpack_name[i], "i386", unpack_name[i])
		unpacked = unpacked "\t{\n\t\t.name = \"" unpack_name[i] \
			"\",\n\t\t.name_len = " length(unpack_name[i]) "," \
			row[own] taken(union_in, union_out) commands "\n\t},\n"
		unpacked_in[i] = union_of(union_in, "UTRACE_CAPTURE_STRUCTS")
		unpacked_out[i] = union_of(union_out, "UTRACE_CAPTURE_STRUCTS")
	}
}

# What is captured of row NAME, with what the call takes that it stands for.
function takes_in_of(name) {
	return row_unpack[name] ? union_of(row_in[name], \
		unpacked_in[row_unpack[name]]) : row_in[name]
}

function takes_out_of(name) {
	return row_unpack[name] ? union_of(row_out[name], \
		unpacked_out[row_unpack[name]]) : row_out[name]
}

function unpack_member(name) {
	return row_unpack[name] ? "\n\t\t.unpack = " row_unpack[name] "," : ""
}

# "A | B" of the indices of a set, which is emptied.
function all_of(set,	text, one) {
	for (one in set)
		text = text (text == "" ? "" : " | ") one
	split("", set)
	return text == "" ? "0" : text
}

# All members of struct utrace_call but the name, from the current line.
function members(	nargs, result, text, i) {
	nargs = NF - 1
	result = "long"
	if (nargs > 1 && $(NF - 1) == "->") {
		result = $NF
		nargs -= 2
	}
	if (!(result in plain) && result !~ /^(flags|names|hook):/)
		malformed("'" result "' is not a type of results")
	if (nargs > 6)
		malformed("a call has 6 arguments at most")
	last_nargs = nargs
	result = argument(result, 0)
	# A descriptor that the call returns is captured at its exit.
	split("", takes_in)
	if (result ~ /UTRACE_ARG_FD /)
		takes("out", "UTRACE_CAPTURE_FILES")
	for (i = 1; i <= nargs; i++)
		text = text "\n\t\t\t" argument($(i + 1), nargs) ","
	if (nargs)
		text = "\n\t\t.arg = {" text "\n\t\t},"
	return "\n\t\t.nargs = " nargs ",\n\t\t.known = true," \
		"\n\t\t.result = " result "," text
}

# Commands

# Note which arguments of the calls in call_list[] choose among their rows by
# command: those of type "by:SET" or "by:SET&MASK".
function note_choice(abi,	i, n, mask, one) {
	for (i = 2; i <= NF && $i != "->"; i++) {
		if ($i !~ /^by(hook)?:/)
			continue
		mask = "~0U"
		if ($i ~ /&/) {
			mask = $i
			sub(/.*&/, "", mask)
			each_abi("(unsigned int)(" mask ")")
			mask = last_value(1)
			sub(/&.*/, "", $i)
		}
		if (n == 2)
			malformed("two arguments at most choose a row")
		for (one in call_list)
			by[abi call_list[one], n + 0] = "{ " (i - 2) ", " mask " }"
		n++
	}
	for (one in call_list)
		nby[abi call_list[one]] = n + 0
}

# The key of row NAME ("fcntl/F_GETLK", "getsockopt/SOL_SOCKET.SO_TYPE") in one
# ABI, 1 to 3, as 16 digits.
function key(name, abi,	parts, n, i, text, digits, only) {
	only = name ~ /^i386\// ? "i386" : name ~ /^x32\// ? "x32" : ""
	sub(/.*\//, "", name)
	n = split(name, parts, ".")
	for (i = 1; i <= n; i++) {
		each_abi("(unsigned int)(" parts[i] ")", only)
		digits = substr(last_value(abi), 3)
		while (length(digits) < 8)
			digits = "0" digits
		text = text digits
	}
	return n == 1 ? "00000000" text : text
}

# Sort the N elements of list[].
function sort(list, n,	i, j, one) {
	for (i = 2; i <= n; i++) {
		one = list[i]
		for (j = i - 1; j > 0 && list[j] > one; j--)
			list[j + 1] = list[j]
		list[j + 1] = one
	}
}

# The members of a row that say what is captured.
function taken(in_, out_) {
	return "\n\t\t.takes_in = " in_ ",\n\t\t.takes_out = " out_ ","
}

# The set A with the elements of set B, both as all_of() makes them.
function union_of(a, b,	parts, n, i) {
	n = split(b, parts, " [|] ")
	for (i = 1; i <= n; i++)
		if (parts[i] != "0" && index(a, parts[i]) == 0)
			a = a == "0" ? parts[i] : a " | " parts[i]
	return a
}

# Write the rows by command of CALL in one ABI after the rows of the calls, and
# return the members that find them.
function add_commands(call, abi, name,	own, i, n, list, k, parts, text) {
	own = abi "/" call
	if (!(own in nby))
		own = call
	if (!nby[own])
		return ""
	for (i = 1; i <= ncommands; i++) {
		k = command[i]
		sub(/\/[^\/]*$/, "", k)
		if (k == call ? !(abi "/" command[i] in row) : k == abi "/" call)
			list[++n] = key(command[i], abi_index[abi]) " " i
	}
	sort(list, n)
	for (i = 2; i <= n; i++)
		if (!query && substr(list[i], 1, 16) == substr(list[i - 1], 1, 16))
			complain(args_file, line[command[substr(list[i], 18)]],
				 "command '" command[substr(list[i], 18)] \
				 "' has the number of '" \
				 command[substr(list[i - 1], 18)] "'")
	choices = choices "\t{\n\t\t.by = { " by[own, 0] \
		(nby[own] > 1 ? ", " by[own, 1] : "") " },\n\t\t.n = " n + 0 \
		",\n\t\t.first = " nkeys + 0 ",\n\t},\n"
	for (i = 1; i <= n; i++) {
		split(list[i], parts, " ")
		keys = keys "\t0x" parts[1] "ULL,\n"
		k = command[parts[2]]
		text = "\t\t.name = \"" name "\",\n\t\t.name_len = " \
			length(name) "," row[k] unpack_member(k) \
			taken(takes_in_of(k), takes_out_of(k))
		# Many commands take the same arguments.
		if (!(text in command_call)) {
			command_call[text] = ncommand_calls + 0
			command_calls = command_calls "\t[" ncommand_calls++ \
				"] = {\n" text "\n\t},\n"
		}
		command_rows = command_rows "\t" command_call[text] ",\n"
		nkeys++
		# What is captured of a call depends on the command.
		union_in = union_of(union_in, takes_in_of(k))
		union_out = union_of(union_out, takes_out_of(k))
	}
	return "\n\t\t.choice = " ++nchoices ","
}

# The rows

{ sub(/#.*/, "") }
NF == 0 { next }

# Add the row of the current line for CALL, which may have an ABI before it and
# a command after it.
function add_row(call, text, taken_in, taken_out, unpack) {
	if (call in row)
		malformed("'" call "' is here twice")
	row[call] = text
	row_in[call] = taken_in
	row_out[call] = taken_out
	row_unpack[call] = unpack
	row_nargs[call] = last_nargs
	line[call] = FNR
}

# Add the rows of the current line, which may list several calls and commands.
function add_rows(	abi, calls, commands, i, j, n, m, text, in_, out_, unpack) {
	unpack = take_unpack()
	calls = $1
	if (match(calls, /^(i386|x32|native)\//)) {
		abi = substr(calls, 1, RLENGTH)
		calls = substr(calls, RLENGTH + 1)
	}
	if (match(calls, /\//)) {
		commands = substr(calls, RSTART + 1)
		calls = substr(calls, 1, RSTART - 1)
	}
	n = split(calls, call_list, ",")
	m = split(commands, command_list, ",")
	if (!m)
		note_choice(abi)
	text = members()
	in_ = all_of(takes_in)
	out_ = all_of(takes_out)
	for (i = 1; i <= n; i++) {
		if (!m)
			add_row(abi call_list[i], text, in_, out_, unpack)
		for (j = 1; j <= m; j++) {
			add_row(abi call_list[i] "/" command_list[j], text,
				in_, out_, unpack)
			command[++ncommands] = abi call_list[i] "/" command_list[j]
		}
	}
}

FILENAME ~ /args\.tbl$/ {
	args_file = FILENAME
	add_rows()
	next
}

NF < 3 || $1 !~ /^[0-9]+$/ { malformed("not a line of a table of system calls") }

FILENAME ~ /64\.tbl$/ && $2 !~ /^(64|common|x32)$/ { next }

{
	table = FILENAME ~ /64\.tbl$/ ? "native" : "ia32"
	name[table, $1 + 0] = $3
	abi[table, $1 + 0] = $2
	there[$3]
	there[$2 "/" $3]
	if (table == "native")
		there["native/" $3]
	if ($1 > last[table] + 0)
		last[table] = $1 + 0
}

# The rows of a table. A line of args.tbl for the ABI of the call takes
# precedence over the line for all ABIs.
function rows_of(table,	nr, own, text, of, commands) {
	for (nr = 0; nr <= last[table]; nr++) {
		if (!((table, nr) in name))
			continue
		of = table == "ia32" ? "i386" : \
			abi[table, nr] == "x32" ? "x32" : "native"
		own = of "/" name[table, nr]
		if (!(own in row))
			own = name[table, nr]
		union_in = own in row ? takes_in_of(own) : "0"
		union_out = own in row ? takes_out_of(own) : "0"
		commands = add_commands(name[table, nr], of, name[table, nr])
		text = text "\t[" nr "] = {\n\t\t.name = \"" name[table, nr] \
			"\",\n\t\t.name_len = " length(name[table, nr]) "," \
			(own in row ? row[own] unpack_member(own) : "") \
			taken(union_in, union_out) commands \
			"\n\t},\n"
	}
	return text
}

# Report lines of args.tbl that belong to no call.
function check_lines(	call, bare, i) {
	for (i = 1; i <= nunpacks; i++)
		there[unpack_name[i]]
	for (call in line) {
		bare = call
		if (!(call in nby))
			sub(/\/[^\/]*$/, "", bare)
		if (!(bare in there))
			complain(args_file, line[call],
				 "there is no system call '" bare "'")
		sub(/^.*\//, "", bare)
		if (!(call in nby) && !nby[bare])
			complain(args_file, line[call],
				 "'" bare "' has no argument of type by:SET")
	}
}

END {
	if (failed)
		exit 1
	check_lines()
	add_layouts()
	add_unpacks()
	native = rows_of("native")
	ia32 = rows_of("ia32")
	if (failed)
		exit 1
	if (query) {
		write_query()
		exit
	}
	print "/* Made by table.awk, do not edit. */\n" \
		"static void (*const arg_hooks[])(const struct utrace_arg_text *text) = {\n" \
		hooks "};" > arg_hooks
	print "/* Made by table.awk, do not edit. */"
	print "const struct utrace_pointer utrace_pointers[] = {"
	print pointers "};\n\nconst struct utrace_layout utrace_layouts[] = {"
	print layouts "};\n\nconst struct utrace_memory utrace_memories[] = {"
	print memories "};\n\nstatic const u64 command_keys[] = {"
	print keys "};\n\nstatic const u16 command_rows[] = {"
	print command_rows "};\n\nstatic const struct utrace_call command_calls[] = {"
	print command_calls "};\n\nstatic const struct choice choices[] = {"
	print choices "};\n\nstatic const struct utrace_call native_calls[] = {"
	print native "};\n\n#ifdef CONFIG_IA32_EMULATION"
	print "static const struct utrace_unpack unpacks[] = {"
	print unpacks "};\n\nstatic const struct utrace_call unpacked_calls[] = {"
	print unpacked "};\n\nstatic const struct utrace_call ia32_calls[] = {"
	print ia32 "};\n#endif"
}
