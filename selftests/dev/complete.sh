#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - a log of the command utrace that is complete
#
# Sixteen processes make calls at once, and all calls have to be in the log.
# A parallel build is traced by utrace, with the smallest buffer, and by strace.
# Both logs must have the same processes, and for each program the same calls.
# What is left out depends on time or chance: make and gcc wait for each other by
# pipes and signals, so of these two only the programs that they execute are
# compared; and mkstemp() asks for random bits once more if these would make
# some names likelier than others, once in 22 times.
# UTRACE= is the command; the default is the one in PATH.
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"
for program in strace gcc make setarch; do
	command -v "$program" > /dev/null || skip_all "no $program"
done

FILES=5		# compiled four at a time
WAITING='make gcc sh'
CHANCE='getrandom'

# A program of FILES sources and its Makefile.
write_sources() {
	local i

	mkdir "$tmp/src"
	for ((i = 1; i < FILES; i++)); do
		printf '#include <stdio.h>\nint f%d(void) { return printf("%d\\n"); }\n' \
			"$i" "$i" > "$tmp/src/f$i.c"
	done
	{
		seq -f 'int f%g(void);' 1 $((FILES - 1))
		echo 'int main(void) { return'
		seq -f 'f%g() +' 1 $((FILES - 1))
		echo '0; }'
	} > "$tmp/src/main.c"
	cat > "$tmp/src/Makefile" <<- 'END'
		.RECIPEPREFIX := >
		objects := $(patsubst %.c,%.o,$(wildcard *.c))
		prog: $(objects)
		>gcc -o $@ $^
		%.o: %.c
		>gcc -c -o $@ $<
	END
}

# build NAME TRACER...: build in a fresh folder, traced
build() {
	local name=$1

	shift
	rm -rf "$tmp/build"
	cp -r "$tmp/src" "$tmp/build"
	"$@" setarch -R make -s -j4 -C "$tmp/build" prog > "$tmp/$name.out" 2>&1
}

# what_was_done LOG: print "PROGRAM CALL NUMBER" for each program and call, and
# "PROGRAM tasks NUMBER"
what_was_done() {
	awk -v waiting="$WAITING" -v chance="$CHANCE" '
		BEGIN {
			split(waiting, names)
			for (i in names)
				waits[names[i]] = 1
		}
		$2 ~ /^execve\(/ {
			split($0, path, "\"")
			n = split(path[2], part, "/")
			wants[$1] = part[n]
		}
		/execve.* = 0$/ {
			program[$1] = wants[$1]
		}
		$2 !~ /^(<\.\.\.|---|\+\+\+)/ {
			call = $2
			sub(/\(.*/, "", call)
			calls[$1, call]++
			seen[$1] = 1
		}
		END {
			for (pid in seen)
				tasks[program[pid]]++
			for (pair in calls) {
				split(pair, key, SUBSEP)
				total[program[key[1]] " " key[2]] += calls[pair]
			}
			for (name in tasks)
				print name, "tasks", tasks[name]
			for (pair in total) {
				split(pair, key, " ")
				if (key[2] == "execve" ||
				    !(key[1] in waits || key[2] == chance))
					print pair, total[pair]
			}
		}' "$1" | LC_ALL=C sort
}

write_sources
build strace strace -f -o "$tmp/strace.log"
holds "strace: the program is built" is "$((FILES - 1))" eval '"$tmp/build/prog" | wc -l'
build utrace "$utrace" run -f --buffer-size=64K -o "$tmp/utrace.log"
holds "utrace: the program is built" is "$((FILES - 1))" eval '"$tmp/build/prog" | wc -l'
holds "nothing is lost" eval '! grep lost "$tmp/utrace.out"'
what_was_done "$tmp/strace.log" > "$tmp/strace.did"
what_was_done "$tmp/utrace.log" > "$tmp/utrace.did"
holds "there is something to compare" eval '[ "$(grep -c "^cc1 " "$tmp/strace.did")" -gt 10 ]'
holds "the same processes made the same calls" diff "$tmp/strace.did" "$tmp/utrace.did"
holds "all processes have ended" is "$(grep -c '+++ exited with' "$tmp/strace.log")" \
	grep -c '+++ exited with' "$tmp/utrace.log"

"$utrace" run -f -C -e trace=getppid --buffer-size=64K -o "$tmp/log" python3 -c '
import os
for i in range(16):
    if not os.fork():
        for k in range(6250):
            os.getppid()
        os._exit(0)
for i in range(16):
    os.wait()' 2> "$tmp/said"
holds "16 processes make 6250 calls: 100 000 in the log" is 100000 \
	grep -c '^[0-9]* *getppid(' "$tmp/log"
holds "with their results" is 100000 grep -Ec 'getppid.*\) += [0-9]+$' "$tmp/log"
holds "and 100 000 in the counts" is 100000 awk '$NF == "getppid" { print $4 }' "$tmp/log"
plan
