// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the output of a trace: standard error, a file or a command
 *
 * The command must not succeed if a part of the trace could not be written.  So
 * the first error is kept, reported once, and sets the status of the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/children.h"
#include "lib/fail.h"
#include "lib/out.h"
#include "output.h"
#include "signals.h"

/**
 * struct output - where the trace goes
 * @name: argument of -o; NULL for standard error
 * @out: the buffer of the output
 * @reported: the error of @out was printed
 * @command: pid of the command that reads the trace, 0 for none
 */
static struct output {
	const char *name;
	struct out out;
	bool reported;
	pid_t command;
} output;

/*
 * Open the descriptors 0 to 2 if they are closed, so that no file that is
 * opened later gets one of them.  Writes to such a descriptor fail, and
 * programs to be executed find it closed.
 */
void output_reserve(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

/* Start a shell command that reads the trace.  Returns the descriptor. */
static int start_command(const char *command)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	output.command = fork();
	if (output.command < 0)
		return -1;
	if (!output.command) {
		signals_restore();
		dup2(ends[0], STDIN_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		say("/bin/sh", strerror(errno));
		_exit(STATUS_NOT_FOUND);
	}
	child_keep(output.command);
	close(ends[0]);
	return ends[1];
}

/* Check whether the output is a shell command.  @name may be NULL. */
bool output_is_command(const char *name)
{
	return name && (*name == '|' || *name == '!');
}

/**
 * output_open() - open the output
 * @name: file, or a shell command with "|" or "!" before it; NULL for standard
 *	error
 * @append: append to the file
 *
 * Context: if @name is a command, after signals_set_up(), which has saved the
 *	signal actions of the command.
 * Return: the buffer to print to, until output_close().
 */
struct out *output_open(const char *name, bool append)
{
	int fd;

	output.name = name;
	if (!name)
		fd = STDERR_FILENO;
	else if (output_is_command(name))
		fd = start_command(name + 1);
	else
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC |
			  (append ? O_APPEND : O_TRUNC), 0666);
	if (fd < 0)
		fail(name, strerror(errno));
	out_begin(&output.out, fd);
	return &output.out;
}

/* Flush the output if it is standard error, where other programs also write. */
void output_show(void)
{
	if (!output.name)
		out_flush(&output.out);
}

/* Print a message about the trace, one line on standard error. */
void output_note(const char *format, ...)
{
	va_list args;

	output_show();
	fputs("utrace: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* The output is a pipe without a reader.  Fail as write() would. */
void output_hang_up(void)
{
	if (output.out.error)
		return;
	output.out.error = EPIPE;
	raise(SIGPIPE);
}

/*
 * Check whether a write to the output has failed.  The first call prints the
 * error.
 */
bool output_failed(void)
{
	if (!output.out.error)
		return false;
	if (output.name && !output.reported)
		say(output.name, strerror(output.out.error));
	output.reported = true;
	return true;
}

/* Close the output, and wait for the command that reads it. */
void output_close(void)
{
	out_end(&output.out);
	if (!output.name)
		return;
	if (close(output.out.fd) && !output.out.error)
		output.out.error = errno;
	if (output.command)
		child_wait(output.command);
}
