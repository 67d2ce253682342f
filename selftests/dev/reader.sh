#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the example readers, samples/utrace/{,mapped_}reader.c
#
# What they print is compared with what strace prints of the same process, and
# with what a program says of itself. reader_drop is reader.c with drop.c, so that
# its session loses what finds no room.
# shellcheck disable=SC2016 # bash -c gets programs
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
need_built mapped_reader reader reader_drop

# hold PROGRAM [ARG...]: start a process that executes the program at `release`;
# its pid is in $task
hold() {
	rm -f "$tmp/go"
	mkfifo "$tmp/go"
	bash -c 'read -r < "$0"; exec "$@"' "$tmp/go" "$@" > "$tmp/output" 2>&1 &
	task=$!
}

release() {
	echo > "$tmp/go"
}

# read_it READER: start the reader of the task; its job is in $job
read_it() {
	"$bin/$1" "$task" > "$tmp/$1" 2> "$tmp/errors" &
	job=$!
	await_by "$job" grep -sq '^dev .*syscall' "/proc/$task/utrace"
}

# ends STATUS: check that the reader ends with this status within the limit
ends() {
	local status

	await has_ended "$job" || kill "$job"
	wait "$job"
	status=$?
	[ "$status" = "$1" ] || { echo "$status"; cat "$tmp/errors"; return 1; }
}

# calls FILE: print the calls of a log of strace or the reader that come after
# execve(), as "NUMBER(ARGUMENTS) RESULT"; a result that is an error is -1
calls() {
	sed -nE -e 's/^\[ *([0-9]+)\] [a-z0-9_]+(\(.*\)) += ([^ ]+).*/\1\2 \3/p' \
		-e 's/^[0-9]+ ([0-9]+\(.*\)) = (.*)/\1 \2/p' "$1" |
		sed -E -e 's/ -[0-9]+$/ -1/' -e '1,/^59\(/d'
}

# agrees READER: are the calls of its log those of strace? The reader prints six
# arguments.
agrees() {
	local ours theirs n=0

	while read -r -u 3 theirs; do
		read -r -u 4 ours || { echo "the reader has no $theirs"; return 1; }
		if [[ ${ours%%)*}, != "${theirs%%)*},"* ]] ||
			[ "$(result "$ours")" != "$(result "$theirs")" ]; then
			echo "$ours instead of $theirs"
			return 1
		fi
		n=$((n + 1))
	done 3< <(calls "$tmp/strace") 4< <(calls "$tmp/$1")
	[ "$n" -gt 20 ] || { echo "only $n calls"; return 1; }
}

# result CALL: print the result of a call, in decimal
result() {
	local result=${1##*) }

	[ "$result" = '?' ] && echo '?' || echo $((result))
}

test_strace() {
	local reader=$1 other

	skip "$reader prints what strace prints" strace && return
	hold ls -l /
	strace -n -e raw=all -e signal=none -o "$tmp/strace" -p "$task" 2> /dev/null &
	other=$!
	await grep -q 'TracerPid:.*[1-9]' "/proc/$task/status"
	read_it "$reader"
	release
	holds "$reader ends with the process" ends 0
	wait "$other"
	holds "$reader prints what strace prints" agrees "$reader"
}

# count READER NUMBER FD: print how many calls on the descriptor it has printed
count() {
	grep -cE "^$task $2\($3," "$tmp/$1"
}

test_waits() {
	local reader=$1

	hold dd if=/dev/zero of=/dev/null bs=1 count=20000
	read_it "$reader"
	kill -STOP "$job"
	release
	holds "a process waits for a $reader that is stopped" \
		await eval '[ "$(state "$task")" = t ]'
	kill -CONT "$job"
	holds "and is read to its end" ends 0
	holds "the program has done it all" grep -x '20000+0 records out' "$tmp/output"
	holds "each read is printed" [ "$(count "$reader" 0 0)" -ge 20000 ]
	holds "each write is printed" [ "$(count "$reader" 1 0x1)" -ge 20000 ]
	holds "and the call by which it ends" \
		has "$tmp/$reader" "^$task 231\(0, .*\) = \?$"
}

test_drop() {
	local lost

	hold dd if=/dev/zero of=/dev/null bs=1 count=20000
	read_it reader_drop
	kill -STOP "$job"
	release
	holds "a process does not wait for a session that may lose records" \
		await has_ended "$task"
	kill -CONT "$job"
	holds "a loss is an error" ends 1
	lost=$(sed -n 's/.*: \([0-9]*\) records were lost$/\1/p' "$tmp/errors")
	holds "the error has the number of lost records" [ "${lost:-0}" -gt 0 ]
	holds "no record is neither printed nor counted" \
		[ $((${lost:-0} + $(wc -l < "$tmp/reader_drop"))) -gt 40000 ]
}

test_errors() {
	holds "no process is an error" eval '! "$bin/reader" 2> "$tmp/errors"'
	holds "and so is one that is gone" \
		eval '! "$bin/reader" 4194304 2> "$tmp/errors"'
	holds "the message says why" grep 'No such process' "$tmp/errors"
}

for reader in reader mapped_reader; do
	test_strace $reader
	test_waits $reader
done
test_drop
test_errors
plan
