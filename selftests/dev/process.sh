#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - how the command utrace handles processes
#
# The test compares with strace what signals do, and covers programs that are
# launched, tasks that are attached to, outputs that fail, and the command ps.
# UTRACE= is the command; the default is the one in PATH.
# shellcheck disable=SC2016 # eval, and shells that are traced, get expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
need_built sleeper
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"

log=$tmp/log
cd "$tmp" || exit

# ends STATUS COMMAND...: check that the command ends with this status in time
ends() {
	local want=$1 got

	shift
	timeout -k 1 $((20 * patience)) "$@" > "$tmp/stdout" 2> "$tmp/stderr"
	got=$?
	[ "$got" = "$want" ] || { echo "$got instead of $want"; cat "$tmp/stderr"; return 1; }
}

# says STATUS TEXT ARG...: check that the command ends with this status, and
# that its message is one line with TEXT
says() {
	local status=$1 text=$2 said

	shift 2
	ends "$status" "$utrace" "$@" || return
	said=$(grep -v '^Try ' "$tmp/stderr")
	echo "$said"
	[[ $said != *$'\n'* && $said == utrace*"$text"* ]]
}

# trace ARG...: run the command in the background until it has attached to the
# task $task; its job is in $job
trace() {
	"$utrace" "$@" > "$tmp/stdout" 2> "$tmp/stderr" &
	job=$!
	await_by "$job" grep -sqE '^dev .* (clone|exec|exit|syscall)' "/proc/$task/utrace"
}

# sleeper: start a program that sleeps; its pid is in $task
sleeper() {
	rm -f "$tmp/ready"
	"$bin/sleeper" "$tmp/ready" &
	task=$!
	await has "$tmp/ready" "^$task\$" 2> /dev/null
}

# Each signal, from the terminal and by kill(2), with a log and without one.
cases=('run -o INT tty default' 'run -o INT tty exit' 'run -o INT tty note'
	'run -o INT kill default' 'run err INT tty default' 'run err INT tty exit'
	'run err INT tty note' 'run err INT kill exit' 'attach -o INT tty default'
	'attach err INT kill default' 'run -o TERM tty default' 'run -o TERM kill exit'
	'run err TERM kill default' 'run err TERM kill note' 'attach -o TERM kill default'
	'run -o QUIT tty exit' 'run err QUIT tty default' 'run -o HUP tty default'
	'run -o HUP kill default' 'run err HUP kill default' 'attach err HUP kill default'
	'run -o PIPE kill default' 'run err PIPE kill default')

test_signals() {
	local case tracer

	for tracer in strace utrace; do
		mkdir "$tmp/$tracer.d"
		(trap - INT QUIT
		"$bin/signals.py" "${!tracer:-strace}" "$bin/sleeper" "$tmp/$tracer.d" \
			"${cases[@]}" > "$tmp/$tracer.cases" 2>&1) &
	done
	wait
	for case in "${cases[@]}"; do
		holds "as strace: $case" is "$(grep "^$case: tracer" "$tmp/strace.cases")" \
			grep "^$case: tracer" "$tmp/utrace.cases"
	done
	holds "a terminal's signal is the program's" has "$tmp/utrace.cases" \
		'^run -o INT tty exit: tracer exit 7'
	holds "with a log it ignores signals" has "$tmp/utrace.cases" \
		'^run -o INT kill default: tracer goes on, then SIGKILL'
	holds "without one it sends them on" has "$tmp/utrace.cases" \
		'^run err TERM kill default: tracer SIGTERM, program SIGTERM, detached'
	holds "-I 2: interrupted with a log" eval '
		"$bin/signals.py" "$utrace -I 2" "$bin/sleeper" "$tmp/utrace.d" \
			"run -o TERM kill default" | grep "tracer SIGTERM, program SIGTERM"'
	holds "-I 3: never without one" eval '
		"$bin/signals.py" "$utrace -I never" "$bin/sleeper" "$tmp/utrace.d" \
			"run err TERM kill default" | grep "tracer goes on, then SIGKILL"'
}

test_launch() {
	holds "SIGCHLD is ignored: the status is there" ends 7 \
		bash -c 'trap "" CHLD; exec "$0" run sh -c "exit 7"' "$utrace"
	holds "the program finds it ignored" ends 0 bash -c \
		'trap "" CHLD; exec "$0" -o /dev/null grep "SigIgn:.*1....\$" /proc/self/status' \
		"$utrace"
	ends 0 "$utrace" run -o "$log" -e trace=execve true
	strace -o "$tmp/strace" -e trace=execve true 2> /dev/null
	holds "one execve(), of the file in PATH" diff \
		<(sed 's/0x.*/X/' "$tmp/strace") <(sed 's/0x.*/X/' "$log")
	holds "a folder in PATH without the program" eval '
		PATH=/nonexistent:$PATH ends 0 "$utrace" run -o "$log" -e trace=execve true &&
			is 2 count "$log" ""'
	holds "what is not executable is not the program" eval '
		touch "$tmp/true"; PATH=$tmp:$PATH ends 0 "$utrace" true'
	holds "no word: a program" ends 3 "$utrace" sh -c 'exit 3'
	holds "no word: an option first" ends 3 "$utrace" -f -o "$log" sh -c 'exit 3'
	printf '#!/bin/sh\nexit 5\n' > run
	cp run ps
	chmod +x run ps
	PATH=$tmp:$PATH holds "a program named run" ends 5 "$utrace" "run" run
	PATH=$tmp:$PATH holds "a program named ps" ends 5 "$utrace" -- ps
	holds "-E VAR=VALUE" eval '"$utrace" -o "$log" -E A=b=c env | grep -x A=b=c'
	holds "-E VAR" eval '! "$utrace" -o "$log" -E HOME env | grep ^HOME='
	holds "-u: the user" is 65534 "$utrace" -o "$log" -u nobody id -u
	holds "-u: the calls are there" has "$log" '^execve\('
	holds "-u: no such user" says 125 "no such user" -u nosuchuser true
}

