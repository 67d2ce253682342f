#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - 'utrace markers' with user_events
#
# The program is user.c. UTRACE= is the command; the default is the one in PATH.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
need_built user
[ -e "$tracing/user_events_processes" ] || skip_all "no user_events in this kernel (USER_EVENTS)"
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"

fields="u32 count; s64 minus; __rel_loc char[] text"
log=$tmp/log

# trace ARG...: utrace markers trace, with hits in $log and the rest in $tmp/stderr
trace() {
	"$utrace" markers trace -o "$log" "$@" > "$tmp/stdout" 2> "$tmp/stderr" < /dev/null
}

# hits: print what the log has without times and threads
hits() {
	sed -E 's/^ *[0-9.]+ +[0-9]+ //; s/ +/ /g' "$log"
}

# wait_for EVENT: start the program in the background, with its pid in $program
wait_for() {
	rm -f "$tmp/in" "$tmp/said_by" "$log"
	mkfifo "$tmp/in"
	"$bin/user" -w 3 "$@" < "$tmp/in" > "$tmp/said_by" &
	program=$!
	exec 8> "$tmp/in"
	await has "$tmp/said_by" waiting
}

end_program() {
	exec 8>&-
	wait "$program"
}

three="user:ue_cmd count=0 minus=0 text=hello
user:ue_cmd count=1 minus=-1 text=hello
user:ue_cmd count=2 minus=-2 text=hello"

program() {
	trace user:ue_cmd -- "$bin/user" -w 3 "ue_cmd $fields" && is "$three" hits &&
		has "$tmp/stderr" '^ +3  user:ue_cmd$'
}

# The event exists only after the command has begun.
unregistered() {
	trace user:ue_cmd user:ue_never -- "$bin/user" -w 3 "ue_cmd $fields" &&
		is 3 count "$log" "^.* user:ue_cmd +count=" && hasnt "$log" ue_never
}

with_function() {
	copy_program
	trace user:ue_cmd "$tmp/user:write_event" -- "$tmp/user" -w 3 "ue_cmd $fields" &&
		is 3 count "$log" " user:write_event" && is 3 count "$log" " user:ue_cmd +count="
}

follows() {
	trace -f user:ue_cmd -- sh -c "'$bin/user' -w 3 'ue_cmd $fields'; :" && is "$three" hits &&
		{ trace user:ue_cmd -- sh -c "'$bin/user' 3 'ue_cmd $fields'; :"; is "" hits; }
}

counts() {
	trace --count user:ue_cmd -- "$bin/user" -w 3 "ue_cmd $fields" &&
		has "$log" '^ +3  user:ue_cmd$' && hasnt "$log" count=
}

histogram() {
	trace --histogram 1 user:ue_cmd -- "$bin/user" -w 8 "ue_cmd $fields" &&
		has "$log" '^user:ue_cmd count, 8 values$' && has "$log" '^\[4, 8\) +4 ' &&
		trace --histogram 2 user:ue_cmd -- "$bin/user" -w 8 "ue_cmd $fields" &&
		has "$log" '^user:ue_cmd minus, 8 values$' && has "$log" '^\(\.\.\., 0\) +7 ' &&
		trace --histogram 3 user:ue_cmd -- "$bin/user" -w 8 "ue_cmd $fields" &&
		has "$log" '^user:ue_cmd text, 0 values, and 8 that could not be read$'
}

# Breakpoints need a file system that caches pages, such as that of $tmp.
copy_program() {
	cp "$bin/user" "$tmp/user"
}

# The kernel sorts the hits of a function, which makes no records.
histogram_of_function() {
	copy_program
	trace --histogram 3 user:ue_cmd "$tmp/user:write_event" -- \
		"$tmp/user" -w 8 "ue_cmd $fields" &&
		has "$log" '^.*user:write_event arg3, 8 values$' && has "$log" '^\[4, 8\) +4 ' &&
		has "$tmp/stderr" '^ +8  .*user:write_event$'
}

# all ARG...: trace all processes while the program runs three times
all() {
	copy_program
	rm -f "$log"
	"$utrace" markers trace -a -o "$log" "$@" 2> "$tmp/stderr" &
	await has "$tmp/stderr" 'in all processes; Ctrl-C'
	"$tmp/user" 3 ue_cmd && "$tmp/user" 3 ue_cmd && "$tmp/user" 3 ue_cmd ue_more
	kill -INT $!
	wait $!
	[ $? = 130 ]
}

everywhere() {
	local main="$tmp/user:main"

	all "$main" && is 3 count "$log" ' .*user:main$' &&
		has "$tmp/stderr" '^ +3  .*user:main$' &&
		all --count "$main" && has "$log" '^ +3  .*user:main$' &&
		all --histogram 1 "$main" &&
		has "$log" '^.*user:main arg1, 3 values$' &&
		has "$log" '^\[2, 4\) +2 ' && has "$log" '^\[4, 8\) +1 '
}

