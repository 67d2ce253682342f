# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the checks of the process tracer share: instances of ftrace, and a
# program that does what it is told (actor.c). Sourced; BIN= has the programs,
# SLOW=1 is said where everything takes long.
# shellcheck disable=SC2034 # used where this is sourced

# shellcheck source=selftests/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/../check.sh"

tracing=/sys/kernel/tracing
bin=${BIN:?}

# instance NAME: make one and print its folder
instance() {
	mkdir "$tracing/instances/$1" && echo "$tracing/instances/$1"
}

# Lines of any kind in a file, without those of comment.
plain() {
	grep -v '^#' "$1"
}

# has FILE REGEX: does a line of the file fit? Not grep -q, which would leave
# whoever writes with a broken pipe.
has() {
	grep -E -- "$2" "$1" > /dev/null
}

hasnt() {
	! has "$@"
}

# count FILE REGEX: how many lines fit
count() {
	grep -cE -- "$2" "$1"
}

# is TEXT COMMAND...: does the command print just that?
is() {
	local want=$1 got

	shift
	got=$("$@")
	[ "$got" = "$want" ] || { echo "'$got' instead of '$want'"; return 1; }
}

# rejects FILE TEXT: writing it is EINVAL
rejects() {
	local said

	said=$( (printf '%s\n' "$2" >> "$1") 2>&1) &&
		{ echo "'$2' is taken"; return 1; }
	[[ $said == *"Invalid argument"* ]] || { echo "$said"; return 1; }
}

# follow DIR PID...: the tracer in an instance, on these tasks
follow() {
	local dir=$1

	shift
	echo "$*" > "$dir/set_event_pid"
	echo process > "$dir/current_tracer"
}

# Everything off that an instance may have on.
quiet() {
	echo nop > "$1/current_tracer"
	echo > "$1/set_event_pid"
	echo > "$1/set_event_notrace_pid"
	echo > "$1/trace"
}

# begin: start the program that acts; sets actor, its pid
begin() {
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$bin/actor" < "$tmp/in" > "$tmp/out" &
	actor=$!
	exec 8> "$tmp/in" 9< "$tmp/out"
	act call 39 > /dev/null
}

# act COMMAND...: have it done, and print the answer
act() {
	local answer

	echo "$*" >&8
	read -r -t $((30 * patience)) answer <&9 && echo "$answer"
}

# do_it COMMAND...: the same without the answer
do_it() {
	act "$@" > /dev/null
}

end() {
	exec 8>&- 9<&-
	wait "$actor"
}

# engine_events PID: what engines of the tracer are told of the task, one a line
engine_events() {
	awk '$1 == "ftrace" { print $5 }' "/proc/$1/utrace"
}

# Records that an instance has lost.
lost() {
	awk '$1 == "overrun:" || $1 == "dropped" { n += $NF } END { print n + 0 }' \
		"$1"/per_cpu/cpu*/stats
}

[ -e /proc/self/utrace ] || { echo "Bail out! no utrace in this kernel"; exit 1; }
echo "TAP version 13"
