// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the output of a trace: standard error, a file or a command
 *
 * The command must not succeed if a part of the trace could not be written.  So
 * the first error is kept, told once, and makes the status of the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail.h"
#include "output.h"
#include "signals.h"

/* Bytes that are written at a time to a file. */
#define BUFFER_SIZE	(64 * 1024)

/**
 * struct output - where the trace goes
 * @name: argument of -o; NULL for standard error
 * @file: what the trace is printed to
 * @fd: descriptor behind @file
 * @error: errno of the first write that failed, 0 for none
 * @told: the error was told
 * @command: pid of the command that reads the trace, 0 for none
 */
static struct output {
	const char *name;
	FILE *file;
	int fd;
	int error;
	bool told;
	pid_t command;
} output;

/*
 * Make the descriptors 0 to 2 belong to a file, so that the next one to be
 * opened is none of these.  What is written to a descriptor that was closed
 * fails, and programs to be executed find it closed.
 */
void output_reserve(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

static ssize_t write_all(void *cookie, const char *buffer, size_t size)
{
	size_t done = 0;
	ssize_t n;

	(void)cookie;
	while (!output.error && done < size) {
		n = write(output.fd, buffer + done, size - done);
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			output.error = errno;
	}
	/* To return less than the size sets ferror() and keeps the data. */
	return size;
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
	close(ends[0]);
	return ends[1];
}

/**
 * output_open() - open the output
 * @name: file, or a shell command with "|" or "!" before it; NULL for standard
 *	error
 * @append: keep what the file has
 *
 * Context: after signals_set_up(), which the command's signals come from.
 * Return: the file to print to, open until output_close().
 */
FILE *output_open(const char *name, bool append)
{
	const cookie_io_functions_t functions = { .write = write_all };

	output.name = name;
	if (!name) {
		/* A line is one write, as other programs write there, too. */
		setvbuf(stderr, NULL, _IOLBF, BUFFER_SIZE);
		output.file = stderr;
		return stderr;
	}
	if (*name == '|' || *name == '!')
		output.fd = start_command(name + 1);
	else
		output.fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC |
				 (append ? O_APPEND : O_TRUNC), 0666);
	if (output.fd < 0)
		fail(name, strerror(errno));
	output.file = fopencookie(NULL, "w", functions);
	if (!output.file)
		fail(name, strerror(errno));
	setvbuf(output.file, NULL, _IOFBF, BUFFER_SIZE);
	return output.file;
}

/* Has a write to the output failed?  The first time this is told. */
bool output_failed(void)
{
	if (!output.name)
		return ferror(stderr);
	if (output.error && !output.told) {
		output.told = true;
		say(output.name, strerror(output.error));
	}
	return output.error;
}

/* Close the output, and wait for the command that reads it. */
void output_close(void)
{
	fflush(output.file);
	if (!output.name)
		return;
	if (close(output.fd) && !output.error)
		output.error = errno;
	if (output.command)
		waitpid(output.command, NULL, 0);
}
