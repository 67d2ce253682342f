# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# utrace selftests - functions of the tests of 'utrace markers' with SDT markers
#
# A test sources this file after lib.sh. A program in Python loads a copy of the library
# probed.so, on a tmpfs, and calls its functions by order; the command traces it.
# Semaphores are read from /proc/PID/mem.
# shellcheck disable=SC2034,SC2154 # used where this is sourced, and from lib.sh

need_device
need_built probed.so
[ -e "$tracing/uprobe_events" ] || skip_all "no uprobe_events in $tracing (UPROBE_EVENTS)"
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"
python=/usr/bin/python3
[ -x "$python" ] || skip_all "no $python"
command -v readelf > /dev/null || skip_all "no readelf (binutils)"

log=$tmp/log
errors=$tmp/stderr
library=$tmp/probed.so
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
tracer=
# What the command is run by, as another user and the like.
with=()
declare -A where
chmod 755 "$tmp"
cp "$bin/probed.so" "$library"
: > "$errors"

# The program takes its orders from its arguments, then from lines of its input, and
# answers each with a line.
cat > "$tmp/program.py" << END
import ctypes, os, sys, threading

lib = None

def pid():
    return os.getpid()

def load(path="$library"):
    global lib
    lib = ctypes.CDLL(path)
    return ctypes.c_long.in_dll(lib, "probed_born").value

def hit(name, a, b, times=1):
    function = lib["probed_" + name]
    function.argtypes = [ctypes.c_long] * 2
    function.restype = ctypes.c_long
    for i in range(int(times)):
        result = function(int(a) + i, int(b))
    return result

def where(name):
    return ctypes.addressof(ctypes.c_ushort.in_dll(lib, f"utrace_test_{name}_semaphore"))

def fork():
    """The child runs until the order to end; the parent says how it has ended."""
    child = os.fork()
    return os.waitpid(child, 0)[1] if child else os.getpid()

def thread(*order):
    def run():
        nonlocal told
        told = f"{threading.get_native_id()} {obey(*order)}"
    told = None
    new = threading.Thread(target=run)
    new.start()
    new.join()
    return told

def rename():
    """Have a name that clears the screen."""
    with open("/proc/self/comm", "w") as comm:
        comm.write("\x1b[2J")

def end(status=0):
    os._exit(int(status))

def obey(name, *args):
    return globals()[name](*args)

for order in sys.argv[1:]:
    print(obey(*order.split()), flush=True)
while order := sys.stdin.readline():
    print(obey(*order.split()), flush=True)
END

# The program

# start COMMAND...: start a program that takes orders by act, with its pid in $actor
start() {
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$@" < "$tmp/in" > "$tmp/out" &
	actor=$!
	exec 8> "$tmp/in" 9< "$tmp/out"
}

# load [PREFIX...]: start the program and have it load the library
load() {
	local name

	start "$@" "$python" "$tmp/program.py"
	do_it load || return
	for name in guarded hit twice; do
		where[$name]=$(act where $name) || return
	done
}

# answer: print the answer to an order that was given before
answer() {
	local answer

	read -r -t $((30 * patience)) answer <&9 && echo "$answer"
}

# semaphores PID...: print those of hit, guarded and twice, for each process
semaphores() {
	local pid name

	for pid; do
		for name in hit guarded twice; do
			dd if="/proc/$pid/mem" bs=1 skip="${where[$name]}" count=2 status=none |
				od -A n -t u2
		done
	done | tr -d ' ' | paste -s -d ' '
}

# The command

# trace ARG...: start a trace of what runs, and wait until it has begun
trace() {
	: > "$errors"
	"${with[@]}" "$utrace" markers trace -o "$log" "$@" \
		> "$tmp/stdout" 2> "$errors" < /dev/null 8>&- 9>&- &
	tracer=$!
	await has "$errors" '^utrace: tracing .*; Ctrl-C ends that$'
}

# began TEXT: check that the trace has begun with this message alone
began() {
	is "utrace: tracing $1; Ctrl-C ends that" cat "$errors"
}

