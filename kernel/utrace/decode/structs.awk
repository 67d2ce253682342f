# SPDX-License-Identifier: GPL-2.0
#
# utrace - read the structures for generated tables
#
# Leaves:
#	nlayouts, layout[name]		number of structures; index of each
#	layout_name[i], ctype[i], layout_abi[i]
#	nmembers[i], member[i, j], type[i, j], options[i, j]

function add_layout(	i, name) {
	name = $2
	if (name in layout)
		malformed("structure '" name "' is here twice")
	i = nlayouts++
	layout[name] = i
	layout_name[i] = name
	layout_line[i] = FNR
	layout_file[i] = FILENAME
	ctype[i] = "struct " name
	nmembers[i] = 0
	for (f = 3; f <= NF; f++) {
		if ($f ~ /^abi=/)
			layout_abi[i] = substr($f, 5)
		else if ($f ~ /^type=/)
			ctype[i] = substr($f, 6)
		else
			layout_options[i] = layout_options[i] " " $f
		gsub(/_of_/, " ", ctype[i])
	}
}

function add_member(	i, j) {
	i = nlayouts - 1
	j = nmembers[i]++
	member[i, j] = $1
	type[i, j] = $2
	member_line[i, j] = FNR
	for (f = 3; f <= NF; f++)
		options[i, j] = options[i, j] " " $f
}

BEGIN { structures_wanted = 1 }

# The current line of a table.
function add_structure_line() {
	structs_file = FILENAME
	if ($1 == "struct" && NF >= 2)
		add_layout()
	else if (/^\t/ && NF >= 2 && nlayouts)
		add_member()
	else
		malformed("not a set, a structure or a part of one")
}
