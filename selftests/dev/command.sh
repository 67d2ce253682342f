#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the command utrace
#
# The test covers its options and statuses, and compares it with strace. UTRACE=
# is the command; the default is the one in PATH.
# shellcheck disable=SC2016 # eval, and shells that are traced, get expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
need_built actor
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"

log=$tmp/log
cd "$tmp" || exit

echo "some words" > "$tmp/words"

# ends STATUS COMMAND...: check that the command ends with this status
ends() {
	local want=$1 got

	shift
	"$@" > "$tmp/stdout" 2> "$tmp/stderr"
	got=$?
	[ "$got" = "$want" ] || { echo "$got instead of $want"; cat "$tmp/stderr"; return 1; }
}

# run ARG...: utrace run, with the lines of the log in $log. cat makes the
# output a pipe, since cat(1) uses other calls than write(2) for files.
run() {
	# The subshell keeps the shell's message about a killed command away.
	("$utrace" run -o "$log" "$@" 2> "$tmp/stderr" | cat > "$tmp/stdout") 2> /dev/null
}

# clear_error TEXT ARG...: check that the status is 125, and the message is one
# line with TEXT and one line that names --help
clear_error() {
	local text=$1 said

	shift
	ends 125 "$utrace" "$@" || return
	said=$(grep -v '^Try ' "$tmp/stderr")
	cat "$tmp/stderr" "$tmp/stdout"
	[[ $said != *$'\n'* && $said == utrace*"$text"* ]] && [ ! -s "$tmp/stdout" ]
}

# names: print the name of each call in the log, one a line; a resumed call
# counts at its entry only
names() {
	sed -nE 's/^([0-9]+ +)?([a-z_0-9]+)\(.*/\2/p' "$log"
}

distinct() {
	names | sort -u | xargs
}

# lines_like REGEX: check that the log has lines and all of them match
lines_like() {
	[ -s "$log" ] && ! grep -vE -- "$1" "$log"
}

# dies_of SIGNAL COMMAND...: does the signal kill the command? An exit status
# that looks alike does not count.
dies_of() {
	python3 -S -c 'import os, sys
status = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
sys.exit(status != -int(sys.argv[1]) and f"status {status}")' "$@"
}

test_status() {
	holds "status 0" ends 0 "$utrace" run true
	holds "status 1" ends 1 "$utrace" run false
	holds "status 42" ends 42 "$utrace" run sh -c 'exit 42'
	holds "status 255" ends 255 "$utrace" run -- sh -c 'exit 255'
	holds "a signal is a signal: SIGTERM" dies_of 15 "$utrace" run sh -c 'kill -TERM $$'
	holds "a signal is a signal: SIGKILL" dies_of 9 "$utrace" run sh -c 'kill -KILL $$'
	holds "a signal is a signal: SIGINT" dies_of 2 "$utrace" run sh -c 'kill -INT $$'
	holds "a program that is not there: 127" ends 127 "$utrace" run /no/such/program
	holds "that is said" has "$tmp/stderr" '^utrace: /no/such/program: No such file'
	holds "not in the PATH: 127" ends 127 "$utrace" run no-such-program
	holds "one that is no program: 126" ends 126 "$utrace" run "$tmp/words"
	holds "that is said" has "$tmp/stderr" "^utrace: $tmp/words: Permission denied"
	holds "a folder: 126" ends 126 "$utrace" run "$tmp"
	holds "its output is its own" is "some words" eval \
		'"$utrace" run cat "$tmp/words" 2> /dev/null'
	holds "its input, too" is "some words" \
		eval '"$utrace" run cat < "$tmp/words" 2> /dev/null'
	holds "--help is 0" ends 0 "$utrace" --help
	holds "--version is 0" ends 0 "$utrace" --version
	holds "no command at all: 125" ends 125 "$utrace"
}

# The command becomes the program, so its parent sees the program end, and the
# log may be complete only after that.
test_daemon() {
	local option

	for option in -D -DD -DDD --daemonize=session; do
		holds "$option: the status of the program" ends 3 \
			"$utrace" run "$option" -o "$log" -e trace=umask sh -c 'umask 0; exit 3'
		holds "$option: its calls" await has "$log" '^umask\(000?\)'
		holds "$option: its end" await has "$log" '^\+\+\+ exited with 3 \+\+\+$'
		holds "$option: no call of the command" hasnt "$log" '^(fork|clone|setsid)'
	done
	holds "-D and -p" clear_error "give one" -D -p 1 true
	holds "--tips" eval '"$utrace" run --tips=1 -e trace=none true 2>&1 | grep "tip 1: "'
	holds "--tips=full" eval '"$utrace" run --tips=full,1 -e trace=none true 2>&1 | grep "^| "'
	holds "--tips: no such format" clear_error "compact or full" run --tips=x true
	holds "-d" eval '"$utrace" run -d -e trace=none true 2>&1 | grep "^utrace: events 0x"'
}

