#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the command 'utrace branches'
#
# The test reports files with known records and files that are wrong, records
# programs, and checks the last branches of programs that crash. UTRACE= is the
# command; the default is the one in PATH.
# shellcheck disable=SC2016 # eval, and shells that are traced, get expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
need_built walker
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"
walker=$bin/walker
data=$tmp/branches.data
files=$tmp/files
cd "$tmp" || exit

# branchfile ARG...: write and read files, see branchfile.py
branchfile() {
	python3 "$bin/branchfile.py" "$@"
}

# ends STATUS COMMAND...: check that the command ends with this status in time
ends() {
	local want=$1 got

	shift
	timeout -k 1 $((60 * patience)) "$@" > "$tmp/stdout" 2> "$tmp/stderr"
	got=$?
	[ "$got" = "$want" ] || { echo "$got instead of $want"; cat "$tmp/stderr"; return 1; }
}

# clear_error TEXT ARG...: check that the status is 125, and the message is one
# line with TEXT
clear_error() {
	local text=$1 said

	shift
	ends 125 "$utrace" branches "$@" || return
	said=$(grep -v '^Try \|^more information' "$tmp/stderr")
	echo "$said"
	[[ $said != *$'\n'* && $said == utrace*"$text"* ]]
}

# dies_of SIGNAL COMMAND...: check that the signal kills the command
dies_of() {
	python3 -S -c 'import os, sys
status = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
sys.exit(status != -int(sys.argv[1]) and f"status {status}")' \
		"$@" > "$tmp/stdout" 2> "$tmp/stderr" || { cat "$tmp/stderr"; return 1; }
}

# record ARG...: record into $data; the program's output is in $tmp/stdout
record() {
	"$utrace" branches record -o "$data" "$@" > "$tmp/stdout" 2> "$tmp/stderr"
}

# report ARG...: report $data, into $tmp/report
report() {
	"$utrace" branches report "$@" "$data" > "$tmp/report"
}

# function_row NAME: print branches, calls and module of a function
function_row() {
	awk -v name="$1" '/^ +Taken/ { exit } $4 == name { print $1, $3, $5 }' "$tmp/report"
}

# section NUMBER: print the sum of the first column of a table of the report
section() {
	awk -v n="$1" '/^$/ { at++ } at == n && $1 ~ /^[0-9]+$/ { sum += $1 }
		END { print sum + 0 }' "$tmp/report"
}

# branches: print how many branches the file has, counted without the command
branches() {
	branchfile types "$data" | awk '$1 == "BRANCH" { print $2 }'
}

# adds_up: check that functions and edges in a report with --functions 0 have the
# branches of the file
adds_up() {
	local want

	want=$(branches)
	is "$want" section 1 && is "$want" section 2
}

# A file whose records are known.
test_known() {
	local data=$files/known
	holds "known: a report" report --functions 0 --flame "$tmp/flame.svg"
	holds "known: inner()" is "20 5 walker" function_row inner
	holds "known: outer()" is "4 1 walker" function_row outer
	holds "known: a function that is jumped to is called" is "2 1 walker" \
		function_row jump
	holds "known: a handler is called" is "2 1 walker" function_row handler
	holds "known: main() is not" is "3 0 walker" function_row main
	holds "known: nothing is lost" has "$tmp/report" '^37 branches of 1 task, none lost$'
	holds "known: system calls" has "$tmp/report" '^ +2  system calls$'
	holds "known: the handler" has "$tmp/report" '^ +1  handlers of signals$'
	holds "known: the hottest edge" has "$tmp/report" \
		'^ +15  40.5%  cond   inner\+0x3 -> inner\+0x1$'
	holds "known: its source line" has "$tmp/report" '^ +walker.c:[0-9]+ -> walker.c:[0-9]+$'
	holds "known: it adds up" adds_up
	holds "known: the stacks of the flame graph" diff - <(
		branchfile folded "$tmp/flame.svg" | sort) <<- 'END'
		walker 37
		walker;main 37
		walker;main;jump 9
		walker;main;jump;handler 4
		walker;main;jump;handler;inner 1
		walker;main;jump;thrower 2
		walker;main;jump;thrower;inner 1
		walker;main;outer 22
		walker;main;outer;inner 18
		walker;main;victim 3
		walker;main;victim;victim 1
	END
	report --functions 1 --edges 2
	holds "known: --functions leaves a rest" has "$tmp/report" '^ +17  45.9%  8 more functions'
	holds "known: --edges leaves a rest" has "$tmp/report" '^ +19  51.4%  17 more edges'
	report --source
	holds "known: --source" has "$tmp/report" '^ +20  54.1%  walker.c:[0-9]+ '
	holds "known: no colours in a file" hasnt "$tmp/report" $'\033'
}

