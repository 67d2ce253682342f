# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the system calls in the output of several tracers
#
# The script prints entries and exits, one a line: "PID > NAME ARGUMENTS" and
# "PID < NAME RESULT", with arguments in hexadecimal.
#
#	awk -v from=raw|listener|fields|strace -f calls.awk FORMAT FILE
#
# FORMAT is that of utrace_sys_enter, for the names of the calls. FILE is the
# output of strace, or the trace of an instance: with raw_syscalls, with the
# events of utrace (listener), or with the tracer and its option "fields". Only
# raw and listener have arguments; strace has no results.

function name_of(nr) {
	# raw_syscalls reads the number after sigreturn has restored other
	# registers.
	if (nr == -1)
		return "rt_sigreturn"
	return nr in name ? name[nr] : nr
}

# Set pid to the task, and return what follows the name of the event.
function rest(line) {
	match(line, /-[0-9]+ +\[[0-9]+\]/)
	pid = substr(line, RSTART + 1) + 0
	line = substr(line, RSTART + RLENGTH)
	sub(/^[^:]*: [a-z_]+: /, "", line)
	return line
}

# Names of calls: { 0, "read" }, { 1, "write" } and so on.
FNR == NR {
	while (match($0, /\{ *[0-9]+, *"[a-z0-9_]+" *\}/)) {
		split(substr($0, RSTART, RLENGTH), part, /[{}, "]+/)
		name[part[2]] = part[3]
		$0 = substr($0, RSTART + RLENGTH)
	}
	next
}

from == "raw" && / sys_enter: NR / {
	line = rest($0)
	gsub(/[(),]/, "", line)
	split(line, word, " ")
	print pid, ">", name_of(word[2]), word[3], word[4], word[5], word[6], word[7], word[8]
}

from == "raw" && / sys_exit: NR / {
	split(rest($0), word, " ")
	print pid, "<", name_of(word[2]), word[4]
}

from == "listener" && / utrace_sys_enter: / {
	line = rest($0)
	sub(/\).*/, "", line)
	gsub(/[(,]/, " ", line)
	gsub(/ 0x/, " ", line)
	split(line, word, " ")
	print pid, ">", word[1], word[2], word[3], word[4], word[5], word[6], word[7]
}

from == "listener" && / utrace_sys_exit: / {
	split(rest($0), word, " ")
	print pid, "<", word[1], word[3]
}

from == "fields" && / utrace_sys_(enter|exit): / {
	split(rest($0), word, /[()]/)
	if (/ utrace_sys_enter: /)
		print pid, ">", name_of(word[2])
	else
		print pid, "<", name_of(word[2]), word[4]
}

from == "strace" && $2 ~ /^[a-z0-9_]+\(/ {
	sub(/\(.*/, "", $2)
	print $1 + 0, ">", $2
}