# ended STATUS: check that the trace ends with this status and prints nothing
ended() {
	local ret=0

	wait "$tracer" || ret=$?
	tracer=
	is "$1" echo "$ret" && is "" cat "$tmp/stdout"
}

# untrace: end the trace as Ctrl-C does
untrace() {
	kill -INT "$tracer"
	ended 130
}

# run STATUS ARG... -- PROGRAM [ARG...]: trace a program until it ends, and
# check the status
run() {
	local want=$1 ret=0

	"$utrace" markers trace -o "$log" "${@:2}" > "$tmp/stdout" 2> "$errors" < /dev/null ||
		ret=$?
	is "$want" echo "$ret"
}

# clean COMMAND...: run the command, then end what it has started
clean() {
	local ret=0

	"$@" || ret=$?
	exec 8>&- 9>&-
	[ -z "$tracer" ] || kill -CONT "$tracer"
	[ -z "$tracer" ] || kill "$tracer"
	tracer=
	with=()
	wait
	[ $ret = 0 ] || cat "$errors"
	return $ret
}

# check TEXT COMMAND...: one result
check() {
	holds "$1" clean "${@:2}"
}

# hits_of FILE: print the lines of hits without their times and padding
hits_of() {
	sed -E 's/^ *[0-9]+\.[0-9]{6} +//; s/ +/ /g' "$1"
}

hits() {
	hits_of "$log"
}

# logged LINE...: check that these are the hits, all by the program
logged() {
	is "$(printf "$actor %s\n" "$@")" hits
}

# counts_of FILE: print the table of counts as "3 provider:name,1 provider:other"
counts_of() {
	sed -nE '/^ *HITS  MARKER$/,$ s/^ *([0-9]+)  /\1 /p' "$1" | paste -s -d ,
}

table() {
	counts_of "$errors"
}

# squeezed COMMAND...: print a table with one space between columns
squeezed() {
	"$@" | sed -E 's/^ +//; s/ +/ /g'
}

# says STATUS TEXT ARG...: check the status and the message of the command
says() {
	local want=$1 text=$2 ret=0

	"${with[@]}" "$utrace" markers "${@:3}" > "$tmp/stdout" 2> "$errors" < /dev/null || ret=$?
	is "$text" cat "$errors" && is "$want" echo "$ret" && is "" cat "$tmp/stdout"
}

list() {
	squeezed "$utrace" markers list "$@"
}

# arguments NAME: print those of a marker by its notes, in the words of the list
arguments() {
	readelf -nW "$library" | sed -n "/Name: $1\$/{ n; n; s/.*Arguments: //p; }" | sed -E '
		s/ /, /g; s/-([1248])@/s\1 /g; s/(^| )([1248])@/\1u\2 /g
		s/([su])8 /\164 /g; s/([su])4 /\132 /g; s/([su])2 /\116 /g; s/([su])1 /\18 /g
		s/\$//g; s/%([a-d])l/r\1x/g; s/%([sd]i|[sb]p)l/r\1/g
		s/%[re]?([a-d]x|[sd]i|[sb]p)/r\1/g; s/%(r[0-9]+)[dwb]?/\1/g
		s/-([0-9]+)\(([^)]*)\)/[\2-\1]/g; s/([0-9]+)\(([^)]*)\)/[\2+\1]/g
		s/\(([^)]*)\)/[\1]/g'
}

# rows: print the table of the library
rows() {
	cat <<- END
		PROVIDER:NAME COUNT SEMAPHORE ARGUMENTS
		utrace_test:born 1 yes $(arguments born)
		utrace_test:guarded 1 yes $(arguments guarded)
		utrace_test:hit 1 yes $(arguments hit)
		utrace_test:many 1 yes $(arguments many)
		utrace_test:plain 1 no $(arguments plain)
		utrace_test:twice 2 yes $(arguments twice | sed 's/, .*/, s32 */' | uniq)
	END
}

status() {
	squeezed "$utrace" markers status 2> "$tmp/nothing"
}
