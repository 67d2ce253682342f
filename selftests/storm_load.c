// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a load for measurements
 *
 * Usage: storm_load SECONDS [NAME[=N]...]
 *
 * N workers (default 1) of each named kind run for SECONDS.  Without a name
 * there is one that forks, one that executes and one whose threads rename each
 * other.  The output is how often each kind did its work, and how long the
 * slowest round of fork, exec and wait of a bystander took:
 *
 *	fork 1234
 *	bystander 567 rounds, worst 8901 us
 *
 * The kinds are fork, exec, threads, rename and rename-self.
 */
#include "storm.h"

static bool add_named(struct storm *s, const char *arg, bool *used)
{
	size_t len = strcspn(arg, "=");
	int kind, n = arg[len] ? atoi(arg + len + 1) : 1;

	for (kind = 0; kind < STORM_SETID; kind++) {
		if (strlen(storm_names[kind]) != len ||
		    strncmp(storm_names[kind], arg, len))
			continue;
		used[kind] = true;
		return storm_add(s, kind, n);
	}
	fprintf(stderr, "storm_load: no such kind: %s\n", arg);
	return false;
}

int main(int argc, char **argv)
{
	static const char * const usual[] = { "fork", "exec", "rename" };
	bool used[STORM_NKINDS] = {}, good = true;
	struct storm s;
	long worst;
	int i;

	if (argc < 2 || atoi(argv[1]) <= 0 || !storm_init(&s)) {
		fprintf(stderr, "usage: storm_load SECONDS [NAME[=N]...]\n");
		return 2;
	}
	for (i = 2; i < argc && good; i++)
		good = add_named(&s, argv[i], used);
	for (i = 0; i < 3 && argc == 2 && good; i++)
		good = add_named(&s, usual[i], used);
	good = good && storm_bystander(&s);
	if (good)
		storm_sleep_ms(atoi(argv[1]) * 1000L);
	worst = storm_worst(&s);
	for (i = 0; i < STORM_NKINDS; i++)
		if (used[i])
			printf("%s %ld\n", storm_names[i], s.sh->done[i]);
	printf("bystander %ld rounds, worst %ld us\n", s.sh->rounds, worst);
	fflush(stdout);
	if (storm_end(&s)) {
		fprintf(stderr, "storm_load: some workers cannot be killed\n");
		return 1;
	}
	return !good || s.sh->failed;
}
