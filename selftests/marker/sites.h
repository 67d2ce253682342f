/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of markers share
 *
 * The library of probed.c is copied to a folder in /tmp, which is a tmpfs: an
 * inode there is the same for all who open the file.  A target loads the copy
 * and calls its functions by order.  The test finds the markers by the notes of
 * the file, and checks the records.
 */
#ifndef UTRACE_SITES_H
#define UTRACE_SITES_H

#include "words.h"
#include "../dev/stream.h"
#include "sdt.h"

#include <dlfcn.h>
#include <link.h>

#include <linux/utrace_marker.h>

/* The places of the library, each hit once by a function, but for BORN. */
enum place {
	HIT, TWELVE, FIRST, SECOND, GUARDED, BORN, PLAIN,	/* markers */
	ADD, DOWN, CALL,					/* functions */
	PLACES
};

static const char * const marker_names[PLACES] = {
	"hit", "many", "twice", "twice", "guarded", "born", "plain",
};

static const char * const function_names[PLACES] = {
	"probed_hit", "probed_many", "probed_first", "probed_second",
	"probed_guarded", NULL, "probed_plain", "probed_add", "probed_down",
	"probed_call",
};

static struct sdt_site site[PLACES];

/* The copies of the library; the second one is another file. */
#define LIBRARIES	2
static char folder[32], library[LIBRARIES][64];
static int library_fd = -1;

/**
 * struct library - a library that a target has loaded
 * @function: by enum place, what hits the place
 * @semaphore: by enum place
 * @handle: from dlopen(3)
 */
struct library {
	long (*function[PLACES])(long a, long b);
	const __u16 *semaphore[PLACES];
	void *handle;
};

static struct library loaded[LIBRARIES];

/* Memory that the test shares with targets and their children. */
struct stage {
	/* Orders: library, place, and the arguments of the first hit. */
	_Atomic int library, place;
	_Atomic long a, b;
	/* Of each library: what is added to addresses, and semaphores. */
	_Atomic __u64 bias[LIBRARIES];
	_Atomic __u64 semaphore_at[PLACES];
	_Atomic int semaphore[PLACES];
	_Atomic long born, result;
	/* For the test's own use. */
	_Atomic long number[16];
};

static struct stage *stage;

/* Arguments of hits, the first of which grows by 1 from hit to hit. */
#define A	(-0x0123456776655433L)
#define B	0x1122334480000081L

/* The words of words.h are in the target's memory, too. */
static void *const words_at __attribute__((unused)) = area;

/* Copy a file; the copy has this mode. */
static inline void copy_file(const char *from_path, const char *to_path,
			     mode_t mode)
{
	static char bytes[1 << 16];
	int from = open(from_path, O_RDONLY | O_CLOEXEC);
	int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ssize_t n;

	need(from >= 0 && to >= 0, from_path);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		need(write(to, bytes, n) == n, to_path);
	need(!n && !fchmod(to, mode), to_path);
	close(from);
	close(to);
}

/* The path of a file beside this program. */
static inline void beside(const char *name, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	need(n > 0, "/proc/self/exe");
	path[n] = '\0';
	n = strrchr(path, '/') + 1 - path;
	need(n + strlen(name) < size, "room for a path");
	snprintf(path + n, size - n, "%s", name);
}

/* Find the places of the library. */
static inline void find_places(void)
{
	struct sdt_site all[16];
	int n = sdt_read(library[0], all, 16), i, place;

	need(n > 0, "notes of SDT markers");
	for (place = 0; place < PLACES; place++) {
		int skip = place == SECOND;

		if (!marker_names[place]) {
			need(sdt_function(library[0], function_names[place],
					  &site[place]), function_names[place]);
			continue;
		}
		for (i = 0; i < n; i++)
			if (!strcmp(all[i].name, marker_names[place]) &&
			    !skip--)
				break;
		need(i < n, marker_names[place]);
		site[place] = all[i];
	}
}

