#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - 'utrace markers' with SDT markers and functions
#
# Places of arguments in the list are compared with what readelf prints. UTRACE= is the
# command; the default is the one in PATH.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/marker/sites_command_lib.sh
. "$(dirname "$0")/sites_command_lib.sh"

# Lists

varying="*: differs between these markers"

list_file() {
	is "$(rows; echo; echo "6 names of 7 markers"; echo "$varying")" list "$library" &&
		has <(list "$library") '^utrace_test:hit 1 yes s64 r.., s32 \[r.*\], s8 -7$'
}

# A file that has no markers does not matter if others have some.
list_files() {
	cp "$library" "$tmp/second.so"
	is "$(echo "$library"; rows; echo; echo "$tmp/second.so"; rows; echo
		echo "12 names of 14 markers, in 2 files"; echo "$varying")" \
		list "$library" /bin/true "$tmp/second.so" 2> "$errors" &&
		is "utrace: /bin/true has no SDT markers; its libraries may have some \
('utrace markers list -p PID'), and its functions can be traced ('utrace markers trace \
--help')" cat "$errors"
}

# mapped PID: print the number of files that a process has mapped as code
mapped() {
	awk '$2 ~ /x/ && $6 ~ /^\// { print $4, $5 }' "/proc/$1/maps" | sort -u | wc -l
}

list_process() {
	local names markers files

	load && list -p "$actor" > "$log" || return
	names=$(count "$log" '^[^ ]+:[^ ]+ [0-9]+ (yes|no)( |$)')
	markers=$(awk '$3 == "yes" || $3 == "no" { n += $2 } END { print n }' "$log")
	files=$(count "$log" '^/')
	is "$(rows)" sed -n "\\|^$library\$|,/^\$/{ /^[^/]/p; }" "$log" &&
		has "$log" "^$names names of $markers markers, in $files of $(mapped "$actor") \
mapped files$"
}

# Hits

attached() {
	load && is "0 0 0" semaphores "$actor" && trace -p "$actor" utrace_test:hit &&
		began "1 marker in process $actor" && is "1 0 0" semaphores "$actor" &&
		is 13 act hit hit 5 6 3 && is 0 act hit guarded 1 2 && untrace &&
		is "0 0 0" semaphores "$actor" && is 10 act hit hit 5 5 &&
		logged "utrace_test:hit arg1=5 arg2=6 arg3=-7" \
			"utrace_test:hit arg1=6 arg2=6 arg3=-7" \
			"utrace_test:hit arg1=7 arg2=6 arg3=-7" &&
		is "3 utrace_test:hit" table && end
}

# The time begins with the trace, and grows.
timestamps() {
	load && trace -p "$actor" utrace_test:plain && do_it hit plain 0 0 100 && untrace &&
		is 100 count "$log" '^ +[0-9]+\.[0-9]{6} +[0-9]+ utrace_test:plain arg' &&
		awk -v most=$((30 * patience)) '{ if ($1 < last || $1 > most) exit 1; last = $1 }' \
			"$log"
}

to_stderr() {
	load || return
	"$utrace" markers trace -p "$actor" utrace_test:plain 2> "$errors" 8>&- 9>&- &
	tracer=$!
	await has "$errors" '^utrace: tracing' && do_it hit plain 1 -1 && untrace &&
		has "$errors" "^ +[0-9]+\.[0-9]{6} +$actor utrace_test:plain arg1=1 arg2=-1$" &&
		is "1 utrace_test:plain" table
}

to_command() {
	load && trace -o "|cat > $tmp/piped" -p "$actor" utrace_test:plain &&
		do_it hit plain 1 2 && untrace &&
		is "$actor utrace_test:plain arg1=1 arg2=2" hits_of "$tmp/piped"
}

# signed BITS NUMBER, unsigned BITS NUMBER: print the low bits of a number
signed() {
	echo $(($2 << (64 - $1) >> (64 - $1)))
}

unsigned() {
	if [ "$1" = 64 ]; then
		printf '%u\n' "$2"
	else
		echo $(($2 & ((1 << $1) - 1)))
	fi
}

