// SPDX-License-Identifier: GPL-2.0
/*
 * A server of PostgreSQL and two sessions, each with a process of the server,
 * its backend. The command traces the markers of one backend. The semaphores
 * of both are at one address, since the backends are forks of the server, and
 * yet only the semaphore of the traced one is 1.
 */
#include <glob.h>
#include <libgen.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

#define MARKER	"query__start"
#define QUERY	"select 6 * 7;"
#define HITS	3

#define START	"initdb --no-sync -A trust -D data && " \
		"pg_ctl -D data -l log " \
		"-o \"-k $PWD -c listen_addresses=\" start"

/* A script that writes a line at its start, as spawn_target() needs. */
#define SESSION	"echo ready\n" \
		"exec psql -XqAt -h $PWD -U postgres\n"

struct session {
	struct gated psql;
	pid_t backend;
};

/* The program of the server. */
static char server[512];

/* The programs of the server are not in PATH, and psql is a script there. */
static void find_programs(void)
{
	char path[512], *folder;
	glob_t found;

	if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found))
		give_up("there is no PostgreSQL; run 'scripts/deps markers'");
	folder = dirname(found.gl_pathv[found.gl_pathc - 1]);
	snprintf(server, sizeof(server), "%s/postgres", folder);
	snprintf(path, sizeof(path), "%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
	globfree(&found);
}

/* Go to a folder for the server, which does not run as root. */
static void enter_folder(void)
{
	const struct passwd *user = getpwnam("postgres");
	char folder[64];

	snprintf(folder, sizeof(folder), "%s/pg", workdir);
	if (!user || chmod(workdir, 0711) || mkdir(folder, 0700) ||
	    chown(folder, user->pw_uid, user->pw_gid) || chdir(folder))
		give_up("there is no folder for the user postgres");
}

static bool run_as_postgres(char *cmd)
{
	return !run_to_file((char *const []) {
		"setpriv", "--reuid=postgres", "--regid=postgres",
		"--clear-groups", "sh", "-c", cmd, NULL }, "server.txt");
}

static void start_server(void)
{
	find_programs();
	enter_folder();
	step("initdb -D data; pg_ctl -D data start; two sessions of psql");
	if (run_as_postgres(START))
		return;
	print_file("server.txt");
	print_file("log");
	give_up("the server does not start");
}

/* Let a session execute a query, and return the number that it answers. */
static int ask(const struct session *session, const char *query)
{
	char answer[32];
	ssize_t got;

	dprintf(session->psql.gate, "%s\n", query);
	got = read(session->psql.ready, answer, sizeof(answer) - 1);
	if (got <= 0)
		give_up("psql does not answer");
	answer[got] = '\0';
	return atoi(answer);
}

static struct session start_session(void)
{
	struct session session;

	session.psql = spawn_target("/bin/sh", "session");
	session.backend = ask(&session, "select pg_backend_pid();");
	return session;
}

static bool end_session(struct session *session)
{
	close(session->psql.gate);
	close(session->psql.ready);
	return ends_well(session->psql.pid);
}

/* Where the program is in memory; the addresses in its file are relative to that. */
static unsigned long start_of_program(pid_t pid)
{
	unsigned long start = 0;
	char path[32], *text, *at;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	text = read_whole(path);
	at = strstr(text, server);
	while (at && at > text && at[-1] != '\n')
		at--;
	if (at)
		start = strtoul(at, NULL, 16);
	free(text);
	return start;
}

static void check_semaphores(const struct session *traced,
			     const struct session *other, int value)
{
	unsigned long at = find_semaphore(server, MARKER) +
			   start_of_program(traced->backend);
	int one = read_semaphore(traced->backend, at);
	int two = read_semaphore(other->backend, at);

	check(one == value && two == 0,
	      "the semaphore of " MARKER ": %d in backend %d, %d in backend %d",
	      one, traced->backend, two, other->backend);
}

static void check_hits(const struct session *traced)
{
	char *text = read_whole("hits"), *line;
	int pid, hits = 0, strange = 0;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		step("  %s", line);
		if (sscanf(line, "%*f %d", &pid) == 1 && pid == traced->backend)
			hits++;
		else
			strange++;
	}
	free(text);
	check(hits == HITS && !strange,
	      "%d hits of backend %d, %d of other processes", hits,
	      traced->backend, strange);
}

void act_postgres(void)
{
	struct session traced, other;
	char pid[16];
	pid_t command;

	start_server();
	write_file("session", SESSION);
	traced = start_session();
	other = start_session();
	check_semaphores(&traced, &other, 0);

	snprintf(pid, sizeof(pid), "%d", traced.backend);
	step("utrace markers trace -p %s postgresql:" MARKER
	     " 'postgresql:transaction__*'", pid);
	command = start_tracer((char *const []) {
		"utrace", "markers", "trace", "-o", "hits", "-p", pid,
		"postgresql:" MARKER, "postgresql:transaction__*", NULL }, "said");
	check(await_text("said", "tracing"), "the command has attached");
	check_semaphores(&traced, &other, 1);
	step("psql, both sessions: " QUERY);
	check(ask(&traced, QUERY) == 42 && ask(&other, QUERY) == 42,
	      "both backends answer");
	kill(command, SIGINT);
	waitpid(command, NULL, 0);
	check_hits(&traced);
	check_semaphores(&traced, &other, 0);
	check(end_session(&traced) && end_session(&other) &&
	      run_as_postgres("pg_ctl -D data stop"),
	      "the sessions and the server end well");
	if (chdir("/"))
		give_up("chdir");
}
