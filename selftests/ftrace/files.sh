#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - what the files in process/ accept, show and refuse
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer

a=$(instance files-a)
b=$(instance files-b)
trap 'rmdir "$a" "$b"; rm -rf "$tmp"' EXIT
p=$a/process

# set_to FILE WORDS: check that the file shows just these words, one a line
set_to() {
	is "${2// /$'\n'}" cat "$p/$1"
}

# words FILE ONE TWO: write words in the ways of ftrace's files
words() {
	local f=$p/$1

	cat "$b/process/$1" > "$tmp/other"
	echo "$2" > "$f"
	holds "$1: > sets" set_to "$1" "$2"
	echo "$3" >> "$f"
	holds "$1: >> adds" set_to "$1" "$2 $3"
	echo "$3" >> "$f"
	holds "$1: >> of a word that is there" set_to "$1" "$2 $3"
	cat "$f" > "$tmp/old"
	cat "$tmp/old" > "$f"
	holds "$1: its text can be written back" cmp "$tmp/old" "$f"
	holds "$1: the other instance is unchanged" cmp "$tmp/other" "$b/process/$1"
	echo "!$2" >> "$f"
	holds "$1: ! removes" set_to "$1" "$3"
	echo "$2 $3" > "$f"
	holds "$1: several words in one line" set_to "$1" "$2 $3"
	printf '%s\n!%s\n' "$2" "$3" > "$f"
	holds "$1: several lines in one write" set_to "$1" "$2"
	echo "$3" > "$f"
	holds "$1: > replaces" set_to "$1" "$3"
	: > "$f"
	holds "$1: > of nothing empties" set_to "$1" ""
	echo "$2" > "$f"
	echo > "$f"
	holds "$1: > of an empty line empties" set_to "$1" ""
}

# refuses FILE TEXT WORD: check that TEXT is EINVAL and error_log points at WORD
refuses() {
	local f=$p/$1 lines before

	echo > "$a/error_log"
	rejects "$f" "$2" || return 1
	mapfile -t lines < "$a/error_log"
	printf '%s\n' "${lines[@]}"
	[[ ${lines[0]} == *" process/$1: error: "* ]] || return 1
	before=${lines[1]%%"$3"*}
	[ "$before" != "${lines[1]}" ] && [ "${lines[2]%%^*}" = "${before//?/ }" ]
}

# bad FILE GOOD WORD: a refused word changes nothing, whichever way it is
# written
bad() {
	local f=$p/$1

	echo "$2" > "$f"
	holds "$1: '$3' is refused, and error_log points at it" refuses "$1" "$2 $3" "$3"
	holds "$1: '$3' is refused by >" eval "! echo '$3' 2> /dev/null > $f"
	holds "$1: '$3' changes nothing" set_to "$1" "$2"
}

test_names() {
	local dir

	for dir in "$tracing" "$a"; do
		holds "the tracer is available: ${dir##*/}" \
			grep -w process "$dir/available_tracers"
		holds "the files in process/: ${dir##*/}" is \
			"args cgroups comms events exes stacks stat syscalls uids " \
			eval "ls $dir/process | tr '\n' ' '"
	done
	holds "the trace events" is \
		"exec exit fork jobctl signal sys_enter sys_exit " \
		eval "ls $a/events/utrace | sed -n 's/^utrace_//p' | tr '\n' ' '"
	for dir in comms exes uids cgroups syscalls; do
		holds "$dir: empty at first" is "" cat "$p/$dir"
	done
}

test_words() {
	mkdir -p /sys/fs/cgroup/files-one /sys/fs/cgroup/files-two
	words comms one two
	words exes /bin/cat /bin/sleep
	words uids 1 65534
	words cgroups /files-one /files-two
	words events fork stat
	words events stat cpu
	words syscalls read openat
	words args strings files
	holds "events: all of them are accepted" eval \
		'echo jobctl cpu stat sys_enter exec sys_exit signal fork exit > $p/events'
	holds "events: 9" is 9 eval 'wc -l < $p/events'
	holds "args: all of them are accepted" eval 'echo strings buffers sockets files > $p/args'
	echo "one" > "$p/comms"
	echo '"two words"' >> "$p/comms"
	holds "comms: a blank in a name" has "$p/comms" '^"two words"$'
	echo '!"two words"' >> "$p/comms"
	holds "comms: a name with a blank is removed" set_to comms one
}

test_stacks() {
	local word

	for word in frames raw none; do
		echo $word > "$p/stacks"
		holds "stacks: $word" set_to stacks $word
	done
	holds "stacks: another word is refused" rejects "$p/stacks" some
	holds "stacks: the word changes nothing" set_to stacks none
}

test_calls() {
	echo i386/getpid > "$p/syscalls"
	holds "syscalls: a name of the 32-bit table" set_to syscalls i386/getpid
	echo i386/20 > "$p/syscalls"
	holds "syscalls: a number is shown as a name" set_to syscalls i386/getpid
	echo 39 > "$p/syscalls"
	cat "$p/syscalls" > "$tmp/old"
	cat "$tmp/old" > "$p/syscalls"
	holds "syscalls: a number can be written back" cmp "$tmp/old" "$p/syscalls"
	holds "syscalls: a number is not both tables" hasnt "$p/syscalls" i386
}

test_bad() {
	bad events "sys_enter" nothing
	bad args "strings" nothing
	bad syscalls "read" nothing
	bad syscalls "read" 100000
	bad syscalls "read" -1
	bad syscalls "read" i386/nothing
	bad uids "1" root
	bad uids "1" -1
	bad uids "1" 4294967295
	bad uids "1" 4294967296
	bad exes "/bin/cat" /no/such/file
	bad exes "/bin/cat" /tmp
	bad cgroups "/files-one" /no/such/group
	bad comms "one" a-name-of-16-byte
	bad comms "one" '"two'
	bad comms "one" '!'
	bad comms "one" '""'
	bad comms "one" '!two'
	holds "comms: wrong names change nothing" set_to comms one
}

test_names
test_words
test_stacks
test_calls
test_bad
for f in comms exes uids cgroups; do
	: > "$p/$f"
done
rmdir /sys/fs/cgroup/files-one /sys/fs/cgroup/files-two
plan