all_types() {
	local a=$((-0x0123456776655433)) b=$((-0x70eeddccbbaa9988))

	load && trace -p "$actor" utrace_test:many utrace_test:hit && do_it hit many "$a" "$b" &&
		do_it hit hit "$a" "$b" && untrace &&
		logged "utrace_test:many arg1=$a arg2=$(unsigned 64 "$b") arg3=$(signed 32 "$a")\
 arg4=$(unsigned 32 "$a") arg5=$(signed 16 "$a") arg6=$(unsigned 16 "$a") arg7=$(signed 8 "$a")\
 arg8=$(unsigned 8 "$a") arg9=$(unsigned 64 "$b") arg10=-5 arg11=2147483647\
 arg12=$(signed 8 "$b")" "utrace_test:hit arg1=$a arg2=$(signed 32 "$b") arg3=-7"
}

# A marker that several MARKERs name is traced once. The two markers of one name both
# count in its semaphore.
wildcards() {
	load && trace -p "$actor" 'u*_test:t?ice' 'utrace_*:g*d' utrace_test:twice &&
		began "3 markers in process $actor" &&
		is "0 1 2" semaphores "$actor" && is 2 act hit first 8 2 &&
		is 1 act hit guarded -4 3 && do_it hit second 9 3 && do_it hit plain 1 1 &&
		untrace && is "0 0 0" semaphores "$actor" &&
		logged "utrace_test:twice arg1=8 arg2=1" "utrace_test:guarded arg1=-4 arg2=3" \
			"utrace_test:twice arg1=9 arg2=2" &&
		is "2 utrace_test:twice,1 utrace_test:guarded" table
}

# The markers of Python are among them.
everything() {
	load && trace -p "$actor" '*:*' && is "1 1 2" semaphores "$actor" &&
		do_it hit plain 1 2 && do_it hit second 3 0 && untrace &&
		is "$(printf "$actor utrace_test:%s\n" "plain arg1=1 arg2=2" \
			"twice arg1=3 arg2=2")" grep ' utrace_test:' <(hits) &&
		has "$errors" '^ +1  utrace_test:plain$' && has "$errors" '^ +1  utrace_test:twice$'
}

# A constructor of the library hits the marker born.
loaded_later() {
	start "$python" "$tmp/program.py" && is "$actor" act pid &&
		trace -p "$actor" "$library:utrace_test:born" "$library:utrace_test:hit" &&
		is 1 act load && is 3 act hit hit 1 2 && untrace &&
		logged "utrace_test:born arg1=1" "utrace_test:hit arg1=1 arg2=2 arg3=-7"
}

# A FILE need not have a "/" before two colons.
relative() {
	cd "$tmp" && load && trace -p "$actor" ./probed.so:utrace_test:plain &&
		do_it hit plain 1 2 && untrace && logged "utrace_test:plain arg1=1 arg2=2" &&
		trace -p "$actor" probed.so:utrace_test:plain && do_it hit plain 3 4 && untrace &&
		logged "utrace_test:plain arg1=3 arg2=4"
}

# The path of the library is that of another file for the process.
elsewhere() {
	cp "$library" "$tmp/second.so"
	load unshare -m sh -c "mount --bind '$tmp/second.so' '$library' && exec \"\$@\"" sh &&
		trace -p "$actor" "$library:utrace_test:guarded" && is 1 act hit guarded 1 2 &&
		is "0 1 0" semaphores "$actor" && untrace &&
		logged "utrace_test:guarded arg1=1 arg2=2"
}

# The path of the library is that of another file by now.
mounted_over() {
	cp /bin/true "$tmp/other" && load unshare -m &&
		nsenter -t "$actor" -m mount --bind "$tmp/other" "$library" &&
		list -p "$actor" > "$log" &&
		is "$(rows)" sed -n "\\|^$library\$|,/^\$/{ /^[^/]/p; }" "$log" &&
		trace -p "$actor" utrace_test:plain && do_it hit plain 1 2 && untrace &&
		logged "utrace_test:plain arg1=1 arg2=2"
}

# The library was replaced since the process has mapped it.
replaced() {
	cp "$library" "$tmp/old.so"
	start "$python" "$tmp/program.py" && is 0 act load "$tmp/old.so" &&
		rm "$tmp/old.so" && cp "$library" "$tmp/old.so" &&
		has <(list -p "$actor") "^$tmp/old.so \(deleted\)$" &&
		trace -p "$actor" utrace_test:plain && do_it hit plain 1 2 && untrace &&
		logged "utrace_test:plain arg1=1 arg2=2" &&
		trace -p "$actor" "$tmp/old.so:utrace_test:plain" && do_it hit plain 3 4 &&
		untrace &&
		logged "utrace_test:plain arg1=3 arg2=4"
}

