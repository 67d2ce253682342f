#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - what 'utrace markers' says of wrong arguments, and of limits
#
# UTRACE= is the command; the default is the one in PATH.
# shellcheck disable=SC2119 # load may have arguments
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/marker/sites_command_lib.sh
. "$(dirname "$0")/sites_command_lib.sh"

# Messages

# fails TEXT ARG...: check that the command fails with this message
fails() {
	says 125 "utrace: $1" "${@:2}"
}

wrong_options() {
	fails "lst: 'list', 'trace' or 'status'? see 'utrace markers --help'" lst &&
		fails "markers list: of which file or process? give FILE or -p PID" list &&
		fails "markers list: give FILE or -p PID, not both" list -p 1 /bin/true &&
		fails "markers trace: which program or process? give -- PROGRAM, -p PID or -a" \
			trace a:b &&
		fails "markers trace: give one of -- PROGRAM, -p PID and -a, not several" \
			trace -p 1 -a a:b &&
		fails "markers trace: which markers? 'utrace markers list' lists them, \
and '*:*' selects all" trace -p 1 &&
		fails "markers trace: give --count or --histogram, not both" \
			trace -p 1 --count --histogram 1 a:b &&
		fails "x: this is not the number of a process" status x
}

# says_first TEXT ARG...: check that the command fails, with this first line
says_first() {
	local ret=0

	"$utrace" markers "${@:2}" > "$tmp/stdout" 2> "$errors" || ret=$?
	is "utrace markers trace: $1" sed -n 1p "$errors" && is 125 echo "$ret"
}

wrong_numbers() {
	says_first "-p 0: give a number from 1 to 2147483647" trace -p 0 a:b &&
		says_first "-p 7x: give a number from 1 to 2147483647" trace -p 7x a:b &&
		says_first "--args 7: give a number from 0 to 6" trace --args 7 -p 1 a:b &&
		says_first "--histogram 0: give a number from 1 to 12" \
			trace --histogram 0 -p 1 a:b &&
		says_first "--histogram 13: give a number from 1 to 12" \
			trace --histogram 13 -p 1 a:b
}

# patch OFFSET BYTES: make patched.so, the library with other bytes at the offset
patch() {
	cp "$library" "$tmp/patched.so"
	printf '%b' "$2" | dd of="$tmp/patched.so" bs=1 seek="$1" conv=notrunc status=none
}

wrong_files() {
	fails "/nowhere: there is no such file; give its path, as \$(command -v NAME)" \
		list /nowhere &&
		fails "$tmp: it is not a regular file; give a program or a library" list "$tmp" &&
		fails "/dev/null: it is not a regular file; give a program or a library" \
			trace -a /dev/null:a:b &&
		fails "$tmp/program.py: it is not an ELF file" list "$tmp/program.py" &&
		patch 16 '\x01\x00' &&
		fails "$tmp/patched.so: it is neither a program nor a library" \
			list "$tmp/patched.so" &&
		patch 18 '\xb7\x00' &&
		fails "$tmp/patched.so: it is made for another kind of processor" \
			list "$tmp/patched.so" &&
		fails "/nowhere: there is no such file; give its path, as \$(command -v NAME)" \
			trace /nowhere:a:b -- true &&
		fails "$tmp/program.py: it is not an ELF file" \
			trace "$tmp/program.py:main" -- true &&
		fails "/nowhere/log: No such file or directory" \
			trace -o /nowhere/log "$library:utrace_test:hit" -- true &&
		! "$utrace" markers list /nowhere "$library" > "$tmp/stdout" 2> "$errors" &&
		is "$(rows)" sed -n '/^PROVIDER/,/^$/{ s/  */ /g; /./p; }' "$tmp/stdout"
}

wrong_markers() {
	local which="give PROVIDER:NAME, FILE:PROVIDER:NAME, FILE:FUNCTION or user:NAME"

	load && fails "hit: $which" trace -p "$actor" hit &&
		fails ":hit: $which" trace -p "$actor" :hit &&
		fails "utrace_test:: $which" trace -p "$actor" utrace_test: &&
		fails "utrace_test:hi: no such marker in process $actor; see 'utrace markers list \
-p $actor'.  A function is FILE:FUNCTION, with a '/' in FILE" \
			trace -p "$actor" utrace_test:hit utrace_test:hi &&
		fails "$library:utrace_test:hi: no such marker; see 'utrace markers list \
$library'" \
			trace -p "$actor" "$library:utrace_test:hi" &&
		fails "$library:probed: $library has no symbol for a function 'probed'; is it \
stripped, or is the function chosen by the loader (type 'i' of nm -D)?" \
			trace -p "$actor" "$library:probed" &&
		fails "utrace_test:hit: $python itself has no such marker; for those of libraries, \
or of the interpreter of a script, give FILE:PROVIDER:NAME; a function is FILE:FUNCTION, with \
a '/' in FILE" trace utrace_test:hit -- "$python" &&
		is "0 0 0" semaphores "$actor" && is "" status
}

