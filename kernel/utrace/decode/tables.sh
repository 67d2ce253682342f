#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# utrace - generate the tables of system calls, structures and names
#
# Usage: tables.sh OUT KERNEL WHO [INCLUDE...]
# Writes to the folder OUT, from args.tbl, the tables in tables/, the kernel's
# source in KERNEL and its headers for programs in the folders INCLUDE:
#
#	sets.h		numbers of the sets of names
#	set_names.h	the names
#	rows.h		the system calls, and the memory that arguments point to
#	fields.h	the members of structures, if WHO is "command"
#	arg_hooks.h	the functions of the command that print arguments
#	ioctl_names.h	the numbers of ioctl(), if WHO is "command"
#
# If WHO is "kernel", set_names.h has only the names that the kernel prints. AWK,
# CC and OBJCOPY are the tools. The tables need sizes, offsets and constants of
# programs of three ABIs, which only the compiler knows; values.awk explains how
# it is asked.
set -e
here=$(dirname "$0")
out=$1
kernel=$2
who=$3
shift 3
: "${AWK:=awk}" "${CC:=gcc}" "${OBJCOPY:=objcopy}"
calls=$kernel/arch/x86/entry/syscalls

# CC may be several words. Programs are compiled, not the kernel: so no flag of
# the kernel applies.
compile() {
	$CC -nostdinc -w -I"$out" -I"$here/uapi" $includes -D__user= -D__force= -D__attribute_const__= \
		"-D__packed=__attribute__((packed))" "$@"
}

# generate RESULT SCRIPT FILE...: run the awk script SCRIPT and those that it
# uses, once to write the query and once to write RESULT, which is replaced only
# if its content changes
generate() {
	result=$1
	script=$2
	shift 2
	scripts="-v who=$who -v header=$header -v arg_hooks=$out/arg_hooks.h
		-f $here/values.awk -f $here/sets.awk -f $here/structs.awk"
	$AWK -v query=1 $scripts -f "$script" "$@" > "$out/query.c"
	for abi in 64 32 x32; do
		compile -m$abi -c -o "$out/query.o" "$out/query.c"
		$OBJCOPY -O binary -j .values "$out/query.o" "$out/query.bin"
		od -An -tx8 -v -w8 "$out/query.bin" > "$out/values.$abi"
	done
	$AWK $scripts -f "$script" "$out/values.64" "$out/values.32" \
		"$out/values.x32" "$@" > "$out/$result"
}

includes=
for folder; do
	includes="$includes -I$folder"
done
own=$kernel/include/linux
$AWK -f "$here/kernel_only.awk" "$own/socket.h" "$own/net.h" "$own/splice.h" \
	"$own/swap.h" "$own/syslog.h" "$own/fs.h" "$own/ata.h" "$kernel/include/scsi/sg.h" \
	"$kernel/include/scsi/scsi_ioctl.h" "$kernel/include/scsi/scsi.h" > "$out/kernel_only.h"
header=utrace_programs.h
compile -E -dD "$here/uapi/utrace_programs.h" |
	$AWK -f "$here/names.awk" > "$out/names"

set -- "$here"/tables/*.tbl
generate rows.h "$here/table.awk" "$@" "$here/args.tbl" \
	"$calls/syscall_64.tbl" "$calls/syscall_32.tbl"
generate set_names.h "$here/set_names.awk" "$out/names" "$@"
if [ "$who" = command ]; then
	generate fields.h "$here/fields.awk" "$@"
	sed -E '/^#/d; s/.*/#if __has_include(<&>)\n#include <&>\n#endif/' \
		"$here/ioctl_headers" > "$out/ioctls.h"
	header=ioctls.h
	compile -E -dD "$out/ioctls.h" |
		$AWK -f "$here/ioctl_names.awk" > "$out/ioctl.all"
	# Structures of other architectures have no size: leave out the lines
	# that do not compile.
	{ echo "#include <ioctls.h>"; sed 's/.*/int try(int x[&]);/' "$out/ioctl.all"; } \
		> "$out/query.c"
	LC_ALL=C compile -fsyntax-only "$out/query.c" 2>&1 |
		sed -n 's/.*query\.c:\([0-9]*\):.*/\1/p' |
		$AWK -v all="$out/ioctl.all" '{ wrong[$1] }
			END { while (getline < all) if (!(++n + 1 in wrong)) print }' \
		> "$out/ioctl.names"
	generate ioctl_names.h "$here/ioctls.awk" "$out/ioctl.names"
fi
$AWK -v query=1 -f "$here/values.awk" -f "$here/sets.awk" -f "$here/structs.awk" \
	-f "$here/set_numbers.awk" "$@" > "$out/sets.h"