# A file of an overlay is mapped from the file system below.
overlay() {
	local ret=0

	mkdir "$tmp/lower" "$tmp/upper" "$tmp/work" "$tmp/both"
	cp "$library" "$tmp/lower"
	mount -t overlay -o "lowerdir=$tmp/lower,upperdir=$tmp/upper,workdir=$tmp/work" none \
		"$tmp/both" || return
	start "$python" "$tmp/program.py" && is 0 act load "$tmp/both/probed.so" &&
		trace -p "$actor" utrace_test:guarded "$tmp/both/probed.so:utrace_test:plain" &&
		is 1 act hit guarded 1 2 && do_it hit plain 3 4 && untrace &&
		is 0 act hit guarded 5 6 && logged "utrace_test:guarded arg1=1 arg2=2" \
			"utrace_test:plain arg1=3 arg2=4" || ret=$?
	umount -l "$tmp/both"
	return $ret
}

# Functions

functions() {
	load && trace --args 2 -p "$actor" "$library:probed_add" "$library:probed_add%return" &&
		began "2 markers in process $actor" && is 3 act hit add 5 -2 &&
		is 5 act hit add 5 -1 2 && untrace &&
		logged "probed.so:probed_add arg1=5 arg2=-2" "probed.so:probed_add%return arg1=3" \
			"probed.so:probed_add arg1=5 arg2=-1" "probed.so:probed_add%return arg1=4" \
			"probed.so:probed_add arg1=6 arg2=-1" \
			"probed.so:probed_add%return arg1=5" &&
		is "3 probed.so:probed_add,3 probed.so:probed_add%return" table
}

# A function shows no arguments without --args, and 6 at most.
number_of_args() {
	load && trace -p "$actor" "$library:probed_add" && do_it hit add 1 2 && untrace &&
		logged probed.so:probed_add &&
		trace --args 1 -p "$actor" "$library:probed_add" && do_it hit add 1 2 && untrace &&
		logged "probed.so:probed_add arg1=1" &&
		trace --args 6 -p "$actor" "$library:probed_add" && do_it hit add 1 2 && untrace &&
		has "$log" ' probed\.so:probed_add arg1=1 arg2=2( arg[3-6]=-?[0-9]+){4}$'
}

recursion() {
	load && trace --args 1 -p "$actor" "$library:probed_d?wn" "$library:probed_d?wn%return" &&
		is 12 act hit down 2 10 && untrace &&
		logged "probed.so:probed_down arg1=2" "probed.so:probed_down arg1=1" \
			"probed.so:probed_down arg1=0" "probed.so:probed_down%return arg1=10" \
			"probed.so:probed_down%return arg1=11" \
			"probed.so:probed_down%return arg1=12"
}

function_wildcards() {
	load && trace --count -p "$actor" "$library:probed_*d" utrace_test:guarded &&
		do_it hit add 1 1 4 && do_it hit second 1 1 3 && do_it hit guarded 1 1 2 &&
		do_it hit plain 1 1 && untrace &&
		is "4 probed.so:probed_add,3 probed.so:probed_second,2 probed.so:probed_guarded,2 \
utrace_test:guarded" counts_of "$log"
}

# Counts and histograms

counts() {
	load && trace --count -p "$actor" utrace_test:hit utrace_test:plain utrace_test:born &&
		is "1 0 0" semaphores "$actor" && do_it hit hit 0 0 100 &&
		do_it hit plain 0 0 7 && untrace &&
		is "100 utrace_test:hit,7 utrace_test:plain,0 utrace_test:born" counts_of "$log" &&
		is 4 count "$log" . && hasnt "$errors" HITS && is "0 0 0" semaphores "$actor"
}