test_marks() {
	local data

	data=$files/lost
	report
	holds "lost: the report says so" has "$tmp/report" '^Lost: 1234 branches, in 1 gap\.'
	data=$files/hidden
	report
	holds "hidden: the report says so" has "$tmp/report" '^Hidden: 1 time '
	data=$files/nowhere
	report --functions 0
	holds "unmapped: the function is unknown" is "1 0 [unknown]" function_row '[unknown]'
	holds "unmapped: it adds up" adds_up
	data=$files/gone
	report
	holds "a program that is gone: the report says so" has "$tmp/report" \
		'^  /no/such/program: the file does not exist'
	holds "a program that is gone: places in it" has "$tmp/report" ' program\+0x[0-9a-f]+ -> '
	data=$files/changed
	report
	holds "a program that has changed: the report says so" has "$tmp/report" \
		"^  $walker: the file has changed since the recording"
	data=$files/newer
	holds "a chunk that is not known is skipped" report
	data=$files/escape
	report --flame "$tmp/flame.svg"
	holds "no name clears the screen" hasnt "$tmp/report" $'\033'
	holds "no name breaks the flame graph" branchfile folded "$tmp/flame.svg"
	data=$files/cut
	holds "a truncated file is reported" report
	holds "a truncated file: the report says so" has "$tmp/report" '^The file is incomplete'
	holds "a truncated file: all complete branches" has "$tmp/report" '^36 branches '
}

test_hostile() {
	local kind data

	for kind in empty magic; do
		data=$files/$kind
		holds "hostile: $kind" clear_error "it was not written by" report "$data"
	done
	data=$files/version
	holds "hostile: version" clear_error "another version" report "$data"
	for kind in short-about no-nul huge-chunk odd-chunk part-record object-size \
		object-id no-object backward part-mapping many-mappings wrong-count \
		short-end; do
		data=$files/$kind
		holds "hostile: $kind" clear_error "the file is damaged before byte" report "$data"
	done
}

test_errors() {
	holds "which command" clear_error "'record', 'report', 'test' or '--last N'?" branches
	holds "no program" clear_error "which program or process?" record
	holds "a program and a process" clear_error "not both" record -p 1 true
	holds "no such process" clear_error "process 4194303: there is no such process" \
		record -p 4194303
	holds "no such option" clear_error "--no-such" record --no-such true
	holds "no number" clear_error "-n x: give a number" record -n x true
	holds "no file" clear_error "/no/such/file: there is no such file" report /no/such/file
	holds "no file of ours" clear_error "it was not written by" report /etc/passwd
	holds "a file that cannot be made" clear_error "/no/such/file: No such file" \
		record -o /no/such/file true

	local data=$files/known

	holds "a flame graph that cannot be written" clear_error "/dev/full: No space" \
		report --flame /dev/full "$data"
	holds "a report that cannot be written" eval \
		'! "$utrace" branches report "$data" > /dev/full 2> "$tmp/stderr" &&
			has "$tmp/stderr" "No space left"'
}

