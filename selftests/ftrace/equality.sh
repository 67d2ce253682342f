#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - a parallel build, seen by four tracers at once
#
# The tracer, an instance with its events enabled (the listener), raw_syscalls
# and strace must show the same calls of each task.
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built threads

here=$(cd "$(dirname "$0")" && pwd -P)
own=$(instance equal)
listener=$(instance equal-listener)
raw=$(instance equal-raw)
all=("$own" "$listener" "$raw")
trap 'rmdir "${all[@]}" 2> /dev/null; rm -rf "$tmp"' EXIT

# Four files to compile, archive and link.
project() {
	local k

	mkdir "$tmp/build"
	for k in {1..4}; do
		echo "int f$k(int x) { return x * $k; }" > "$tmp/build/f$k.c"
	done
	{
		printf 'int f%d(int);\n' {1..4}
		echo 'int main(void) { return 0'
		printf ' + f%d(%d)\n' 1 1 2 2 3 3 4 4
		echo '- 30; }'
	} > "$tmp/build/main.c"
	cat > "$tmp/build/Makefile" <<- END
		all: run threads
		run: prog; ./prog
		threads: ; $bin/threads 10 30 < lines
		prog: main.o lib.a; gcc -o \$@ \$^
		lib.a: $(printf 'f%d.o ' {1..4}); ar rc \$@ \$^
		%.o: %.c; gcc -O1 -c -o \$@ \$<
	END
	printf '\n\n' > "$tmp/build/lines"
}

setup() {
	local dir

	for dir in "${all[@]}"; do
		echo 40000 > "$dir/buffer_size_kb"
		echo counter > "$dir/trace_clock"
		echo 1 > "$dir/options/event-fork"
		echo 1 > "$dir/set_event_pid"
	done
	echo 1 > "$own/options/fields"
	# The listener gets the events of the tracer's targets, and needs no
	# targets.
	echo > "$listener/set_event_pid"
	echo 1 > "$listener/events/utrace/enable"
	echo 1 > "$raw/events/raw_syscalls/enable"
	echo process > "$own/current_tracer"
}

# The shell becomes strace; records count from that execve() on.
run() {
	cd "$tmp/build" || exit
	echo "$BASHPID" >> "$raw/set_event_pid"
	echo "$BASHPID" >> "$own/set_event_pid"
	exec strace -f -q -X raw -o "$tmp/strace.log" make -s -j4
}

# calls FROM FILE: print the calls of each task in their order
calls() {
	awk -v from="$1" -f "$here/calls.awk" "$own/events/utrace/utrace_sys_enter/format" "$2" |
		awk -v strace="$strace" '$1 == strace && $3 == "execve" { began = 1 }
			$1 != strace || began' |
		sort -s -n -k 1,1 > "$tmp/$1"
}

# entries FROM: print those entries that strace shows, too: from the first
# execve() of the build on, without strace itself and the children that strace
# tries things with
entries() {
	awk -v first="$(awk '{ print $1; exit }' "$tmp/strace.log")" '
		FNR == NR { traced[$1] = 1; next }
		$1 == first && $3 == "execve" { began = 1 }
		$2 == ">" && $1 in traced && ($1 != first || began) { print $1, $3 }
		' "$tmp/strace" "$tmp/$1"
}

# short FROM: print the calls with what the option "fields" shows of them
short() {
	awk '{ print $1, $2, $3, $2 == "<" ? $4 : "" }' "$tmp/$1" | sed 's/ $//'
}

same() {
	diff "$1" "$2" > "$tmp/diff" || { head -n 30 "$tmp/diff"; return 1; }
}

project
setup
run > "$tmp/said" 2>&1 &
strace=$!
holds "the build succeeds" wait "$strace"
for dir in "${all[@]}"; do
	echo 0 > "$dir/tracing_on"
	holds "nothing is lost: ${dir##*/}" is 0 lost "$dir"
done
calls fields "$own/trace"
calls listener "$listener/trace"
calls raw "$raw/trace"
calls strace "$tmp/strace.log"
short raw > "$tmp/raw.short"
entries raw > "$tmp/raw.entries"
entries strace > "$tmp/strace.entries"
echo "# $(wc -l < "$tmp/raw.entries") calls of $(cut -d ' ' -f 1 "$tmp/raw" | uniq | wc -l) tasks"
holds "there is something to compare" [ "$(wc -l < "$tmp/raw.entries")" -gt 5000 ]
holds "tracer and raw_syscalls: calls and results" same "$tmp/raw.short" "$tmp/fields"
holds "listener and raw_syscalls: calls, arguments and results" same "$tmp/raw" "$tmp/listener"
holds "strace and raw_syscalls: calls" same "$tmp/raw.entries" "$tmp/strace.entries"
quiet "$own"
echo 0 > "$raw/events/raw_syscalls/enable"
echo 0 > "$listener/events/utrace/enable"
plan