test_errors() {
	holds "no such command" ends 127 "$utrace" nope
	holds "no program" clear_error "which program?" run
	holds "no such option" clear_error "--no-such" run --no-such true
	holds "no such call" clear_error "there is no system call 'nosuch'" \
		run -e trace=nosuch true
	holds "no such call behind others" clear_error "there is no system call 'nosuch'" \
		run -e trace=read,nosuch,write true
	holds "no such call behind !" clear_error "there is no system call 'nosuch'" \
		run -e 'trace=!nosuch' true
	holds "no such group" clear_error "there is no group '%nosuch'" \
		run -e trace=%nosuch true
	run -e trace='?nosuch,59' true
	holds "-e ?name and a number" is execve distinct
	run -e trace=read@64,write@32 cat words
	holds "-e name@64 and name@32" is read distinct
	holds "no such call in a table" clear_error "there is no system call 'waitpid'" \
		run -e trace=waitpid@64 true
	holds "no regular expression" clear_error "'/[' is no regular expression" \
		run -e 'trace=/[' true
	holds "-e with something else" clear_error "-e trace=SET is" run -e foo=read true
	holds "-s without a number" clear_error "-s x:" run -s x true
	holds "-c and -C" clear_error "give one" run -c -C true
	holds "-e signal: no such signal" clear_error "invalid signal 'nosuch'" \
		run -e signal=nosuch true
	holds "-e status: no such status" clear_error "invalid status 'nosuch'" \
		run -e status=failed,nosuch true
	holds "-e quiet: no such lines" clear_error "invalid quiet 'nosuch'" \
		run -e quiet=nosuch true
	holds "an ambiguous option" clear_error "ambiguous" run --re true
	holds "--syscall-times: no such unit" clear_error "give s, ms" run --syscall-times=x true
	holds "-o that cannot be written" clear_error "/no/such/file: No such file" \
		run -o /no/such/file true
	holds "attach to nobody" clear_error "-p" attach
	holds "attach to a word" clear_error "'word' is not the number" attach -p word
	holds "attach to who is not there" clear_error "process 4194303: there is no such process" \
		attach -p 4194303
	holds "attach to a kernel thread" clear_error "process 2: not allowed" attach -p 2
}

test_sets() {
	run -e trace=read,openat cat words
	holds "-e: two names" is "openat read" distinct
	run -e read cat words
	holds "-e without trace=" is "read" distinct
	run -e trace=%file cat words
	holds "-e %file" has "$log" '^openat\(AT_FDCWD, "words"'
	holds "-e %file: execve" has "$log" '^execve\('
	holds "-e %file: no others" hasnt "$log" '^(read|write|close|mmap|brk)\('
	run -e trace=%memory cat words
	holds "-e %memory" eval 'names | grep -x mmap && names | grep -x brk'
	holds "-e %memory: no others" hasnt "$log" '^(read|openat|close|execve)\('
	run -e trace=%desc cat words
	holds "-e %desc" eval 'names | grep -x close && names | grep -x openat'
	holds "-e %desc: no others" hasnt "$log" '^(brk|execve|exit_group)\('
	run -e trace=%process sh -c '(exit 0); true'
	holds "-e %process" eval 'names | grep -x wait4 && names | grep -x exit_group'
	holds "-e %process: no others" hasnt "$log" '^(read|openat|close|brk|rt_sigaction)\('
	run -e trace=%signal sh -c 'kill -0 $$'
	holds "-e %signal" eval 'names | grep -x kill && names | grep -x rt_sigaction'
	holds "-e %signal: no others" hasnt "$log" '^(read|openat|close|brk)\('
	run -e trace=%network python3 -c 'import socket; socket.socket().close()'
	holds "-e %network" is socket distinct
	run -e 'trace=/^get.?uid$' sh -c true
	holds "-e /regex" is "geteuid getuid" eval 'distinct | sed "s/getresuid *//"'
	run -e 'trace=!read,%file' cat words
	holds "-e !set: others are there" eval 'names | grep -x write && names | grep -x mmap'
	holds "-e !set: these are not" hasnt "$log" '^(read|openat|execve)\('
	run -e trace=none cat words
	holds "-e none: the end only" is "+++ exited with 0 +++" cat "$log"
	run -e trace=all cat words
	holds "-e all" eval 'names | grep -x read && names | grep -x execve && names | grep -x brk'
}