# attached PATTERN EVENT...: trace a process that runs
attached() {
	local pattern=$1 ret

	shift
	wait_for "$@" || return
	"$utrace" markers trace -o "$log" -p "$program" "$pattern" 2> "$tmp/stderr" 8>&- &
	await has "$log" 'count=2|size=22' 2> /dev/null
	ret=$?
	end_program
	wait
	return $ret
}

wildcard() {
	attached 'user:ue_w*' "ue_wild $fields" ue_wile ue_other &&
		has "$tmp/stderr" 'tracing 2 user_events in process' &&
		is 3 count "$log" ' user:ue_wild +count='
}

# One name with formats that only one of the records fits.
several_formats() {
	attached user:ue_multi "+ue_multi $fields" "+ue_multi u8 small" &&
		is 3 count "$log" ' user:ue_multi +count='
}

# Nobody can tell which format the records have.
ambiguous() {
	attached user:ue_multi "+ue_multi $fields" "+ue_multi char[22] text" &&
		has "$log" ' user:ue_multi size=22 data="\\1\\0\\0\\0\\377'
}

# shows REGEX ARG...: check that "utrace markers ARG..." prints such a line
shows() {
	local regex=$1

	shift
	"$utrace" markers "$@" > "$log" && has "$log" "$regex"
}

# The program may have to write its word itself, for which it first has to run.
states() {
	shows "^user:ue_list +1  off +u32 count, s64 minus, __rel_loc char\[\] text$" \
		list -p "$program" &&
		has "$log" "^user:ue_multi +1  off +u8 small$" &&
		has "$log" '; 2 user_events$' &&
		shows "^ *$program  user +off +user:ue_list$" status &&
		echo 1 > "$tracing/events/user_events/ue_list/enable" &&
		await shows "^ *$program  user +enabled +user:ue_list$" status "$program" &&
		"$utrace" markers status 1 > "$log" && hasnt "$log" ue_list
}

list() {
	local ret

	wait_for "ue_list $fields" "+ue_multi u8 small" || return
	states
	ret=$?
	[ $ret = 0 ] || cat "$log"
	end_program
	return $ret
}

# fails TEXT ARG...: check that the status is 125, with a message that has TEXT
fails() {
	local text=$1 ret=0

	shift
	"$utrace" markers "$@" > "$tmp/stdout" 2> "$tmp/stderr" || ret=$?
	cat "$tmp/stderr"
	[ "$ret" = 125 ] && has "$tmp/stderr" "$text"
}

errors() {
	fails "no process has registered such a user_event" trace 'user:ue_none*' -- true &&
		fails "give user:NAME" trace user: -- true &&
		fails "without its fields" trace 'user:a u32 b' -- true &&
		fails "give one of" trace -a /bin/sh:main -- true &&
		fails "of which file" trace -a python:gc__start &&
		fails "takes markers and functions" trace -a user:ue_cmd
}

# without_tracefs COMMAND...: run a command where tracefs is not mounted
without_tracefs() {
	unshare -m sh -c 'umount -l /sys/kernel/tracing && exec "$@"' sh "$@"
}

no_tracefs() {
	without_tracefs "$utrace" markers status > /dev/null 2> "$tmp/stderr" &&
		has "$tmp/stderr" 'tracefs is not mounted' &&
		! without_tracefs "$utrace" markers trace 'user:a*' -- true 2> "$tmp/stderr" &&
		has "$tmp/stderr" 'user:a\*: tracefs is not mounted'
}

# A string may be anywhere, by what the program writes.
far() {
	local times=70000

	[ "${SLOW:-}" != 1 ] || times=7000
	trace user:ue_far -- "$bin/user" -w $times "ue_far __data_loc char[] far; u32 a" &&
		is $times count "$log" ' user:ue_far ' &&
		trace user:ue_rel -- "$bin/user" -w $times "ue_rel __rel_loc char[] far; u32 a" &&
		is $times count "$log" ' user:ue_rel '
}

holds "user_events of a program" program
holds "a name that nobody has registered yet" unregistered
holds "user_events and functions together" with_function
holds "new processes" follows
holds "--count" counts
holds "--histogram" histogram
holds "--histogram of a function" histogram_of_function
holds "all processes" everywhere
holds "wildcards" wildcard
holds "one of several formats" several_formats
holds "a record that fits two formats" ambiguous
holds "list and status" list
holds "messages" errors
holds "without tracefs" no_tracefs
holds "strings at any offset" far
plan