# bars LABEL NUMBER COLUMNS...: print lines of a histogram
bars() {
	while [ $# -gt 0 ]; do
		printf '%-14s %10d |%-50s|\n' "$1" "$2" "$(head -c "$3" /dev/zero | tr '\0' @)"
		shift 3
	done
}

# The argument is given as a number, or as lines of hits have it.
histogram() {
	load && trace --histogram arg1 -p "$actor" utrace_test:hit &&
		is "1 0 0" semaphores "$actor" && do_it hit hit -2 0 8 && do_it hit hit 32 0 &&
		untrace && is "utrace_test:hit arg1, 9 values
$(bars '(..., 0)' 2 50 '[0]' 1 25 '[1]' 1 25 '[2, 4)' 2 50 '[4, 8)' 2 50 '[8, 16)' 0 0 \
			'[16, 32)' 0 0 '[32, 64)' 1 25)" cat "$log" &&
		is "9 utrace_test:hit" table
}

# Argument 2 of hit has 32 bits and a sign, that of many has 64 and none.
histogram_types() {
	load && trace --histogram 2 -p "$actor" utrace_test:hit utrace_test:many &&
		do_it hit hit 0 1024 4 && do_it hit hit 0 2147483648 2 &&
		do_it hit many 0 -1 && untrace && has "$log" '^utrace_test:hit arg2, 6 values$' &&
		is "$(bars '(..., 0)' 2 25 '[1K, 2K)' 4 50; echo
			echo "utrace_test:many arg2, 1 values"; bars '[8E, 16E)' 1 50)" \
			sed -n '1d; / 0 |/!p' "$log"
}

histogram_unreadable() {
	load && trace --histogram 3 -p "$actor" utrace_test:hit utrace_test:plain &&
		do_it hit hit 0 0 3 && do_it hit plain 0 0 2 && untrace &&
		is "$(echo "utrace_test:hit arg3, 3 values"; bars '(..., 0)' 3 50; echo
			echo "utrace_test:plain arg3, 0 values, and 2 that could not be read")" \
			cat "$log"
}

histogram_of_functions() {
	load && trace --histogram 1 -p "$actor" "$library:probed_add" \
		"$library:probed_add%return" && do_it hit add 2 6 && untrace &&
		is "$(echo "probed.so:probed_add arg1, 1 values"; bars '[2, 4)' 1 50; echo
			echo "probed.so:probed_add%return arg1, 1 values"; bars '[8, 16)' 1 50)" \
			cat "$log"
}

# Processes and threads

threads() {
	local answer

	load && trace -p "$actor" utrace_test:plain && answer=$(act thread hit plain 1 2) &&
		do_it hit plain 3 4 && untrace &&
		is "${answer% 1} utrace_test:plain arg1=1 arg2=2
$actor utrace_test:plain arg1=3 arg2=4" hits && [ "${answer% 1}" != "$actor" ]
}

# The fork comes while the semaphore is 1.
without_children() {
	local child

	load && trace -p "$actor" utrace_test:guarded && child=$(act fork) &&
		is "0 1 0 0 0 0" semaphores "$actor" "$child" && is 0 act hit guarded 1 2 &&
		is 768 act end 3 && is 1 act hit guarded 3 4 && untrace &&
		logged "utrace_test:guarded arg1=3 arg2=4"
}

children() {
	local child

	load && trace -f -p "$actor" 'utrace_test:[gp]*' && is 1 act hit guarded 1 2 &&
		child=$(act fork) && is "0 1 0 0 1 0" semaphores "$actor" "$child" &&
		is 1 act hit guarded 3 4 && do_it hit plain 5 6 && untrace &&
		is "0 0 0 0 0 0" semaphores "$actor" "$child" && is 0 act hit guarded 7 8 &&
		is 768 act end 3 && is "$actor utrace_test:guarded arg1=1 arg2=2
$child utrace_test:guarded arg1=3 arg2=4
$child utrace_test:plain arg1=5 arg2=6" hits &&
		is "2 utrace_test:guarded,1 utrace_test:plain" table
}

# The trace ends with the process, and so does that of a process that is killed.
process_ends() {
	load && trace -p "$actor" utrace_test:plain && do_it hit plain 1 2 && end && ended 0 &&
		logged "utrace_test:plain arg1=1 arg2=2" && is "1 utrace_test:plain" table &&
		load && trace -p "$actor" utrace_test:plain && do_it hit plain 3 4 &&
		kill -KILL "$actor" && ended 0 && logged "utrace_test:plain arg1=3 arg2=4"
}