static inline void make_libraries(void)
{
	char path[PATH_MAX];
	int i;

	snprintf(folder, sizeof(folder), "/tmp/utrace-sites.XXXXXX");
	need(mkdtemp(folder) && !chmod(folder, 0755), folder);
	beside("probed.so", path, sizeof(path));
	for (i = 0; i < LIBRARIES; i++) {
		snprintf(library[i], sizeof(library[i]), "%s/%d.so", folder, i);
		copy_file(path, library[i], 0755);
	}
	library_fd = open(library[0], O_RDONLY | O_CLOEXEC);
	need(library_fd >= 0, library[0]);
	find_places();
	stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(stage != MAP_FAILED, "shared memory");
	stage->a = A;
	stage->b = B;
}

static inline void remove_libraries(void)
{
	int i;

	for (i = 0; i < LIBRARIES; i++)
		unlink(library[i]);
	rmdir(folder);
}

/* Targets */

static inline void find_functions(struct library *lib)
{
	void *handle = lib->handle;
	char name[64];
	int i;

	for (i = 0; i < PLACES; i++) {
		if (function_names[i])
			lib->function[i] = dlsym(handle, function_names[i]);
		if (!site[i].semaphore)
			continue;
		snprintf(name, sizeof(name), "utrace_test_%s_semaphore",
			 site[i].name);
		lib->semaphore[i] = dlsym(handle, name);
		stage->semaphore_at[i] = (uintptr_t)lib->semaphore[i];
	}
}

/* Find everything in a library that is loaded. */
static inline long look_around(long i)
{
	struct library *lib = &loaded[i];
	struct link_map *map;
	long *born = dlsym(lib->handle, "probed_born");

	if (!born || dlinfo(lib->handle, RTLD_DI_LINKMAP, &map))
		_exit(87);
	stage->bias[i] = map->l_addr;
	stage->born = *born;
	find_functions(lib);
	return 0;
}

static inline long load_library(long i)
{
	loaded[i].handle = dlopen(library[i], RTLD_NOW | RTLD_LOCAL);
	if (!loaded[i].handle) {
		fprintf(stderr, "# %s\n", dlerror());
		_exit(88);
	}
	return look_around(i);
}

static inline long unload_library(long i)
{
	if (dlclose(loaded[i].handle))
		_exit(86);
	loaded[i] = (struct library){};
	return 0;
}

static inline long hit_once(long i)
{
	return loaded[stage->library].function[stage->place](stage->a + i,
							     stage->b);
}

static inline long hit_here(long n)
{
	int i;

	for (i = 0; i < n; i++)
		stage->result = hit_once(i);
	return 0;
}

/* The address of a place in the process that has loaded the first library last. */
static inline void *address_of(enum place place)
{
	return (void *)(uintptr_t)(stage->bias[0] + site[place].address);
}

/* The byte at a place in a process that has the library at the same address. */
static inline int byte_at(pid_t pid, enum place place)
{
	return read_word(pid, address_of(place), 1);
}

static inline int own_semaphore(enum place place)
{
	const __u16 *semaphore = loaded[stage->library].semaphore[place];

	return semaphore ? (int)load(semaphore, 2) : 0;
}

/* Load all semaphores to stage::semaphore. */
static inline long read_semaphores(long unused)
{
	int i;

	for (i = 0; i < PLACES; i++)
		stage->semaphore[i] = own_semaphore(i);
	return 0;
}

/* Map the first page of library_fd at PLACE. */
static inline long map_library(long unused)
{
	if (mmap(PLACE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		 library_fd, 0) != PLACE)
		_exit(85);
	return 0;
}

/* Start a target that has loaded the library. */
static inline void start_sites(struct target *target)
{
	start_words(target);
	have(target, SELF, load_library, 0);
}

static inline void hit_as(struct target *target, enum who who, enum place place,
			  int n)
{
	stage->place = place;
	have(target, who, hit_here, n);
}

static inline void hit(struct target *target, enum place place, int n)
{
	hit_as(target, SELF, place, n);
}

/* The semaphore of a marker, as a task of the target sees it. */
static inline int semaphore_as(struct target *target, enum who who,
			       enum place place)
{
	have(target, who, read_semaphores, 0);
	return stage->semaphore[place];
}

