# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# utrace selftests - programs that change their domain under several tracers
#
# The tests of security modules source this file after lib.sh. Each has a
# function "label NAME". It prints what a process writes to its own file
# /proc/PID/attr/$attr to get the label; the test sets attr. The tracers are
# strace, or a session of /dev/utrace (watch.c).
# shellcheck disable=SC2154 # bin and tmp are of lib.sh, attr is of the test

# need_domains PROGRAM...: begin a test that needs the programs
need_domains() {
	local tool

	limit=/proc/sys/kernel/ptrace_max_tracers
	[ -e "$limit" ] || skip_all "no $limit (UTRACE_PTRACE)"
	for tool in strace setpriv "$@"; do
		command -v "$tool" > /dev/null ||
			skip_all "$tool is not installed"
	done
	need_device
	need_built watch
	before=$(cat "$limit")
	mkdir "$tmp/fs"
	mount -t tmpfs tmpfs "$tmp/fs" || skip_all "no tmpfs"
	trap end_domains EXIT
	echo 4 > "$limit"
	cp "$bin/helper" "$tmp/fs/helper"
	mkfifo "$tmp/go"
	chmod 755 "$tmp" "$tmp/fs" && chmod 666 "$tmp/go"
}

end_domains() {
	echo "$before" > "$limit"
	umount "$tmp/fs"
	rm -rf "$tmp"
}

# become LABEL: give the shell that calls this the label
become() {
	label "$1" > "/proc/$BASHPID/attr/$attr"
}

# begin_shell COMMAND: start a shell, whose pid is in $pid, that runs the command
# when something is written to $tmp/go
begin_shell() {
	# The task has no rights over rules.
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		bash -c "read -r < $tmp/go; $1" 2> /dev/null &
	pid=$!
	await grep -q bash "/proc/$pid/comm"
}

# result_under COMMAND LABEL...: print the status of a shell that runs the
# command under tracers with these labels, the first tracer first.
result_under() {
	local label pid status strace=()

	begin_shell "$1"
	shift
	for label; do
		(become "$label" && exec strace -o /dev/null -p "$pid") \
			2> "$tmp/err.${#strace[@]}" &
		strace+=($!)
		await grep -q attached "$tmp/err.$((${#strace[@]} - 1))"
	done
	echo > "$tmp/go"
	wait "$pid"
	status=$?
	wait "${strace[@]}"
	echo "$status"
}

# asks_about_each TEXT COMMAND: test that each tracer with the label "bad" makes
# the command fail with 126, and that it ends with 7 else
asks_about_each() {
	holds "$1: two tracers that may" \
		test "$(result_under "$2" good good)" = 7
	holds "$1: the first tracer may not" \
		test "$(result_under "$2" bad good)" = 126
	holds "$1: the second tracer may not" \
		test "$(result_under "$2" good bad)" = 126
	holds "$1: the third tracer may not" \
		test "$(result_under "$2" good good bad)" = 126
}

# seen_by LABEL COMMAND [LATER]: print what a session of a process with the label
# sees of a shell that runs the command, see watch.c. The process changes its own
# label to LATER when it has attached.
seen_by() {
	local pid watcher later=()

	[ -z "${3:-}" ] || later=("$attr" "$(label "$3")")
	begin_shell "$2"
	(become "$1" && exec "$bin/watch" "$pid" "${later[@]}") \
		> "$tmp/seen" 2> "$tmp/err" &
	watcher=$!
	await grep -q attached "$tmp/err"
	echo > "$tmp/go"
	wait "$pid" "$watcher"
	cat "$tmp/seen" "$tmp/err" | grep -vx attached
}

# hides_from_bad TEXT COMMAND: test that a session that attaches with the label
# "bad" sees nothing of the shell from the command on, and that "good" sees all.
# Each may trace the shell when it attaches. The label that counts is the present
# one of the process that has attached.
hides_from_bad() {
	holds "$1: a session that may see it goes on" \
		is "seen 7" seen_by good "$2"
	holds "$1: it is hidden from a session that may not" \
		is hidden seen_by bad "$2"
	holds "$1: it is hidden from a session that no longer may" \
		is hidden seen_by good "$2" bad
}