# The report of sort(1) is right while a second consumer has the last 1000
# branches.
test_sort() {
	local pid first second

	seq 1 200 | shuf > words
	sort words > sorted
	bash -c 'kill -STOP $$; exec sort words' > "$tmp/sorted.recorded" &
	pid=$!
	await eval '[ "$(state $pid)" = T ]'
	"$utrace" branches record -o "$data" -p "$pid" 2> "$tmp/stderr" &
	first=$!
	"$utrace" branches --last 1000 -o "$tmp/last" -p "$pid" &
	second=$!
	await eval '[ "$(grep -c ^branches "/proc/$pid/utrace")" = 2 ]'
	kill -CONT $pid
	wait $pid
	holds "sort: record ends with it" wait $first
	holds "sort: --last ends with it" wait $second
	holds "sort: the output is sorted" diff sorted "$tmp/sorted.recorded"
	holds "sort: the summary" has "$tmp/stderr" \
		"^utrace: $data: [0-9]+ records, 0 lost, [0-9]+ bytes$"
	report --functions 0 --flame "$tmp/flame.svg"
	holds "sort: nothing is lost" has "$tmp/report" ' branches of 1 task, none lost$'
	holds "sort: functions of libc" has "$tmp/report" ' __libc_start_main .* libc\.so'
	holds "sort: functions of the loader" has "$tmp/report" ' _dl_start .* ld-linux'
	holds "sort: functions of sort" has "$tmp/report" ' (main|sub_[0-9a-f]+) .* sort$'
	holds "sort: functions of bash before the execve()" has "$tmp/report" ' bash$'
	holds "sort: little is unknown" eval \
		'[ "$(function_row "[unknown]" | cut -d " " -f 1)0" -lt 1000 ]'
	holds "sort: it adds up" adds_up
	holds "sort: the flame graph" eval \
		'branchfile folded "$tmp/flame.svg" | grep "^sort;.*__libc_start_main;.*main"'
	holds "sort: the last 1000" is 1000 count "$tmp/last" '^ +-[0-9]+  '
	holds "sort: the last instruction is that of the exit" has "$tmp/last" '^ +end    _exit'
	holds "sort: with symbols" has "$tmp/last" ' _exit(\+0x[0-9a-f]+)? '
}

test_launch() {
	record sort words
	holds "launch: the output is its own" diff sorted "$tmp/stdout"
	report --functions 0
	holds "launch: nothing of the command itself" hasnt "$tmp/report" ' utrace$'
	holds "launch: one program begins" has "$tmp/report" '^ +1  programs started by execve'
	holds "launch: it adds up" adds_up
	if ! skip "launch: as many system calls as strace sees" strace; then
		strace -o "$tmp/strace" sort words > "$tmp/stdout"
		# The command makes the execve().
		holds "launch: as many system calls as strace sees" has "$tmp/report" \
			"^ +$(($(grep -vc '^+++' "$tmp/strace") - 1))  system calls$"
	fi
	holds "launch: status 42" ends 42 "$utrace" branches record -o "$data" sh -c 'exit 42'
	holds "launch: the command dies of the signal, too" dies_of 15 \
		"$utrace" branches record -o "$data" sh -c 'kill -TERM $$'
	holds "launch: no such program" ends 127 "$utrace" branches record -o "$data" nope
	holds "launch: no program" ends 126 "$utrace" branches record -o "$data" "$tmp/words"
	(cd "$tmp" && rm -f branches.data && "$utrace" branches record true 2> /dev/null &&
		"$utrace" branches report > "$tmp/report")
	holds "launch: the file is branches.data" has "$tmp/report" 'utrace branches record true$'
	record -n 512 "$walker" calls
	report --functions 0
	holds "launch: a small ring loses nothing" has "$tmp/report" 'none lost'
	holds "launch: the jumps of inner()" is "2020 20 walker" function_row inner
	holds "launch: the calls of outer()" is "30 10 walker" function_row outer
}

test_follow() {
	record -f sh -c 'sort words; "$0" calls' "$walker"
	report --functions 0 --flame "$tmp/flame.svg"
	holds "-f: the output" diff sorted "$tmp/stdout"
	holds "-f: a child" is "2020 20 walker" function_row inner
	holds "-f: both programs" has "$tmp/report" '^ +[0-9]+ +[0-9.]+% +[0-9]+  walker$'
	holds "-f: it adds up" adds_up
	record sh -c 'sort words; exit 0'
	report --functions 0
	holds "no -f: no child" hasnt "$tmp/report" ' sort$'
	record "$walker" threads
	report --functions 0
	holds "threads: all of them" is "8080 80 walker" function_row inner
	holds "threads: five tasks" has "$tmp/report" 'branches of 5 tasks, none lost'
	holds "threads: it adds up" adds_up
}