# The thread ends when the file of the argument exists.
threads='import os, sys, threading, time
def work():
	os.access("/thread", 0)
	print(threading.get_native_id(), flush=True)
	while not os.path.exists(sys.argv[1]):
		time.sleep(0.1)
	os.access("/of-thread", 0)
t = threading.Thread(target=work)
t.start()
t.join()
os.access("/of-main", 0)'

test_threads() {
	local first tid

	ends 0 "$utrace" -o "$log" -e trace=access python3 -c "$threads" /
	holds "no -f: the first thread" has "$log" '^access\("/of-main"'
	holds "no -f: no other thread" hasnt "$log" thread
	ends 0 "$utrace" -f -o "$log" -e trace=access python3 -c "$threads" /
	holds "-f: all threads" has "$log" '^[0-9]+ +access\("/thread"'
	holds "-f: their numbers" is 2 eval 'grep access "$log" | cut -d " " -f 1 |
		sort -u | wc -l'

	rm -f tid
	python3 -c "$threads" "$tmp/go" > "$tmp/tid" &
	first=$!
	await test -s "$tmp/tid"
	tid=$(cat "$tmp/tid")
	task=$tid
	holds "-p TID: it attaches" trace -o "$log" -p "$tid"
	touch "$tmp/go"
	holds "-p TID" wait "$job"
	holds "-p TID: its calls" has "$log" '^access\("/of-thread"'
	holds "-p TID: its end" is '+++ exited with 0 +++' tail -n 1 "$log"
	holds "-p TID: no other thread" hasnt "$log" of-main
	holds "-p TID: that is said" has "$tmp/stderr" "^utrace: Process $tid attached"
	wait "$first"
}

test_outputs() {
	holds "-o /dev/full: 125" ends 125 "$utrace" -o /dev/full true
	holds "-o /dev/full: said once" is 'utrace: /dev/full: No space left on device' \
		cat "$tmp/stderr"
	holds "-o /dev/full: the program goes on" is over "$utrace" -o /dev/full echo over
	holds "standard error is full: 125" ends 125 sh -c 'exec "$0" true 2> /dev/full' \
		"$utrace"
	holds "standard error is closed: 125" ends 125 sh -c 'exec "$0" true 2>&-' "$utrace"
	holds "all are closed: the log is whole" eval '
		ends 0 sh -c "exec \"\$0\" -o log true <&- >&- 2>&-" "$utrace" &&
			[ "$(tail -n 1 "$log")" = "+++ exited with 0 +++" ]'
	sleeper
	holds "it ends with the reader of its pipe" ends 0 \
		sh -c '"$0" -q -p "$1" 2>&1 | true' "$utrace" "$task"
	kill -9 "$task"
	holds "--help to a full disk: 125" ends 125 sh -c 'exec "$0" --help > /dev/full' \
		"$utrace"
	holds "-o |COMMAND" eval '"$utrace" -e trace=none -o "|tr a-z A-Z" true |
		grep -x "+++ EXITED WITH 0 +++"'
	holds "-o !COMMAND" eval '"$utrace" -e trace=none -o "!tr a-z A-Z" true |
		grep -x "+++ EXITED WITH 0 +++"'
	holds "-o |COMMAND is waited for" eval '
		"$utrace" -o "|cat > /dev/null; sleep 0.5; touch late" true && [ -e late ]'
	holds "-o |COMMAND that reads nothing: 125" ends 125 "$utrace" -o '|exec 0<&-; sleep 1' \
		sh -c 'sleep 0.5'
	holds "that is said" has "$tmp/stderr" 'Broken pipe'
	ends 0 "$utrace" -e trace=none -o "$log" true
	ends 0 "$utrace" -e trace=none -A -o "$log" true
	holds "-A: two traces" is 2 count "$log" 'exited with 0'
}