static inline int semaphore(struct target *target, enum place place)
{
	return semaphore_as(target, SELF, place);
}

/* The sum of all semaphores of the target but that of @place and its kin. */
static inline int other_semaphores(struct target *target, enum place place)
{
	int i, sum = 0;

	have(target, SELF, read_semaphores, 0);
	for (i = 0; i < PLACES; i++)
		if (site[i].semaphore != site[place].semaphore)
			sum += stage->semaphore[i];
	return sum;
}

/* Tracers */

/**
 * struct tracer - a session, and the target that it arms markers for
 * @session: descriptor of the session
 * @target: id of the target
 * @ids: by enum place, ids of what arm_place() has armed
 */
struct tracer {
	int session;
	__u32 target;
	__u32 ids[PLACES];
};

/* Have a session trace a process; returns 0 or -errno. */
static inline int try_trace_by(struct tracer *tracer, int session, pid_t pid,
			       __u32 scope)
{
	int ret = attach(session, pid, scope);

	*tracer = (struct tracer){
		.session = session, .target = ret > 0 ? ret : 0,
	};
	return ret < 0 ? ret : 0;
}

/* Trace by a session that is set up. */
static inline void trace_by(struct tracer *tracer, int session, pid_t pid, __u32 scope)
{
	int ret = try_trace_by(tracer, session, pid, scope);

	errno = -ret;
	need(!ret, "attach");
}

static inline void trace_full(struct tracer *tracer, pid_t pid, __u32 scope,
			      __u64 ring_size, __u32 full)
{
	int fd = session();

	need(!setup_full(fd, ring_size, full), "setup");
	trace_by(tracer, fd, pid, scope);
}

static inline void trace(struct tracer *tracer, pid_t pid, __u32 scope)
{
	trace_full(tracer, pid, scope, 1 << 20, UTRACE_FULL_DROP);
}

/* Detach the target, which disarms its markers.  The session stays open. */
static inline void leave(struct tracer *tracer)
{
	int ret = detach(tracer->session, tracer->target);

	errno = -ret;
	need(!ret, "detach");
}

/* Detach the target, and attach the session to the process again. */
static inline void trace_anew(struct tracer *tracer, pid_t pid, __u32 scope)
{
	leave(tracer);
	trace_by(tracer, tracer->session, pid, scope);
}

static inline void untrace(struct tracer *tracer)
{
	close(tracer->session);
}