test_lines() {
	run -e trace=write cat words
	if ! skip "a line" strace; then
		strace -o "$tmp/strace" -e trace=write cat words | cat > "$tmp/stdout"
		holds "a line is as one of strace" diff "$tmp/strace" "$log"
		holds "there are two" is 2 count "$log" ''
	fi
	run -qq -e trace=write cat words
	holds "-qq: no line of the end" is 1 count "$log" ''
	run -s 4 -e trace=write cat words
	holds "-s 4" has "$log" '^write\(1, "some"\.\.\., 11\) '
	run -s 0 -e trace=write cat words
	holds "-s 0" has "$log" '^write\(1, ""\.\.\., 11\) '
	run -s 11 -e trace=write cat words
	holds "-s of just that" has "$log" '^write\(1, "some words\\n", 11\) '
	run -a 20 -e trace=write cat words
	holds "-a 20" has "$log" '^write\(1, "some words\\n", 11\) = 11$'
	run -a 50 -t -e trace=write cat words
	holds "-a 50: the time counts" has "$log" '^.{8} write\(1, "some words\\n", 11\) {13}= 11$'
	run -s 5000 -e trace=write cat words
	holds "-s above the most: it is said" has "$tmp/stderr" \
		'^utrace: -s 5000: at most 4096 '
	holds "-s above the most: the most is shown" has "$log" '^write\(1, "some words\\n", 11\) '
	run -T -e trace=write cat words
	holds "-T" has "$log" '^write\(.* = 11 <[0-9]+\.[0-9]{6}>$'
	run -T -e trace=clock_nanosleep sleep 0.3
	holds "-T: the time that it takes" has "$log" \
		'^clock_nanosleep\(.* = 0 <(0\.[3-9]|[1-9][0-9]*\.[0-9])[0-9]{5}>$'
	run -t -e trace=write cat words
	holds "-t" lines_like '^[0-9]{2}:[0-9]{2}:[0-9]{2} [w+]'
	run -tt -e trace=write cat words
	holds "-tt" lines_like '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} [w+]'
	run -ttt -e trace=write cat words
	holds "-ttt" lines_like '^[0-9]{10}\.[0-9]{6} [w+]'
	holds "-ttt: it is now" eval \
		't=$(sed -n "1s/\\..*//p" "$log"); ago=$(($(date +%s) - t))
			[ $ago -ge 0 ] && [ $ago -lt $((60 * patience)) ]'
	run -r -e trace=clock_nanosleep,exit_group sleep 0.3
	holds "-r" lines_like '^ +[0-9]+\.[0-9]{6} [a-z+]'
	run -r -t -e trace=exit_group true
	holds "-r and -t" lines_like '^[0-9:]{8} \(\+ +[0-9]+\.[0-9]{6}\) [e+]'
	run --absolute-timestamps=unix,ns -e trace=exit_group true
	holds "--absolute-timestamps" lines_like '^[0-9]{10}\.[0-9]{9} [e+]'
	run --relative-timestamps=ms --syscall-times=ns -e trace=umask sh -c 'umask 0'
	holds "--relative-timestamps and --syscall-times" has "$log" \
		'^ +[0-9]+\.[0-9]{3} umask.* <[0-9]+\.[0-9]{9}>$'
	run -r -e trace=clock_nanosleep,exit_group sleep 0.3
	holds "-r: since the line before" has "$log" \
		'^ +(0\.[3-9]|[1-9][0-9]*\.[0-9])[0-9]{5} exit_group'
	run -z -e trace=openat cat words /no/such/file
	holds "-z: what succeeds" has "$log" '^openat\(AT_FDCWD, "words".* = [0-9]+$'
	holds "-z: nothing that fails" hasnt "$log" ' = -1 '
	run -Z -e trace=openat cat words /no/such/file
	holds "-Z: what fails" has "$log" '^openat\(AT_FDCWD, "/no/such/file".* = -1 ENOENT'
	holds "-Z: nothing that succeeds" hasnt "$log" '^openat.* = [0-9]+$'
	holds "without -o it is on standard error" eval \
		'"$utrace" run -e trace=write cat words 2>&1 > /dev/null | grep "^write(1"'
	run -e trace=kill sh -c 'trap : USR1; kill -USR1 $$'
	holds "a signal" has "$log" \
		'^--- SIGUSR1 \{si_signo=SIGUSR1, si_code=SI_USER, si_pid=[0-9]+'
	run -e trace=none sh -c 'kill -40 $$'
	holds "a real-time signal, counted from the kernel's first" has "$log" \
		'^--- SIGRT_8 \{si_signo=SIGRT_8, si_code=SI_USER, '
	holds "one that kills" has "$log" '^\+\+\+ killed by SIGRT_8 \+\+\+$'
	run -qq -e trace=none sh -c 'kill -KILL $$'
	holds "-qq of one that is killed" is "+++ killed by SIGKILL +++" cat "$log"
	run -e signal=none -e trace=none sh -c 'kill -KILL $$'
	holds "-e signal=none" is "" cat "$log"
	run -e 'signal=!usr1' -e trace=none sh -c 'trap : USR1 USR2; kill -USR1 $$; kill -USR2 $$'
	holds "-e signal=!usr1: another one" has "$log" '^--- SIGUSR2'
	holds "-e signal=!usr1: not that one" hasnt "$log" SIGUSR1
	"$utrace" run -o "$log" -P words -e trace=openat,read,write,close cat words \
		> "$tmp/stdout" 2> "$tmp/stderr"
	holds "-P: the path is resolved" has "$tmp/stderr" \
		'^utrace: Requested path "words" resolved into "/.*/words"$'
	holds "-P: calls with the path and a descriptor of it" is "close openat" distinct
	run -yy -e trace=close python3 -c 'import os, socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
os.close(os.open("/dev/null", 0))'
	holds "-yy: a device" has "$log" '^close\([0-9]+</dev/null<char 1:3>>\) '
	run -e decode-fds=none -e trace=read cat words
	holds "-e decode-fds=none" has "$log" '^read\([0-9]+, "some words'
	run -e status=unfinished true
	holds "-e status=unfinished" is 'exit_group(0) = ?' eval 'head -n 1 "$log" | tr -s " "'
	run -e status=successful,unfinished -e trace=openat,exit_group cat words /no/such/file
	holds "-e status= of two" eval 'grep exit_group "$log" && grep words "$log"'
	holds "-e status=: not the others" hasnt "$log" ENOENT
	run -z -Z -e trace=openat cat words /no/such/file
	holds "-z -Z: the last one counts" eval 'grep ENOENT "$log" && ! grep words "$log"'
	run -s 4 -e write=1 -e trace=write cat words
	holds "-e write=" has "$log" \
		'^ \| 00000  73 6f 6d 65 20 77 6f 72  64 73 0a {17}some words\. {6}\|$'
	run -e 'read=!3' -e trace=read cat words
	holds "-e read=!3: not this one" hasnt "$log" '^ \| '
	run -b execve -f -e trace=execve,write sh -c '/bin/echo child; echo parent'
	holds "-b execve: the execve is the last call" has "$log" \
		'^[0-9]+ +execve\("/bin/echo", .* <detached \.\.\.>$'
	holds "-b execve: no later call" hasnt "$log" 'write\(1, "child'
	holds "-b execve: the parent goes on" has "$log" '"parent'
	holds "-b: no other call" clear_error "only execve" run -b read true
	run -n -e trace=exit_group true
	holds "-n" is '[ 231] exit_group(0) = ?' eval 'head -n 1 "$log" | tr -s " "'
	run -i -e trace=exit_group true
	holds "-i" has "$log" '^\[0000[0-9a-f]{12}\] exit_group\(0\) += \?$'
	run -e raw=write -e trace=write cat words
	holds "-e raw=" has "$log" '^write\(0x1, 0x[0-9a-f]+, 0xb\) += 0xb$'
	run -e verbose=none -e trace=execve cat words
	holds "-e verbose=none" has "$log" '^execve\("[^"]*/cat", 0x[0-9a-f]+, 0x[0-9a-f]+( |\))'
	run -e 'abbrev=!execve' -E 'ONLY=variable' -e trace=execve cat words
	holds "-e abbrev=" has "$log" '^execve\(.*"ONLY=variable"'
	run -Y -f -e trace=none sh -c '(sleep 0.5); :'
	holds "-Y" has "$log" '^[0-9]+<sh> \+\+\+ exited with 0'
	if ! skip "--decode-pids=pidns" unshare; then
		run -f --decode-pids=pidns -e trace=kill \
			unshare -pf sh -c 'sleep 0.5; kill -0 $$; sleep 0.5'
		holds "--decode-pids=pidns" has "$log" \
			"kill\\(1 /\\* [0-9]+ in strace's PID NS \\*/, 0\\) "
	fi
	run -k -e trace=write sh -c 'echo some words; sleep 1; exit'
	holds "-k: where the call was made" has "$log" \
		'^ > /.*libc.*\(.*\+0x[0-9a-f]+\) \[0x[0-9a-f]+\]$'
	holds "-k: no such form" clear_error "symbol or source" run --stack-traces=x true
	run -n -i -a 1 -e trace=none sh -c 'kill -KILL $$'
	holds "-n and -i without a call" is '[????] [????????????????] +++ killed by SIGKILL +++' \
		cat "$log"
	run -e trace=none sh -c 'kill -KILL $$'
	holds "one that is killed" is '+++ killed by SIGKILL +++' cat "$log"
}