everywhere() {
	local first second

	load && trace -a "$library:utrace_test:guarded" &&
		is "PID PROGRAM SCOPE OWNER
all - system $tracer:utrace" status && is "$(status)" squeezed "$utrace" markers status $$ &&
		began "1 marker in all processes" && is "0 1 0" semaphores "$actor" &&
		is 1 act hit guarded 1 2 &&
		is "0 1" paste -s -d ' ' \
			<("$python" "$tmp/program.py" load "hit guarded 3 4" \
				< /dev/null 8>&- 9>&-) &&
		untrace && is "0 0 0" semaphores "$actor" && is 0 act hit guarded 5 6 &&
		is "2 utrace_test:guarded" table || return
	read -r first second < <(hits | cut -d ' ' -f 1 | paste -s -d ' ')
	[ "$first" = "$actor" ] && [ "$second" != "$actor" ] &&
		is "utrace_test:guarded arg1=1 arg2=2
utrace_test:guarded arg1=3 arg2=4" cut -d ' ' -f 2- <(hits)
}

# Programs that are started

# by_one LINE...: check that these are the hits, all by one process
by_one() {
	is "$(printf "%s\n" "$@")" cut -d ' ' -f 2- <(hits) &&
		is 1 wc -l < <(hits | cut -d ' ' -f 1 | sort -u)
}

# The semaphores are there when the constructor of the library runs.
program() {
	run 7 "$library:utrace_test:*" -- "$python" "$tmp/program.py" load "hit guarded 1 2" \
		"hit hit 5 6 2" "end 7" && is "1 1 12" paste -s -d ' ' "$tmp/stdout" &&
		by_one "utrace_test:born arg1=1" "utrace_test:guarded arg1=1 arg2=2" \
			"utrace_test:hit arg1=5 arg2=6 arg3=-7" \
			"utrace_test:hit arg1=6 arg2=6 arg3=-7" &&
		is "2 utrace_test:hit,1 utrace_test:born,1 utrace_test:guarded,0 3 other markers" \
			table
}

# Python counts its collections, too.
program_itself() {
	run 0 python:gc__start -- "$python" -c 'import gc, os
gc.collect(0)
print(sum(generation["collections"] for generation in gc.get_stats()), flush=True)
os._exit(0)' && is "$(cat "$tmp/stdout") python:gc__start" table &&
		is "$(cat "$tmp/stdout")" count "$log" ' python:gc__start arg1=[012]$'
}

program_killed() {
	run 143 "$library:utrace_test:hit" -- sh -c 'kill $$' && is "" cat "$log" &&
		is "0 utrace_test:hit" table
}

program_forks() {
	local command="'$python' '$tmp/program.py' load 'hit guarded 1 2'; :"

	run 0 "$library:utrace_test:guarded" -- sh -c "$command" &&
		is "0 0" paste -s -d ' ' "$tmp/stdout" && is "" cat "$log" &&
		run 0 -f "$library:utrace_test:guarded" -- sh -c "$command" &&
		is "0 1" paste -s -d ' ' "$tmp/stdout" &&
		by_one "utrace_test:guarded arg1=1 arg2=2"
}

# A signal ends the command and the program.
program_interrupted() {
	local ret=0

	load "$utrace" markers trace -o "$log" "$library:utrace_test:plain" -- \
		2> "$errors" && do_it hit plain 1 2 && kill "$actor" || return
	wait "$actor" || ret=$?
	is 143 echo "$ret" && is "" cat <&9 && by_one "utrace_test:plain arg1=1 arg2=2" &&
		is "1 utrace_test:plain" table
}

# Users and other commands