test_attach() {
	local parent child

	sleeper
	holds "-p without a word" trace -o "$log" -p "$task"
	holds "the call that it is in" await has "$log" '^pause\($'
	kill -INT "$job"
	holds "it ends at SIGINT" await has_ended "$job"
	holds "that call goes on" has "$log" '^pause\( <detached \.\.\.>$'
	holds "what was attached" has "$tmp/stderr" "^utrace: Process $task attached$"
	holds "what was detached" has "$tmp/stderr" "^utrace: Process $task detached$"
	holds "-p of one that is not there and one that is" trace -o "$log" \
		-p 4194303 -p "$task"
	holds "the first is named in an error" has "$tmp/stderr" 'process 4194303: there is no such'
	kill "$task"
	holds "it ends with the second" wait "$job"

	# A parent with a child that sleeps, and a child that has ended.
	rm -f ready
	sh -c '"$0" ready & exec sleep 100' "$bin/sleeper" &
	parent=$!
	await test -s ready
	child=$(cat ready)
	task=$parent
	holds "-f -p" trace -f -o "$log" -p "$parent"
	kill -KILL "$parent"
	wait "$parent" 2> /dev/null
	await has "$log" "^$parent +\\+\\+\\+ killed by SIGKILL"
	sleep 0.5
	holds "-f: a child lives on, so does the trace" eval \
		'[[ "$(state '"$job"')" =~ [SR] ]]'
	kill -TERM "$child"
	holds "-f: it ends with the child" wait "$job"
	holds "-f: the end of the child" has "$log" "^$child +\\+\\+\\+ killed by SIGTERM"

	# The child ends when its parent is a program that does not wait for it.
	sh -c 'sleep 1 & echo $! > ended; exec sleep 100' &
	parent=$!
	await test -s ended
	child=$(cat ended)
	await eval '[ "$(state '"$child"')" = Z ]'
	holds "-p of one that has ended" says 125 "it has ended" -p "$child"
	kill "$parent"
	holds "a number that is too large" says 125 "is not the number" -p 4294967297
	holds "the command itself" ends 125 sh -c 'exec "$0" -p $$' "$utrace"
	holds "that is said" has "$tmp/stderr" 'this is the command itself'
}

test_options() {
	local option

	for option in -einject=read:error=1 --fault=read --kvm=vcpu --secontext; do
		holds "$option of strace: the nearest" says 125 "the nearest is" "$option" true
	done
	holds "-a as it was: --all is named" says 125 "--all" -a
	holds "-a as it was, after another option" says 125 "--all" -o "$log" -a
	holds "-a as it was, before another option" says 125 "--all" -a -o "$log"
	holds "--exe: no such file" says 125 "no such file" --exe=/no/such/file
	holds "--exe: a directory" says 125 "it is not an executable file" --exe=/
	holds "--exe twice" says 125 "give only one" --exe=/bin/true --exe=/bin/false
	holds "--cgroup twice" says 125 "give only one" --cgroup=/sys/fs/cgroup --cgroup=/
	holds "attach: no target" says 125 "give -p PID, --all, --exe" attach
	holds "--cgroup: no cgroup" says 125 "directory of a version 2 cgroup" --cgroup=/
	holds "--unit: no such unit" says 125 "no unit" --unit=no-such-unit
	holds "-V" ends 0 "$utrace" -V
	holds "-h" ends 0 "$utrace" -f -h
	holds "-q PROGRAM, no program" says 125 "which program" -q
	holds "-e with calls of the 32-bit table only" eval '
		ends 0 "$utrace" -o "$log" -e trace=waitpid true &&
			[ "$(cat "$log")" = "+++ exited with 0 +++" ]'
	sleeper
	holds "--all" trace --all -o "$log"
	kill "$task"
	await has "$log" "^$task +\\+\\+\\+ killed"
	holds "--all: a task that it did not start" has "$log" "^$task +\\+\\+\\+ killed by SIGTERM"
	kill -INT "$job"
	holds "--all: Ctrl-C" await has_ended "$job"
}

test_ps() {
	local first

	sleeper
	first=$task
	rm -f tid
	python3 -c "$threads" /no/such/file > "$tmp/tid" &
	task=$!
	await test -s "$tmp/tid"
	holds "two processes" trace -f -o "$log" -p "$first" -p "$task"
	"$utrace" ps > "$tmp/ps" 2> "$tmp/stderr"
	holds "ps: the header" has "$tmp/ps" '^ *PID PROGRAM +THREADS ENGINE +OWNER'
	holds "ps: a process" has "$tmp/ps" "^ *$first sleeper +1 dev +$job:utrace +tree +-"
	holds "ps: threads are one line" has "$tmp/ps" "^ *$task python3[^ ]* +2 dev "
	holds "ps: sorted" eval '[ "$(wc -l < "$tmp/ps")" -ge 3 ] && tail -n +2 "$tmp/ps" |
		awk "{ print \$1 }" | sort -n -c'
	holds "ps: aligned" eval 'awk "{ print match(\$0, /[^ ]+\$/) }" "$tmp/ps" |
		sort -u | wc -l | grep -x 1'
	holds "ps PID" is 2 eval '"$utrace" ps "$first" | wc -l'
	kill -INT "$job"
	await has_ended "$job"
	holds "ps: nobody is left" is 1 eval '"$utrace" ps "$first" | wc -l'
	kill "$first" "$task"
	wait "$first" "$task" 2> /dev/null
}

test_launch
test_threads
test_outputs
test_attach
test_options
test_ps
skip "signals" strace || test_signals
plan