# Two paths of 4095 bytes, and 4096 bytes that are read and written.
long='import os
path = "x/" * 2047 + "y"
zero = os.open("/dev/zero", os.O_RDONLY)
try: os.rename(path, path.replace("x", "z"))
except OSError: pass
os.read(zero, 4096)
os.write(1, bytes(range(256)) * 16)
os.write(1, bytes(range(256)) * 16 + b"more")'

test_long() {
	local zeros

	run -s 4096 -e trace=rename,read,write python3 -c "$long"
	holds "-s 4096: all bytes" eval \
		'[ "$(sed -n "s/^write(1, \"\(.*\)\", 4096) .*/\1/p" "$log" | wc -c)" -gt 8192 ]'
	holds "-s 4096: of more there are 4096" has "$log" '^write\(1, ".*"\.\.\., 4100\) '
	if ! skip "long arguments" strace; then
		strace -s 4096 -o "$tmp/strace" -e trace=rename,read,write \
			python3 -c "$long" | cat > "$tmp/stdout"
		holds "-s 4096: as strace" diff \
			<(grep -v '^read(' "$tmp/strace") <(grep -v '^read(' "$log")
		zeros='^read(.*"\\0.*, 4096)'
		holds "-s 4096: what is read is as strace shows it" diff \
			<(grep "$zeros" "$tmp/strace") <(grep "$zeros" "$log")
	fi
	run -e trace=rename python3 -c "$long"
	holds "without -s: paths are whole" is "4095 4095" eval \
		'awk -F "\"" "/^rename/ { print length(\$2), length(\$4) }" "$log"'
}

