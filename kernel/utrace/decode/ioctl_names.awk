# SPDX-License-Identifier: GPL-2.0
#
# utrace - list the names of the numbers of ioctl() in preprocessed C headers
#
# Reads the output of "cpp -dD". Writes the names of macros without arguments
# that are made by _IO() and the like, or by macros that use those, and of plain
# numbers with a prefix of old drivers. A macro that only is another name is left
# out.

BEGIN {
	split("_IO _IOC _IOR _IOW _IOWR _IOR_BAD _IOW_BAD _IOWR_BAD", words)
	for (i in words)
		maker[words[i]]
	old = "^(TC[GSXF]|TIOC|FIO|SIOC|KD|KIOC|GIO_|PIO_|VT_|CDROM|DVD_|LOOP_|" \
	      "HDIO_|SG_|SCSI_IOCTL_|FBIO|LP[A-Z])"
	not = "^(_|KD_|TIOCSER_|SG_SCSI_RESET_|VT_(AUTO|PROCESS|ACKACQ|MAX|EVENT)|LOOP_(FLAGS|MAJOR)|" \
	      "SG_(DEF|FLAG|INFO|DXFER|SCATTER|MAX|BIG)|HDIO_DRIVE_HOB|" \
	      "SOUND_MIXER_READ_|CDROM_(LBA|MSF|DATA|LEADOUT|AUDIO|PACKET|MAX)|DVD_(CPC|CGMS|" \
	      "STRUCT|LU|HOST|AUTH_|INVAL|LAYER))"
}

# Return true if TEXT begins with a call of a maker.
function is_made(text) {
	gsub(/^[( \t]+/, "", text)
	if (!match(text, /^[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/))
		return 0
	text = substr(text, 1, RLENGTH - 1)
	sub(/[ \t]+$/, "", text)
	return text in maker
}

!/^#define / || NF < 3 { next }

{
	name = $2
	text = $0
	sub(/^#define +/, "", text)
}

# A macro with arguments.
match(text, /^[A-Za-z_][A-Za-z0-9_]*\(/) {
	name = substr(text, 1, RLENGTH - 1)
	sub(/^[^)]*\)/, "", text)
	if (is_made(text))
		maker[name]
	next
}

{
	text = substr(text, length(name) + 1)
	sub(/^[ \t]+/, "", text)
	if (text in maker)
		maker[name]
	number = text ~ /^\(?0x[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]+\)?[ \t]*$/
	if ((is_made(text) || (number && name ~ old)) && name !~ not && !seen[name]++)
		print name
}