# crashing FILE: check that the file has the post-mortem of the crashing program
crashing() {
	cat "$1"
	has "$1" '^ +-[0-9]+  call   way_to_victim\+0x[0-9a-f]+ .* -> victim ' &&
		has "$1" '^ +end    victim ' &&
		has "$1" '^Process [0-9]+ was killed by SIGSEGV for address 0x10, at victim '
}

test_crash() {
	holds "crash: the command dies of the signal" dies_of 11 "$utrace" branches --last 5 \
		-o "$tmp/last" "$walker" crash
	holds "crash: the post-mortem" crashing "$tmp/last"
	holds "crash: five branches" is 5 count "$tmp/last" '^ +-[0-9]+  '
	holds "crash: source lines" has "$tmp/last" 'at victim(\+0x[0-9a-f]+)? walker\.c:[0-9]+$'
	holds "crash: without -o" dies_of 11 "$utrace" branches --last 5 "$walker" crash
	holds "crash: without -o, on standard error" crashing "$tmp/stderr"
	holds "no program" ends 126 "$utrace" branches --last 5 -o "$tmp/last" "$tmp/words"
	holds "no program: nothing is shown" eval '[ ! -s "$tmp/last" ]'
	holds "no crash: the status" ends 0 "$utrace" branches --last 5 "$walker" calls
	holds "no crash: no death" hasnt "$tmp/stderr" 'killed'
	holds "no crash: five branches" is 5 count "$tmp/stderr" '^ +-[0-9]+  '
	dies_of 11 "$utrace" branches record -o "$data" "$walker" crash
	report --functions 0
	holds "crash: recorded" is "2 1 walker" function_row way_to_victim
}

# waiter: start a program that crashes when it gets a line; its pid is in $pid
waiter() {
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	"$walker" wait < "$tmp/in" &
	pid=$!
	exec 8> "$tmp/in"
	await eval '[ "$(state $pid)" = S ]'
}

# watched N: check that the process has N consumers
watched() {
	await eval '[ "$(grep -c ^branches "/proc/$pid/utrace")" = '"$1"' ]'
}

test_attach() {
	local pid job status

	waiter
	"$utrace" branches --last 8 -o "$tmp/last" -p "$pid" 8>&- &
	job=$!
	watched 1
	echo go >&8
	wait "$pid" 2> /dev/null
	holds "-p: --last ends with the process" wait $job
	holds "-p: the post-mortem" crashing "$tmp/last"
	exec 8>&-

	waiter
	"$utrace" branches record -o "$data" -p "$pid" 2> "$tmp/stderr" 8>&- &
	job=$!
	watched 1
	kill -INT $job
	wait $job 2> /dev/null
	status=$?
	holds "-p: Ctrl-C is a SIGINT" is 130 echo $status
	holds "-p: nothing is left" watched 0
	holds "-p: the file is whole" eval 'report && hasnt "$tmp/report" "is incomplete"'
	"$utrace" branches record -o "$data" -p "$pid" 2> "$tmp/stderr" 8>&- &
	job=$!
	watched 1
	kill -KILL $job
	wait $job 2> /dev/null
	holds "-p: killed, nothing is left" watched 0
	holds "-p: killed, the file is cut" eval 'report && has "$tmp/report" "is incomplete"'
	"$utrace" branches record -o /dev/full -p "$pid" 2> "$tmp/stderr" 8>&- &
	job=$!
	watched 1
	echo go >&8
	wait "$pid" 2> /dev/null
	wait $job
	status=$?
	holds "-p: a full disk" is 125 echo $status
	holds "-p: the error says so" has "$tmp/stderr" '^utrace: /dev/full: No space left'
	exec 8>&-
	holds "a full disk: the program ends" ends 125 "$utrace" branches record -o /dev/full \
		sort words
	holds "a full disk: with its output" diff sorted "$tmp/stdout"

	waiter
	chmod 777 "$tmp"
	holds "no rights" ends 125 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$utrace" branches record -o "$tmp/nobody" -p "$pid"
	holds "no rights: the error says so" has "$tmp/stderr" 'not allowed: trace your own'
	echo go >&8
	exec 8>&-
	wait "$pid" 2> /dev/null
}