test_follow() {
	local thread leader

	run -e trace=write sh -c '/bin/echo child; echo parent'
	holds "no -f: the program" has "$log" '^write\(1, "parent'
	holds "no -f: not its child" hasnt "$log" child
	run -f -e trace=write sh -c '/bin/echo child; echo parent'
	holds "-f: the program" has "$log" '^[0-9]+ +write\(1, "parent'
	holds "-f: its child" has "$log" '^[0-9]+ +write\(1, "child'
	holds "-f: two ends" is 2 count "$log" 'exited with 0'
	holds "-f: two numbers" is 2 eval 'cut -d " " -f 1 "$log" | sort -u | wc -l'
	run -f -e trace=write sh -c '(sleep 0.5; /bin/echo late) & exit 0'
	holds "-f: it waits for all" has "$log" '"late'
	run -f -e trace=execve python3 -c 'import os, threading
thread = threading.Thread(target=os.execv, args=("/bin/true", ["true"]))
thread.start()
thread.join()'
	thread=$(sed -nE 's/^([0-9]+) +execve\("\/bin\/true".*/\1/p' "$log")
	leader=$(sed -nE \
		"s/^([0-9]+) +\\+\\+\\+ superseded by execve in pid $thread .*/\\1/p" "$log")
	holds "-f: a thread that executes a program takes the place of the first" \
		[ -n "$leader" ]
	holds "-f: its execve ends by the number of the first" \
		has "$log" "^$leader +<\\.\\.\\. execve resumed>\\) += 0\$"
	holds "-f: the first exits once" is 1 count "$log" "^$leader +\\+\\+\\+ exited"
	run -f -e trace=read,write python3 -c 'import os, threading
r, w = os.pipe()
thread = threading.Thread(target=os.read, args=(r, 9))
thread.start()
os.write(w, b"hello")
thread.join()'
	holds "-f: the rest of a call is in its brackets" has "$log" \
		'<\.\.\. read resumed>"hello", 9\) += 5$|read\([0-9]+, "hello", 9\)'
	run -f -e trace=read,exit_group python3 -c 'import os, threading, time
r, w = os.pipe()
threading.Thread(target=os.read, args=(r, 9), daemon=True).start()
time.sleep(0.5)
os._exit(3)'
	holds "-f: a call that the end of the process ends" has "$log" \
		'read(\([0-9]+, | resumed>)( <unfinished \.\.\.>\) += \?$|.*\) += \? ERESTARTSYS)'
	holds "-f: exit_group() has no other line" has "$log" '^[0-9]+ +exit_group\(3\) += \?$'
	run -f -e trace=restart_syscall,clock_nanosleep sh -c \
		'sleep 1 & sleep 0.3; kill -STOP $!; kill -CONT $!; wait'
	holds "-f: what restart_syscall() continues" has "$log" \
		'restart_syscall\(<\.\.\. resuming interrupted clock_nanosleep \.\.\.>'
	run -ff -e trace=write sh -c '/bin/echo child; echo parent'
	holds "-ff: a file for each task" is 2 eval 'ls "$log".* | wc -l'
	holds "-ff: lines without numbers" eval '
		grep "^write(1, \"child" "$log".* && grep "^write(1, \"parent" "$log".*'
	holds "-ff: each ends" is 2 eval 'cat "$log".* | grep -c "^+++ exited with 0"'
	rm -f "$log".*
	run --output-separately -e trace=write echo one
	holds "--output-separately without -f" is 1 eval 'ls "$log".* | wc -l'
	rm -f "$log".*
	holds "-ff and a shell command" clear_error "give a file" run -ff -o '|cat' true
	holds "-f on standard error" eval \
		'"$utrace" run -f -e trace=write sh -c "cat words; echo end" 2>&1 > /dev/null |
			grep -E "^\[pid +[0-9]+\] write\(1, \"[^e]"'
	holds "-f on standard error: no number if there is one task" eval \
		'"$utrace" run -f -e trace=write sh -c "cat words; echo end" 2>&1 > /dev/null |
			grep -E "^write\(1, \"end"'
}

# calls_of NAME: print the count of the summary
calls_of() {
	awk -v name="$1" '$NF == name && NF > 3 { print $4 }' "$log"
}

