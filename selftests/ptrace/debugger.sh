#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - strace on a program that gdb debugs, as in ptrace.rst
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_utrace
limit=/proc/sys/kernel/ptrace_max_tracers
[ -e "$limit" ] || skip_all "no $limit (UTRACE_PTRACE)"
for tool in gdb strace; do
	command -v "$tool" > /dev/null || skip_all "$tool is not installed"
done

before=$(cat "$limit")
gdb='' strace=''

# Leave the machine as it was.
clean_up() {
	# shellcheck disable=SC2086 # those that run
	kill $gdb $strace 2> /dev/null
	echo "$before" > "$limit"
	rm -rf "$tmp"
}
trap clean_up EXIT
echo 4 > "$limit"

# stopped_times N: check that gdb has stopped the program N times at the signal
stopped_times() {
	[ "$(grep -c 'received signal SIGUSR1' "$tmp/gdb")" -ge "$1" ]
}

# gdb runs a program that reads from an empty pipe again and again; the
# commands come by a pipe, so that gdb waits between them.
mkfifo "$tmp/commands" "$tmp/never"
cat > "$tmp/program" <<-END
	trap 'echo usr1 > $tmp/usr1' USR1
	exec 3<> $tmp/never
	echo \$\$ > $tmp/pid
	while :; do
		read -r -t 0.05 -u 3
		: > $tmp/alive
	done
END
gdb -q -nx -nh /bin/bash < "$tmp/commands" > "$tmp/gdb" 2>&1 &
gdb=$!
exec 9> "$tmp/commands"
{
	echo "set pagination off"
	echo "set confirm off"
	echo "set breakpoint pending on"
	echo "set startup-with-shell off"
	echo "handle SIGUSR1 stop print pass"
	echo "run $tmp/program"
} >&9
await test -s "$tmp/pid" || sed 's/^/# /' "$tmp/gdb"
pid=$(cat "$tmp/pid")

strace -o "$tmp/strace" -p "$pid" 2> "$tmp/err" &
strace=$!
holds "strace traces a program that gdb debugs" await grep -q '^[a-z0-9_]*(' "$tmp/strace"
holds "/proc/PID/status names both tracers" grep -q "^Tracers:.$gdb $strace\$" "/proc/$pid/status"
holds "TracerPid is gdb" grep -q "^TracerPid:.$gdb\$" "/proc/$pid/status"

# A signal stops the program for gdb first, and then comes to strace.
kill -USR1 "$pid"
holds "gdb stops at the signal" await grep -q 'received signal SIGUSR1' "$tmp/gdb"
: > "$tmp/strace"
rm -f "$tmp/alive"
sleep 0.5
holds "the program stays stopped" test ! -e "$tmp/alive"
echo "continue" >&9
holds "strace sees the signal" await grep -q 'SIGUSR1' "$tmp/strace"
holds "the program gets the signal" await test -s "$tmp/usr1"

# strace attaches and detaches while gdb has the program stopped.
kill -INT "$strace"
wait "$strace"
rm -f "$tmp/usr1"
kill -USR1 "$pid"
holds "gdb stops at the signal again" await stopped_times 2
strace -o "$tmp/strace2" -p "$pid" 2> "$tmp/err2" &
strace=$!
holds "strace attaches to the stopped program" await grep -q attached "$tmp/err2"
kill -INT "$strace"
wait "$strace"
holds "strace detaches from the stopped program" await grep -q detached "$tmp/err2"
holds "the program stays stopped for gdb" grep -q '^State:.*tracing stop' "/proc/$pid/status"
echo "continue" >&9
holds "the program goes on when gdb continues it" await test -s "$tmp/usr1"
holds "gdb reports no error" hasnt "$tmp/gdb" '[Ee]rror|Cannot|Could not|lost|ptrace:'
kill -KILL "$pid"
holds "gdb reports the end" await grep -q 'terminated with signal SIGKILL' "$tmp/gdb"
echo "quit" >&9
plan
