# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# utrace selftests - functions of the tests written in shell
#
# A test sources this file. The functions print results in TAP, handle instances
# of ftrace, and drive ftrace/actor.c, a program that carries out commands.
#
# Environment: SLOW=1 says that the machine is so slow that tests do less;
# PATIENCE=N multiplies the limits by the clock (patience.h).
# shellcheck disable=SC2034 # used where this is sourced

n=0
failed=0
patience=${PATIENCE:-1}
tracing=/sys/kernel/tracing
bin=$(cd "$(dirname "$0")" && pwd -P)	# folder of the test and its programs
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# skip_all WHY: end the test, since something that it needs is missing
skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

# need_utrace: begin a test that needs utrace in the kernel
need_utrace() {
	[ "$(id -u)" = 0 ] || skip_all "not root"
	[ -e /proc/self/utrace ] || skip_all "no utrace in this kernel (UTRACE)"
	echo "TAP version 13"
}

# need_device: begin a test of /dev/utrace
need_device() {
	[ -e /dev/utrace ] || skip_all "no /dev/utrace (UTRACE_DEV)"
	need_utrace
}

# need_tracer: begin a test of the process tracer
need_tracer() {
	[ -e "$tracing/available_tracers" ] || skip_all "no $tracing (tracefs mounted, root)"
	grep -qw process "$tracing/available_tracers" ||
		skip_all "no process tracer in this kernel (PROCESS_TRACER)"
	need_utrace
}

# need_built PROGRAM...: skip the test if a program of its folder is missing
need_built() {
	local program

	for program; do
		[ -x "$bin/$program" ] || skip_all "no $bin/$program (run make there)"
	done
}

# skip TEXT PROGRAM: true, after a skipped result, if PROGRAM is not installed
skip() {
	command -v "$2" > /dev/null && return 1
	n=$((n + 1))
	echo "ok $n $1 # SKIP no $2"
}

# holds TEXT COMMAND...: one result, with the output of a command that fails
holds() {
	local text=$1

	shift
	n=$((n + 1))
	if "$@" > "$tmp/said" 2>&1; then
		echo "ok $n $text"
	else
		echo "not ok $n $text"
		sed 's/^/#   /' "$tmp/said"
		failed=$((failed + 1))
	fi
}

# await COMMAND...: repeat the command until it succeeds, up to 10 s * PATIENCE
await() {
	local i

	for ((i = 0; i < 100 * patience; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

# state PID: print the state letter of the task
state() {
	sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2> /dev/null
}

# has_ended PID: check that the process has ended
has_ended() {
	[[ "$(state "$1")" =~ ^[ZX]?$ ]]
}

# or_ended PID COMMAND...: check that the command succeeds or the process has ended;
# ended=1 in the second case
or_ended() {
	"${@:2}" || { has_ended "$1" && ended=1; }
}

# await_by PID COMMAND...: await, and fail as soon as process PID has ended
await_by() {
	local ended=

	await or_ended "$@" && [ -z "$ended" ]
}

# plan: print the number of results, and succeed if none failed
plan() {
	echo "1..$n"
	[ "$failed" = 0 ]
}

# instance NAME: make an instance of ftrace and print its folder
instance() {
	mkdir "$tracing/instances/$1" && echo "$tracing/instances/$1"
}

# plain FILE: print the lines that are not comments
plain() {
	grep -v '^#' "$1"
}

# has FILE REGEX: check that a line of the file matches. grep -q would end
# early, and leave the writer of FILE with a broken pipe if FILE is a pipe.
has() {
	grep -E -- "$2" "$1" > /dev/null
}

# hasnt FILE REGEX: check that no line of the file matches. A file that cannot
# be read is an error, for which grep returns 2.
hasnt() {
	local ret=0

	has "$@" || ret=$?
	[ "$ret" = 1 ]
}

# count FILE REGEX: print how many lines match
count() {
	grep -cE -- "$2" "$1"
}

# is TEXT COMMAND...: check that the command prints exactly TEXT
is() {
	local want=$1 got

	shift
	got=$("$@")
	[ "$got" = "$want" ] || { echo "'$got' instead of '$want'"; return 1; }
}

# rejects FILE TEXT: check that a write of TEXT gives EINVAL
rejects() {
	local said

	said=$( (printf '%s\n' "$2" >> "$1") 2>&1) &&
		{ echo "'$2' is accepted"; return 1; }
	[[ $said == *"Invalid argument"* ]] || { echo "$said"; return 1; }
}

# follow DIR PID...: turn the tracer of an instance on, for these tasks
follow() {
	local dir=$1

	shift
	echo "$*" > "$dir/set_event_pid"
	echo process > "$dir/current_tracer"
}

# quiet DIR: turn off all that an instance may have on
quiet() {
	echo nop > "$1/current_tracer"
	echo > "$1/set_event_pid"
	echo > "$1/set_event_notrace_pid"
	echo > "$1/trace"
}

# begin: start the actor, whose pid is in $actor from now on
begin() {
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$bin/actor" < "$tmp/in" > "$tmp/out" &
	actor=$!
	exec 8> "$tmp/in" 9< "$tmp/out"
	act call 39 > /dev/null
}

# act COMMAND...: let the actor run a command, and print its answer
act() {
	local answer

	echo "$*" >&8
	read -r -t $((30 * patience)) answer <&9 && echo "$answer"
}

# do_it COMMAND...: act without printing the answer
do_it() {
	act "$@" > /dev/null
}

end() {
	exec 8>&- 9<&-
	wait "$actor"
}

# engine_events PID: print the events that each engine of the tracer wants of
# the task
engine_events() {
	awk '$1 == "ftrace" { print $5 }' "/proc/$1/utrace"
}

# lost DIR: print the number of records that an instance has lost
lost() {
	awk '$1 == "overrun:" || $1 == "dropped" { n += $NF } END { print n + 0 }' \
		"$1"/per_cpu/cpu*/stats
}