test_summary() {
	run -c -e trace=write,getuid sh -c 'for i in 1 2 3 4 5 6 7; do echo $i; done'
	holds "-c: how often" is 7 calls_of write
	holds "-c: no lines" hasnt "$log" '\(|\+\+\+'
	holds "-c: the total is the sum" is same eval \
		'awk "/^-/ { part++; next } part == 1 { n += \$4 }
			part == 2 && \$4 == n { print \"same\" }" "$log"'
	run -c -e trace=openat cat /no/such/file /none
	holds "-c: errors" eval \
		'[ "$(awk "\$NF == \"openat\" && NF > 3 { print \$5 }" "$log")" -ge 2 ]'
	run -c -U calls,errnos -e trace=openat cat /no/such/file /none
	holds "-U errnos: errors by name" has "$log" '^ +[0-9]+ ENOENT +openat$'
	holds "-U: the columns" has "$log" '^ +calls syscall$'
	holds "-U: no such column" clear_error "there is no column 'nosuch'" \
		run -c -U calls,nosuch true
	run -c -S name true
	holds "-S name" eval \
		'awk "/^-/ { part++; next } part == 1 { print \$NF }" "$log" | LC_ALL=C sort -c'
	holds "-S: no such column" clear_error "give time," run -c -S nosuch true
	holds "-O: no time" clear_error "give a time" run -c -O x true
	run -C -e trace=write cat words
	holds "-C: lines" has "$log" '^write\(1, "some words'
	holds "-C: and how often" is 1 calls_of write
	run -c -f -e trace=write sh -c '/bin/echo a; /bin/echo b; echo c'
	holds "-c -f: all of them" is 3 calls_of write
	run -c -e trace=clock_nanosleep sleep 0.3
	holds "-c: the time" eval \
		'awk "\$NF == \"clock_nanosleep\" && \$2 >= 0.3 && \$2 < 5 * $patience {
			n = 1 } END { exit !n }" "$log"'
	run -c -U p50-time,p99-time,max-time -e trace=clock_nanosleep sleep 0.3
	holds "-U p50-time: half of the calls take as long" eval \
		'awk "\$NF == \"clock_nanosleep\" && \$1 >= 300000 && \$1 <= \$2 &&
			\$3 >= 0.3 { n = 1 } END { exit !n }" "$log"'
	run -c -O 100s -e trace=clock_nanosleep sleep 0.3
	holds "-O: the time without the overhead" has "$log" ' 0\.000000 +0 +1 +clock_nanosleep$'
	"$utrace" run -c -e trace=openat cat words > /dev/null 2> "$log"
	strace -c -e trace=openat -o "$tmp/strace" cat words > /dev/null
	holds "-c: as many as strace says" is \
		"$(awk '$NF == "openat" { print $4 }' "$tmp/strace")" calls_of openat
	run -c true
	strace -c -o "$tmp/strace" true
	holds "-c: no call of the command itself" is \
		"$(awk '$NF == "total" { print $4 }' "$tmp/strace")" calls_of total
	run -c -f -e trace=/clone,/fork sh -c '(exit 0); /bin/true; (exit 0)'
	strace -f -c -e trace=/clone,/fork -o "$tmp/strace" \
		sh -c '(exit 0); /bin/true; (exit 0)'
	holds "-c -f: no fork counts twice" is \
		"$(awk '$NF == "total" { print $4 }' "$tmp/strace")" calls_of total
	run -c -f -e trace=getppid python3 -c 'import os
for i in range(16):
    if not os.fork():
        for i in range(6250): os.getppid()
        os._exit(0)
for i in range(16): os.wait()'
	holds "-c -f: 100 000 calls of 16 processes" is 100000 calls_of getppid
}

# attached PID: check that the command has attached to PID and chosen its events
attached() {
	grep -E '^dev .* (clone|exec|exit|syscall)' "/proc/$1/utrace" > /dev/null
}

# attach ARG...: run utrace attach in the background; its job is in $job
attach() {
	"$utrace" attach "$@" > "$tmp/stdout" 2> "$tmp/stderr" 8>&- 9<&- &
	job=$!
	await_by "$job" attached "$actor"
}

# interrupt [SIGNAL]: end the command by a signal, check that it dies of that
interrupt() {
	local status=0

	kill -"${1:-INT}" "$job"
	wait "$job" 2> /dev/null || status=$?
	[ "$(kill -l "$status")" = "${1:-INT}" ] || { echo "status $status"; return 1; }
}

test_attach() {
	begin
	holds "attach" attach -q -o "$log" -p "$actor"
	do_it mark /seen
	await has "$log" /seen
	holds "attach: its calls" await has "$log" '^access\("/seen", F_OK\) += -1 ENOENT'
	holds "attach: Ctrl-C is a SIGINT" interrupt
	holds "attach: nothing is left" hasnt "/proc/$actor/utrace" '^dev '
	do_it mark /unseen
	holds "attach: nothing after that" hasnt "$log" /unseen
	holds "attach: nothing was said" eval '[ ! -s "$tmp/stderr" ]'

	holds "attach -c" attach -c -o "$log" -e trace=getuid -p "$actor"
	do_it call 102 25
	holds "attach -c: Ctrl-C is a SIGINT" interrupt
	holds "attach -c: the summary is there" is 25 calls_of getuid
	holds "attach -c: nothing is left" hasnt "/proc/$actor/utrace" '^dev '

	attach -c -o "$log" -e trace=getuid -p "$actor"
	do_it call 102 5
	holds "attach: SIGTERM is the same" interrupt TERM
	holds "attach: SIGTERM: the summary" is 5 calls_of getuid

	attach -o "$log" -p "$actor"
	kill -KILL "$job"
	wait "$job" 2> /dev/null
	holds "attach: killed, nothing is left" hasnt "/proc/$actor/utrace" '^dev '
	holds "attach: killed, the program goes on" is 0 act call 102 1

	attach -o "$log" -f -e trace=access -p "$actor"
	do_it child /of-child 0
	await has "$log" /of-child
	holds "attach -f: a child" has "$log" '^[0-9]+ +access\("/of-child"'
	end
	holds "attach: ends with the program" wait "$job"
	holds "attach: its end" has "$log" "^$actor +\\+\\+\\+ exited with 0"
}