wrong_programs() {
	says 127 "utrace: no-such-program: No such file or directory in PATH, nor is it a \
command of utrace" trace "$library:utrace_test:hit" -- no-such-program &&
		says 127 "utrace: /nowhere/x: No such file or directory" \
			trace "$library:utrace_test:hit" -- /nowhere/x &&
		run 126 "$library:utrace_test:hit" -- "$tmp/program.py" &&
		has "$errors" "^utrace: $tmp/program.py: Permission denied$"
}

wrong_processes() {
	local gone

	load && gone=$actor && end &&
		fails "process $gone: there is no such process" list -p "$gone" &&
		fails "process $gone: there is no such process" trace -p "$gone" utrace_test:hit &&
		fails "process $gone: there is no such process" \
			trace -p "$gone" "$library:utrace_test:hit" &&
		fails "$gone: there is no such process" status "$gone" || return
	# The shell becomes a program that does not wait for its child.
	start bash -c 'sleep 0 & echo $!; exec cat'
	gone=$(answer) && await is Z state "$gone" > /dev/null &&
		fails "process $gone: it has ended; its parent has not waited for it yet" \
			trace -p "$gone" "$library:utrace_test:hit" &&
		fails "process $gone: it has ended; its parent has not waited for it yet" \
			list -p "$gone" &&
		fails "process 2: it has no program: it is a kernel thread, or is exiting" \
			list -p 2
}

# note NAME WORD: print what a marker's note has behind the word
note() {
	readelf -nW "$library" | sed -n "/Name: $1\$/{ n; s/.*$2: \(0x[0-9a-f]*\).*/\1/p; }"
}

# A debugger has a breakpoint at the marker.
debugger() {
	local base

	load && base=$(awk -v lib="$library" '$6 == lib { sub(/-.*/, "", $1); print $1; exit }' \
		"/proc/$actor/maps") &&
		printf '\xcc' | dd of="/proc/$actor/mem" bs=1 conv=notrunc status=none \
			seek=$((0x$base + $(note hit Location))) || return
	fails "utrace_test:hit of $library: the process has changed its code there, or a debugger \
has a breakpoint there; remove that breakpoint
utrace: arming: no marker could be armed" trace -p "$actor" utrace_test:hit
}

# A section makes a file one of Go.
returns_of_go() {
	objcopy --add-section ".go.buildinfo=$tmp/program.py" "$library" "$tmp/go.so" &&
		fails "$tmp/go.so: it is made by Go, whose runtime ends a program when it finds a \
return probe ('unexpected return pc'); trace entries of functions, or give --force" \
			trace "$tmp/go.so:probed_add%return" -- true &&
		run 0 "$tmp/go.so:probed_add" -- true &&
		run 0 --force "$tmp/go.so:probed_add%return" -- true
}

too_many_markers() {
	local libc

	libc=$(awk '$6 ~ /\/libc\.so/ { print $6; exit }' /proc/self/maps)
	cp "$libc" "$tmp/libc.so"
	run 125 "$tmp/libc.so:*" -- true &&
		is "there are too many markers for one trace; give fewer MARKERs (the kernel takes \
1024 markers and user_events)" sed 's/^utrace: libc\.so:[^ ]* of [^ ]*: //' "$errors"
}

too_many_engines() {
	local most ret=0

	most=$(cat /proc/sys/user/max_utrace_engines)
	load && echo 0 > /proc/sys/user/max_utrace_engines || return
	fails "attaching to process $actor: you have too many engines; end other traces, or \
raise /proc/sys/user/max_utrace_engines" trace -p "$actor" utrace_test:hit || ret=$?
	echo "$most" > /proc/sys/user/max_utrace_engines
	return $ret
}

no_rights() {
	local why="not allowed: trace your own processes, or as root (see also \
/proc/sys/kernel/utrace/unprivileged and /proc/sys/kernel/yama/ptrace_scope)" ret=0

	load || return
	with=("${nobody[@]}")
	fails "process $actor: $why" list -p "$actor" &&
		fails "process $actor: $why" trace -p "$actor" utrace_test:hit &&
		fails "process $actor: $why" trace -p "$actor" "$library:utrace_test:hit" &&
		fails "/dev/utrace: $why" trace "$library:utrace_test:hit" -- true &&
		fails "/dev/utrace: $why" trace -a "$library:utrace_test:hit" &&
		chmod 700 "$library" && fails "$library: Permission denied" list "$library" ||
		ret=$?
	chmod 755 "$library"
	return $ret
}

no_device() {
	with=(unshare -m sh -c 'mount -t tmpfs none /dev && : > /dev/null && exec "$@"' sh)
	fails "/dev/utrace: there is no /dev/utrace: boot a kernel with CONFIG_UTRACE_DEV" \
		trace "$library:utrace_test:hit" -- true
}

check "messages about options" wrong_options
check "messages about numbers" wrong_numbers
check "messages about files" wrong_files
check "messages about markers" wrong_markers
check "messages about programs" wrong_programs
check "messages about processes" wrong_processes
check "the breakpoint of a debugger" debugger
check "returns in programs of Go" returns_of_go
check "too many markers" too_many_markers
check "too many engines" too_many_engines
check "no rights" no_rights
check "no device" no_device
plan