listed_by_status() {
	local name=${python##*/} head="PID PROGRAM SCOPE OWNER"
	local nothing="utrace: no words or markers are armed in"

	load && is "" status && is "$nothing any process" cat "$tmp/nothing" &&
		trace -p "$actor" utrace_test:hit &&
		is "$head
$actor $name process $tracer:utrace" status && is "" cat "$tmp/nothing" &&
		is "$(status)" squeezed "$utrace" markers status "$actor" &&
		says 0 "$nothing these processes" status $$ && untrace &&
		is "" status && trace -f -p "$actor" utrace_test:hit &&
		is "$head
$actor $name tree $tracer:utrace" status && untrace && is "" status
}

renamed_in_status() {
	load && do_it rename && trace -p "$actor" utrace_test:hit &&
		is "PID PROGRAM SCOPE OWNER
$actor ?[2J process $tracer:utrace" status && untrace
}

# Both commands see the hit, and the semaphore is there until the last one ends.
two_commands() {
	local one

	load && trace -p "$actor" utrace_test:guarded || return
	one=$tracer
	"$utrace" markers trace -o "$tmp/other" -p "$actor" utrace_test:guarded \
		2> "$errors.other" 8>&- 9>&- &
	tracer=$!
	await has "$errors.other" '^utrace: tracing' && is 3 wc -l < <(status) &&
		is 1 act hit guarded 1 2 && untrace && tracer=$one && is 1 act hit guarded 3 4 &&
		untrace && is 0 act hit guarded 5 6 && is "0 0 0" semaphores "$actor" &&
		logged "utrace_test:guarded arg1=1 arg2=2" "utrace_test:guarded arg1=3 arg2=4" &&
		is "$actor utrace_test:guarded arg1=1 arg2=2" hits_of "$tmp/other"
}

# A user without rights traces own processes if the system allows that.
unprivileged() {
	local allowed ret=0

	allowed=$(cat /proc/sys/kernel/utrace/unprivileged)
	echo 1 > /proc/sys/kernel/utrace/unprivileged
	: > "$log"
	chmod 666 "$log"
	with=("${nobody[@]}")
	load "${nobody[@]}" && trace -p "$actor" utrace_test:guarded &&
		is "0 1 0" semaphores "$actor" && is 1 act hit guarded 1 2 && untrace &&
		is "0 0 0" semaphores "$actor" && logged "utrace_test:guarded arg1=1 arg2=2" ||
		ret=$?
	echo "$allowed" > /proc/sys/kernel/utrace/unprivileged
	return $ret
}

# small_buffer: have the command get the least memory for records
small_buffer() {
	with=(prlimit --memlock=131072:131072 setpriv --bounding-set=-ipc_lock)
}

# The program waits for a command that is stopped.
waits() {
	small_buffer
	load && trace -p "$actor" utrace_test:plain && kill -STOP "$tracer" &&
		echo "hit plain 1 2 5000" >&8 && ! read -r -t 2 <&9 && kill -CONT "$tracer" &&
		is 5000 answer && untrace && is 5000 count "$log" . &&
		is "$(seq 5000)" sed 's/.* arg1=\(.*\) arg2=2$/\1/' "$log" &&
		is "5000 utrace_test:plain" table && hasnt "$errors" lost
}

# Records have no room while the command is stopped. All hits are counted.
drops() {
	local shown

	small_buffer
	load && trace --drop -p "$actor" utrace_test:plain && kill -STOP "$tracer" &&
		is 5000 act hit plain 1 2 5000 && kill -CONT "$tracer" && untrace || return
	shown=$(count "$log" .)
	[ "$shown" -gt 0 ] && [ "$shown" -lt 5000 ] &&
		is "utrace: $((5000 - shown)) records were lost: the buffer was full; use fewer \
MARKERs, or --count, to avoid this" grep lost "$errors" &&
		is "5000 utrace_test:plain" table &&
		is "$(seq "$shown")" sed 's/.* arg1=\(.*\) arg2=2$/\1/' "$log"
}

check "list of a file" list_file
check "list of files" list_files
check "list of a process" list_process
check "a process" attached
check "times" timestamps
check "standard error" to_stderr
check "a command that reads the hits" to_command
check "arguments of all types" all_types
check "wildcards" wildcards
check "all markers of a process" everything
check "a library that is loaded later" loaded_later
check "FILE without a folder" relative
check "FILE that is another one for the process" elsewhere
check "a library that something is mounted on" mounted_over
check "a library that was replaced" replaced
check "a library on an overlay" overlay
check "entries and returns of a function" functions
check "--args" number_of_args
check "a function that calls itself" recursion
check "functions by wildcards" function_wildcards
check "--count" counts
check "--histogram" histogram
check "--histogram of 32 and 64 bits" histogram_types
check "--histogram of an argument that is not there" histogram_unreadable
check "--histogram of functions" histogram_of_functions
check "threads" threads
check "no new processes" without_children
check "new processes" children
check "a process that ends" process_ends
check "all processes" everywhere
check "a program" program
check "markers of the program itself" program_itself
check "a program that is killed" program_killed
check "a program with children" program_forks
check "a program and a signal" program_interrupted
check "status" listed_by_status
check "status: no name clears the screen" renamed_in_status
check "two commands at one marker" two_commands
check "a user without rights, and own processes" unprivileged
check "a slow command, for which the program waits" waits
check "--drop" drops
plan