test_beside_strace() {
	local tracer

	begin
	strace -o "$tmp/strace" -p "$actor" 2> "$tmp/strace-says" 8>&- 9<&- &
	tracer=$!
	await has "$tmp/strace-says" attached
	holds "beside strace: attach" attach -o "$log" -p "$actor"
	holds "beside strace: it is still strace's" is "$tracer" \
		awk '/^TracerPid:/ { print $2 }' "/proc/$actor/status"
	do_it mark /both
	do_it open /etc/passwd
	do_it mark /end
	await has "$log" '"/end"'
	await has "$tmp/strace" '"/end"'
	holds "beside strace: utrace sees it" has "$log" '^access\("/both", F_OK\)'
	holds "beside strace: strace sees it" has "$tmp/strace" '^access\("/both", F_OK\)'
	holds "beside strace: the same calls" same_part '"/both"' '"/end"'
	holds "beside strace: Ctrl-C" interrupt
	do_it mark /strace-only
	await has "$tmp/strace" /strace-only
	holds "beside strace: strace goes on" has "$tmp/strace" '^access\("/strace-only"'
	holds "beside strace: utrace does not" hasnt "$log" strace-only
	kill -INT $tracer
	wait $tracer
	end
}

# same_part FROM TO: compare the calls between two calls in both logs
same_part() {
	local f

	for f in "$log" "$tmp/strace"; do
		sed -n "\\|$1|,\\|$2|p" "$f" | sed -nE 's/^([a-z_0-9]+)\(.*/\1/p' > "$f.part"
	done
	[ "$(wc -l < "$log.part")" -ge 6 ] && diff "$log.part" "$tmp/strace.part"
}

test_beside_gdb() {
	local debugger

	begin
	gdb -nx -batch -p "$actor" -ex 'break access' -ex continue -ex 'p 1000 + 234' \
		-ex 'x/s $rdi' -ex 'delete' -ex detach > "$tmp/gdb" 2>&1 8>&- 9<&- &
	debugger=$!
	for ((i = 0; i < 40; i++)); do
		await has "$tmp/gdb" '^Breakpoint 1 at' && break
	done
	# The actor sleeps in read() under gdb.
	await eval '[ "$(state "$actor")" = S ]'
	holds "beside gdb: attach" attach -o "$log" -p "$actor"
	holds "beside gdb: it is still gdb's" is "$debugger" \
		awk '/^TracerPid:/ { print $2 }' "/proc/$actor/status"
	do_it mark /of-gdb
	wait $debugger
	holds "beside gdb: its breakpoint" has "$tmp/gdb" '^Breakpoint 1[.0-9]*, .*access'
	holds "beside gdb: it can look" has "$tmp/gdb" '"/of-gdb"'
	holds "beside gdb: it has detached" has "$tmp/gdb" '[Dd]etached'
	await has "$log" /of-gdb
	holds "beside gdb: utrace sees the call" await has "$log" \
		'^access\("/of-gdb", F_OK\) += -1 ENOENT'
	holds "beside gdb: once" is 1 count "$log" '^access\("/of-gdb"'
	holds "beside gdb: Ctrl-C" interrupt
	holds "beside gdb: the program goes on" is 0 act call 102 1
	end
}