/* Fork a tracer, which ends with the test.  Returns 0 in the tracer. */
static inline pid_t fork_tracer(void)
{
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* Markers */

/**
 * struct marker - a marker, and how it is armed
 * @site: where it is
 * @cookie: the cookie of its records and counts
 * @flags: UTRACE_ARM_ bits
 * @id: ARM writes the id of the marker; not changed by errors
 */
struct marker {
	struct utrace_marker site;
	__u64 cookie;
	__u32 flags;
	__u32 id;
};

/* Cookies have all 64 bits. */
#define COOKIE(place)	(0xfedc000000000000ULL + (place))

/* Keep the first @n arguments of a marker. */
static inline void keep_args(struct marker *marker, __u32 n)
{
	memset(&marker->site.args[n], 0,
	       (UTRACE_MARKER_ARGS - n) * sizeof(marker->site.args[0]));
	marker->site.nargs = n;
}

static inline struct marker marker_at(const struct sdt_site *at, int fd,
				      __u64 cookie)
{
	struct marker marker = {
		.site = {
			.fd = fd,
			.offset = at->offset,
			.semaphore = at->semaphore,
			.nargs = at->nargs,
		},
		.cookie = cookie,
	};

	memcpy(marker.site.args, at->args, sizeof(marker.site.args));
	return marker;
}

static inline struct marker marker_of(enum place place)
{
	return marker_at(&site[place], library_fd, COOKIE(place));
}

/* The argument of ARM; members that the kernel does not read have junk. */
static inline struct utrace_ioc_arm arm_of(const struct tracer *tracer,
					   const struct marker *marker)
{
	return (struct utrace_ioc_arm){
		.target = tracer->target,
		.type = UTRACE_ARM_MARKER,
		.flags = marker->flags,
		.id = 0x5a5a5a5a,
		.cookie = marker->cookie,
		.spec = (uintptr_t)&marker->site,
		.spec_size = sizeof(marker->site),
		.state = 0x5a5a5a5a,
		.error = 0x5a5a5a5a,
	};
}

static inline int try_arm(const struct tracer *tracer, struct marker *marker)
{
	struct utrace_ioc_arm arg = arm_of(tracer, marker);
	int ret = command(tracer->session, UTRACE_IOC_ARM, &arg);

	if (ret)
		return ret;
	need(arg.id && arg.state == UTRACE_ARM_STATE_ARMED && !arg.error,
	     "what ARM writes");
	marker->id = arg.id;
	return 0;
}

/* Disarm the marker of the last successful try_arm(), if there is one. */
static inline int try_disarm(const struct tracer *tracer,
			     const struct marker *marker)
{
	return disarm_id(tracer->session, marker->id);
}

/* Returns the id, for disarm_marker(). */
static inline __u32 arm_marker(const struct tracer *tracer, struct marker marker)
{
	int ret = try_arm(tracer, &marker);

	errno = -ret;
	need(!ret, "UTRACE_IOC_ARM");
	return marker.id;
}

static inline void disarm_marker(const struct tracer *tracer, __u32 id)
{
	int ret = disarm_id(tracer->session, id);

	errno = -ret;
	need(!ret, "UTRACE_IOC_DISARM");
}

static inline void arm_place(struct tracer *tracer, enum place place)
{
	tracer->ids[place] = arm_marker(tracer, marker_of(place));
}

static inline void disarm_place(struct tracer *tracer, enum place place)
{
	disarm_marker(tracer, tracer->ids[place]);
}

/* Read the counts; returns how many rows there are, or -errno. */
static inline int try_read(const struct tracer *tracer, __u32 what, __u32 id,
			   struct utrace_rows *rows)
{
	struct utrace_ioc_hits arg = {
		.rows = *rows,
		.target = tracer->target,
		.id = id,
		.what = what,
	};
	int ret;

	arg.rows.total = 0x5a5a5a5a;
	ret = command(tracer->session, UTRACE_IOC_HITS, &arg);
	*rows = arg.rows;
	return ret ?: (int)arg.rows.total;
}

/* The counts of a target; returns how many there are, or -errno. */
static inline int marker_counts(const struct tracer *tracer,
				struct utrace_hit_count *counts, __u32 n,
				__u32 *filled)
{
	struct utrace_rows rows = {
		.at = (uintptr_t)counts, .n = n, .size = sizeof(*counts),
	};
	int ret = try_read(tracer, UTRACE_HITS_COUNT, 0, &rows);

	*filled = rows.n;
	return ret;
}

/* How often the marker with this cookie was hit, or -ENOENT. */
static inline long hits_of(const struct tracer *tracer, __u64 cookie)
{
	struct utrace_hit_count counts[64];
	__u32 i, n;
	int ret = marker_counts(tracer, counts, 64, &n);

	errno = -ret;
	need(ret >= 0, "UTRACE_IOC_HITS");
	for (i = 0; i < n; i++)
		if (counts[i].cookie == cookie)
			return counts[i].hits;
	return -ENOENT;
}

/* Records */

/* Read until there are @n hits, and then all further records. */
static inline int gather(int fd, int hits)
{
	ssize_t n = 0;

	records_size = 0;
	until(({
		while ((n = read(fd, records + records_size,
				 sizeof(records) - records_size)) > 0)
			records_size += n;
		count(UTRACE_REC_MARKER, 0) >= hits;
	}));
	return count(UTRACE_REC_MARKER, 0);
}

/* The arguments of a hit; returns their number. */
static inline __u32 expected(enum place place, long a, long b, __u64 *args)
{
	__u64 all[UTRACE_MARKER_ARGS] = {
		a, b, (int)a, (unsigned int)a, (short)a, (unsigned short)a,
		(signed char)a, (unsigned char)a, b, -5, 0x7fffffff,
		(signed char)b,
	};

	memcpy(args, all, sizeof(all));
	switch (place) {
	case HIT:
		args[1] = (int)b;
		args[2] = -7;
		return 3;
	case TWELVE:
		return 12;
	case FIRST:
	case SECOND:
		args[1] = place == FIRST ? 1 : 2;
		return 2;
	case GUARDED:
	case PLAIN:
		return 2;
	default:
		return 0;
	}
}

/* The arguments of a record. */
static inline const __u64 *hit_args(const struct utrace_rec_marker *rec)
{
	return (const void *)rec + rec->args_offset;
}

/* Check that the record is that of hit number @i of a task. */
static inline bool is_hit(struct tracer *tracer, struct utrace_rec_marker *rec,
			  pid_t pid, pid_t tid, enum place place, int i)
{
	__u64 args[UTRACE_MARKER_ARGS];
	__u32 nargs = expected(place, stage->a + i, stage->b, args);

	return rec->head.type == UTRACE_REC_MARKER &&
	       rec->head.pid == pid && rec->head.tid == tid &&
	       rec->head.target == tracer->target && !rec->head.items &&
	       rec->cookie == COOKIE(place) && rec->nargs == nargs && !rec->faulted &&
	       rec->ip == stage->bias[stage->library] + site[place].address &&
	       rec->head.size == sizeof(*rec) + nargs * sizeof(*args) &&
	       !memcmp(hit_args(rec), args, nargs * sizeof(*args));
}

static inline void print_hit(struct utrace_rec_marker *rec)
{
	__u32 i;

	printf("# size %u items %u pid %d tid %d target %u", rec->head.size,
	       rec->head.items, rec->head.pid, rec->head.tid, rec->head.target);
	printf(" cookie %llx ip %llx faulted %x args", rec->cookie, rec->ip,
	       rec->faulted);
	for (i = 0; i < rec->nargs; i++)
		printf(" %llx", hit_args(rec)[i]);
	putchar('\n');
}

/*
 * The number of records read last that are right, from the hit number @from of
 * this task at this place on.  The task's own numbers have no gap.
 */
static inline int good_hits(struct tracer *tracer, pid_t pid, pid_t tid,
			    enum place place, int from)
{
	struct utrace_rec *rec, *last = NULL;
	bool printed = false;
	int n = 0;

	for_each_record(rec) {
		struct utrace_rec_marker *hit = (void *)rec;

		if (rec->tid != tid)
			continue;
		if (last && rec->number != last->number + 1) {
			printf("# number %u after %u\n", rec->number,
			       last->number);
			return -1;
		}
		last = rec;
		if (is_hit(tracer, hit, pid, tid, place, from + n)) {
			n++;
		} else if (rec->type == UTRACE_REC_MARKER && !printed) {
			print_hit(hit);
			printed = true;
		}
	}
	return n;
}

static inline void are_hits_as(struct tracer *tracer, struct target *target,
			       enum who who, enum place place, int n,
			       const char *text)
{
	pid_t tid = target->tid[who], pid = who == CHILD ? tid : target->pid;

	is(n, gather(tracer->session, n), text);
	is(n, good_hits(tracer, pid, tid, place, 0), "  which are right");
}

/* All hits that are not read yet are @n hits by the target. */
static inline void are_hits(struct tracer *tracer, struct target *target,
			    enum place place, int n, const char *text)
{
	are_hits_as(tracer, target, SELF, place, n, text);
}

static inline void are_none(struct tracer *tracer, const char *text)
{
	is(0, gather(tracer->session, 0), text);
}

/* A target that has loaded the library. */
FIXTURE(sites) {
	struct target target;
};

FIXTURE_SETUP(sites)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	set_unprivileged("0");
	make_libraries();
	start_sites(&self->target);
}

FIXTURE_TEARDOWN(sites)
{
	stop(&self->target);
	remove_libraries();
	dev_end();
}

#endif /* UTRACE_SITES_H */