test_interrupt() {
	record bash -c 'kill -INT $PPID; while :; do :; done'
	holds "Ctrl-C: the program gets it too" await eval '! pgrep -f "kill -INT .PPID"'
	holds "Ctrl-C: the summary" has "$tmp/stderr" ' records, 0 lost, '
	holds "Ctrl-C: a report" eval \
		'report --functions 0 && hasnt "$tmp/report" "is incomplete"'
	holds "Ctrl-C: it adds up" adds_up
	holds "SIGTERM" dies_of 15 "$utrace" branches record -o "$data" \
		bash -c 'kill -TERM $PPID; while :; do :; done'
	holds "--last: SIGTERM" dies_of 15 "$utrace" branches --last 3 -o "$tmp/last" \
		bash -c 'kill -TERM $PPID; while :; do :; done'
	holds "--last: the branches so far" is 3 count "$tmp/last" '^ +-[0-9]+  '
}

test_beside_gdb() {
	local pid job last

	waiter
	gdb -nx -batch -p "$pid" -ex continue -ex 'p $_siginfo._sifields._sigfault.si_addr' \
		-ex bt -ex kill > "$tmp/gdb" 2>&1 8>&- &
	job=$!
	await eval '[ "$(awk "/^TracerPid:/ { print \$2 }" /proc/$pid/status)" != 0 ]'
	await eval '[ "$(state $pid)" = S ]'
	"$utrace" branches --last 8 -o "$tmp/last" -p "$pid" 8>&- &
	last=$!
	watched 1
	echo go >&8
	wait $job
	exec 8>&-
	wait $last
	holds "beside gdb: gdb has the signal" has "$tmp/gdb" 'SIGSEGV'
	holds "beside gdb: gdb has the stack" has "$tmp/gdb" 'victim'
	holds "beside gdb: the last branches" has "$tmp/last" \
		'^ +-[0-9]+  call   way_to_victim\+0x[0-9a-f]+ .* -> victim '
}

# on_terminal COMMAND...: run the command on a terminal of 80 columns. Print
# whether there are colours, and whether each line fits. $tmp/screen is what the
# terminal shows.
on_terminal() {
	python3 - "$@" <<- 'END'
		import fcntl, os, pty, re, struct, sys, termios
		pid, fd = pty.fork()
		if not pid:
		    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
		    os.environ['TERM'] = 'xterm'
		    os.execvp(sys.argv[1], sys.argv[1:])
		out = b''
		try:
		    while data := os.read(fd, 4096):
		        out += data
		except OSError:
		    pass
		out = out.decode().replace('\r', '\n')
		open('screen', 'w').write(out)
		lines = re.sub(r'\033\[[0-9;]*m', '', out).split('\n')
		print('colours' if '\033[' in out else 'plain', max(map(len, lines)) <= 80)
	END
}

test_terminal() {
	local pid

	bash -c 'while :; do :; done' &
	pid=$!
	on_terminal timeout --foreground -s INT $((4 * patience)) "$utrace" branches record \
		-o "$data" -p $pid > /dev/null
	kill $pid
	holds "a terminal: progress" has screen \
		'^utrace: [0-9]+ records, [0-9]+ a second, [0-9]+ MiB'
	record sort words
	holds "a terminal: colours, and 80 columns" is "colours True" \
		on_terminal "$utrace" branches report --source "$data"
	holds "a terminal: NO_COLOR" is "plain True" \
		on_terminal env NO_COLOR=1 "$utrace" branches report --source "$data"
	holds "a terminal: TERM=dumb" is "plain True" \
		on_terminal env TERM=dumb "$utrace" branches report "$data"
}

mkdir "$files" && branchfile make "$files" "$walker"
test_known
test_marks
test_hostile
test_errors
test_sort
test_launch
test_follow
test_crash
test_attach
test_interrupt
test_terminal
skip "beside gdb" gdb || test_beside_gdb
plan