# by_process FILE: print "PID NAME" of each call, process by process, from the
# execve() of the shell on
by_process() {
	awk -v first="$first" -v pids="$tmp/pids" '
		!/^[0-9]+ +[a-z_0-9]+\(/ { next }
		$1 == first && /execve\("\/bin\/sh"/ { begun = 1 }
		$1 == first && !begun { next }
		$1 in ours { sub(/\(.*/, "", $2); print $1, $2 }
		BEGIN { while ((getline line < pids) > 0) ours[line] }' \
		"$1" | sort -s -n -k 1,1
}

test_pipeline() {
	local first pipeline='cat /etc/passwd | sort | tee all | tr a-z A-Z | tail -n 3
		ls /no/such/folder 2> errors || (exit 3)
		for i in 1 2 3; do /bin/echo $i; done | wc -l'

	# utrace traces strace, too; the traced shell is a child of strace.
	run -f strace -f -o "$tmp/strace" /bin/sh -c "$pipeline"
	first=$(sed -n '1s/ .*//p' "$tmp/strace")
	cut -d ' ' -f 1 "$tmp/strace" | sort -u > "$tmp/pids"
	by_process "$log" > "$tmp/ours"
	by_process "$tmp/strace" > "$tmp/theirs"
	holds "a pipeline: ten processes" eval '[ "$(wc -l < "$tmp/pids")" -ge 10 ]'
	holds "a pipeline: many calls" eval '[ "$(wc -l < "$tmp/theirs")" -ge 300 ]'
	holds "a pipeline: each process has the calls that strace says" \
		diff "$tmp/theirs" "$tmp/ours"
	holds "a pipeline: it does what it does" has "$tmp/stdout" '^3$'

	run cat words
	strace -o "$tmp/strace" /usr/bin/cat words | cat > "$tmp/stdout"
	names | sed -n '/^brk$/,$p' > "$tmp/ours"
	sed -nE 's/^([a-z_0-9]+)\(.*/\1/p' "$tmp/strace" | sed -n '/^brk$/,$p' > "$tmp/theirs"
	holds "a program: the calls that strace says of another run" \
		diff "$tmp/theirs" "$tmp/ours"
	holds "a program: there are some" eval '[ "$(wc -l < "$tmp/ours")" -ge 20 ]'
}

# hung_up: check that the command ends when the other end of its output, a
# socket, is closed, though its target makes no call
hung_up() {
	python3 -c 'import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
command = subprocess.Popen(sys.argv[1:], stderr=theirs)
theirs.close()
ours.close()
try:
    command.wait('$((20 * patience))')
except subprocess.TimeoutExpired:
    command.kill()
    sys.exit(1)' "$utrace" -q -p "$actor"
}

# is_about SECONDS: check that all times of day in the log are about that
is_about() {
	awk -v now="$1" '{ t = $2 - now } t < -5 || t > 600 { exit 1 }' "$log"
}

# What the command runs into.
test_trouble() {
	local now

	holds "a program below a file: 126" ends 126 "$utrace" run words/program
	mkfifo "$tmp/fifo"
	holds "a log that nobody reads: a signal ends it" ends 124 \
		timeout -k 10 1 "$utrace" run -o "$tmp/fifo" true
	run -e 'trace=!read' python3 -c 'import ctypes
for nr in 1234, 0x20000014, 0x80000027, 0xffffffff:
	ctypes.CDLL(None).syscall(ctypes.c_ulong(nr))'
	holds "-e !set: numbers that no table has" has "$log" '^syscall_0x4d2\('
	holds "one with the bit of the 32-bit table" has "$log" '^syscall_0x20000014\('
	holds "a negative one" has "$log" '^syscall_0x80000027\('
	holds "one with all bits" has "$log" '^syscall_0xffffffff\('
	begin
	"$utrace" -q -o /dev/full -p "$actor" 2> "$tmp/stderr" 8>&- 9<&- &
	job=$!
	await_by "$job" attached "$actor"
	do_it mark /seen
	kill -INT "$job"
	wait "$job" 2> /dev/null
	holds "a full disk is reported after an interrupt, too" has "$tmp/stderr" 'No space left'
	holds "a terminal that has gone" hung_up
	do_it comm $'\033[2J'
	attach -q -o "$log" -p "$actor"
	"$utrace" ps "$actor" > "$tmp/ps"
	interrupt INT
	holds "ps: no name clears the screen" eval \
		'grep -F "?[2J" "$tmp/ps" && ! grep -F $'"'\\033'"' "$tmp/ps"'
	end
	if ! skip "a time namespace" unshare; then
		now=$(date +%s)
		unshare --time --monotonic 1000000 --fork \
			"$utrace" run -f -ttt -o "$log" sh -c '/bin/true; /bin/true'
		holds "a time namespace: the time of day" is_about "$now"
		holds "a time namespace: all of it" is 3 grep -c '+++ exited' "$log"
	fi
}

# Targets of the system: all tasks have their engine, also those that are no target.
test_system() {
	local ret=0

	"$utrace" attach -o "$log" --exe=/bin/false 2> "$tmp/stderr" &
	job=$!
	await_by "$job" grep -q '^dev ' "/proc/$$/utrace"
	interrupt INT
	holds "--exe: nobody was attached, so nobody is detached" hasnt "$tmp/stderr" .

	mkfifo ready over
	unshare --pid --fork --mount-proc sh -c '
		"$0" attach --all -e trace=getpgid -o "$1" 2> stderr &
		until grep -q "^dev " /proc/self/utrace; do sleep 0.1; done
		echo > ready
		cat over
		kill -INT $!
		wait' "$utrace" "$log" &
	timeout $((30 * patience)) cat ready > /dev/null || ret=$?
	python3 -c 'import os; [os.getpgid(0) for i in range(2)]'
	await eval '[ "$(count "$log" "getpgid\(0")" -ge 2 ]'
	timeout $((30 * patience)) sh -c ': > over' || ret=$?
	wait $!
	holds "a pid namespace: the trace ends" is 0 echo $ret
	holds "a pid namespace: it is said once what 0 is" is 1 count "$tmp/stderr" \
		'^utrace: 0 means all processes outside of this pid namespace'
}

test_status
test_errors
test_daemon
test_sets
test_lines
test_long
test_follow
test_attach
test_trouble
skip "in a pid namespace" unshare || test_system
if ! skip "beside strace" strace; then
	test_summary
	test_beside_strace
	test_pipeline
fi
skip "beside gdb" gdb || test_beside_gdb
plan
