# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the table of the numbers of ioctl()
#
# Usage: awk -f values.awk -f sets.awk -f ioctls.awk [VALUES...] NAMES
# Writes ioctl_names.h, which ioctls.c includes: an array for each ABI, sorted by
# number. Drivers share numbers; then the names are joined by "or".

# Sort list[FIRST] to list[LAST].
function quicksort(first, last,	i, j, middle, one) {
	while (first < last) {
		middle = list[int((first + last) / 2)]
		i = first
		j = last
		while (i <= j) {
			while (list[i] < middle)
				i++
			while (list[j] > middle)
				j--
			if (i <= j) {
				one = list[i]
				list[i++] = list[j]
				list[j--] = one
			}
		}
		if (j - first < last - i) {
			quicksort(first, j)
			first = i
		} else {
			quicksort(i, last)
			last = j
		}
	}
}

# Join the N names of a number in names[]. If a name is that of the others with
# the width of an ABI in it, as FS_IOC32_GETFLAGS, the plain one is left out.
function join(n,	i, plain, out, text) {
	for (i = 1; i <= n; i++) {
		plain = names[i]
		if (sub(/32|64|_[AB]$/, "", plain))
			out[plain]
	}
	for (i = 1; i <= n; i++)
		if (!(names[i] in out))
			text = text (text == "" ? "" : " or ") names[i]
	return text
}

# The array NAME of all numbers in one ABI, 1 to 3.
function numbers(name, abi,	i, digits, number, before, text, n) {
	for (i = 1; i <= nconstants; i++) {
		digits = substr(value[abi, i], 3)
		list[i] = substr("00000000", 1, 8 - length(digits)) digits " " \
			constant[i]
	}
	quicksort(1, nconstants)
	text = "static const struct ioctl_name " name "[] = {\n"
	for (i = 1; i <= nconstants; i++) {
		number = substr(list[i], 1, 8)
		if (number != before && n) {
			text = text "\t{ 0x" before ", \"" join(n) "\" },\n"
			n = 0
		}
		before = number
		names[++n] = substr(list[i], 10)
	}
	return text "\t{ 0x" before ", \"" join(n) "\" },\n};\n\n"
}

END {
	if (failed)
		exit 1
	for (i = 1; i <= nconstants; i++)
		each_abi("(unsigned int)(" constant[i] ")")
	if (query) {
		write_query()
		exit
	}
	print "/* Made by ioctls.awk, do not edit. */"
	printf "%s%s%s", numbers("native_names", 1), numbers("ia32_names", 2), \
		numbers("x32_names", 3)
}
