/* SPDX-License-Identifier: MIT */
/*
 * manager.c - the manager of the server: it starts the server, disturbs it, stops it, and lets judge.c judge the trace.
 *
 * usage: server NAME ROUNDS SEED WORD... SETTING=VALUE...
 * Each round is another server, which is disturbed in each way, in random order.  The settings are the master's.
 * WORDs: drops - the settings may make it drop calls; waits - but only those of handlers; flushes - the settings
 * promise that events are in the file in time.
 * Prints its counts and "N passed, N failed".
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"

enum action { ACT_HUP, ACT_USR1, ACT_USR2, ACT_KILL, ACT_QUIT, ACT_TERM, ACT_LOOK, ACT_STORM, ACTIONS };
enum {
	FLUSH_MS = 250,           /* the longest time until an event is in the file, as the harness sets it */
	FLUSHES = 20,             /* within so many of them what was recorded is in the file */
	LEAST_LOOKS = 3,          /* on a machine that is so busy that one takes that long */
	STORM = 8,                /* signals */
	LONG_MS = 150,            /* a process that runs so long searches for ring files of ended processes */
	MOST_LATER = 8,           /* of them, for one server */
};

static struct place place;
static char *const *settings;
static int flushes;
static pid_t master;
static int is_master_over, master_status;

static void put_settings(void)
{
	for (char *const *setting = settings; *setting; setting++)
		if (putenv(*setting))
			_exit(95);
}

/* ---- waiting, never for ever ----------------------------------------------------------------------- */

/* Reap processes that have ended, those of the group of the master and orphans.  Return  0: there are no more */
static int reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-master, &status, WNOHANG)) > 0) {
		if (pid == master) {
			is_master_over = 1;
			master_status = status;
		} else {
			slot_end(pid, status);
		}
	}
	return pid == 0 || errno != ECHILD;
}

static void give_up(const char *what)
{
	printf("FAIL waited for %d ms: %s\n", LONGEST_MS, what);
	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		const struct slot *slot = &shared->slot[i];
		if (slot->generation && !slot->is_over)
			printf("FAIL worker %u of generation %u %s\n", slot->pid, slot->generation,
			       slot->is_working ? "works" : "has not got as far as its work");
	}
	while (kill(-master, SIGKILL), reap())
		pause_ms(5);
}

/* Return  0: it does not become so */
static int await(int (*is_so)(void), const char *what)
{
	const uint64_t until = now_ms() + LONGEST_MS;

	for (; !is_so(); pause_ms(5)) {
		reap();
		if (now_ms() < until)
			continue;
		give_up(what);
		return 0;
	}
	return 1;
}

static int is_alive(const struct slot *slot)
{
	return LOAD(slot->generation) && !LOAD(slot->is_over);
}

/* All workers of one generation work, of this one or a later one, and there are no others. */
static uint32_t wanted;
static int is_steady(void)
{
	uint32_t generation = LOAD(shared->generation);
	unsigned n = 0;

	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		const struct slot *slot = &shared->slot[i];
		if (!is_alive(slot))
			continue;
		if (slot->generation != generation || !LOAD(slot->is_working))
			return 0;
		n++;
	}
	return n == WORKERS && generation >= wanted;
}

static int are_idle(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LOAD(shared->used); i++)
		n += is_alive(&shared->slot[i]) && LOAD(shared->slot[i].idles) == LOAD(shared->idle);
	return n == WORKERS;
}

static uint32_t victim;
static int is_victim_over(void)
{
	return LOAD(shared->slot[victim].is_over) != 0;
}

static off_t log_size;
static off_t size_of_log(void)
{
	struct stat st;

	return stat("access.log", &st) ? 0 : st.st_size;
}

static int is_log_open(void)
{
	return size_of_log() > log_size;
}

static int are_over(void)
{
	return !reap();
}

/* ---- what upsets it -------------------------------------------------------------------------------- */

static int change_generation(int signo)
{
	wanted = LOAD(shared->generation) + 1;
	kill(master, signo);
	return await(is_steady, "a new generation of workers");
}

static int reopen_logs(void)
{
	log_size = size_of_log();
	kill(master, SIGUSR1);
	return await(is_log_open, "the server's log is opened again");
}

static int end_one(int signo, int (*status)(unsigned slot))
{
	unsigned n = LOAD(shared->used);

	do {
		victim = random_below(n);
	} while (!is_alive(&shared->slot[victim]) && is_steady());
	if (!is_alive(&shared->slot[victim]))
		return 1;         /* one has gone by itself just now */
	slot_may_end(&shared->slot[victim], status(victim));
	kill((pid_t)LOAD(shared->slot[victim].pid), signo);
	return await(is_victim_over, "the end of a worker");
}

static int status_of_kill(unsigned slot)
{
	(void)slot;
	return SIGKILL;
}

static int status_of_quit(unsigned slot)
{
	(void)slot;
	return 0;
}

static int status_of_term(unsigned slot)
{
	return slot % 2 ? SIGTERM : EXIT_TERM << 8;
}

/* Check that the events of idle workers get into the file, although nobody stops them and they make no calls. */
static int look(void)
{
	uint64_t until;
	int is_there = 0, looks = 0;

	STORE(shared->idle, LOAD(shared->idle) + 1);
	if (!await(are_idle, "all workers are idle"))
		return 0;
	until = now_ms() + FLUSHES * FLUSH_MS;
	for (; flushes && !is_there && (now_ms() < until || looks < LEAST_LOOKS); looks++, pause_ms(20))
		is_there = judge_idle(&place);
	if (flushes && !is_there)
		printf("FAIL what living workers recorded is not in the file after %d ms\n", FLUSHES * FLUSH_MS);
	STORE(shared->idle, LOAD(shared->idle) + 1);
	return is_there || !flushes;
}

/* Start new generations faster than workers begin: they get the signal to stop while they change their user. */
static int storm(void)
{
	wanted = LOAD(shared->generation) + 1;
	for (int i = 0; i < STORM; i++) {
		kill(master, i % 2 ? SIGUSR1 : SIGHUP);
		pause_ms((long)random_below(8));
	}
	return await(is_steady, "a generation of workers behind a storm");
}

static int act(enum action action)
{
	switch (action) {
	case ACT_HUP:
		return change_generation(SIGHUP);
	case ACT_USR2:
		return change_generation(SIGUSR2);
	case ACT_USR1:
		return reopen_logs();
	case ACT_KILL:
		return end_one(SIGKILL, status_of_kill);
	case ACT_QUIT:
		return end_one(SIGQUIT, status_of_quit);
	case ACT_TERM:
		return end_one(SIGTERM, status_of_term);
	case ACT_STORM:
		return storm();
	default:
		return look();
	}
}

/* Each of them once. */
static int upset(void)
{
	enum action order[ACTIONS];

	for (unsigned i = 0; i < ACTIONS; i++) {
		unsigned other = random_below(i + 1);
		order[i] = order[other];
		order[other] = (enum action)i;
	}
	for (unsigned i = 0; i < ACTIONS; i++) {
		if (!await(is_steady, "all workers work"))
			return 0;
		pause_ms((long)random_below(150));
		if (!act(order[i]))
			return 0;
	}
	return await(is_steady, "all workers work");
}

/* ---- one server ------------------------------------------------------------------------------------ */

/* The server's files, new.  Who is nobody writes there, too. */
static void clear_files(void)
{
	char command[700];

	umask(0);
	snprintf(command, sizeof(command), "rm -rf '%s' '%s' access.log later.tlg && mkdir -p -m 1777 '%s'",
		 place.trace ? place.trace : "", place.text ? place.text : "", place.rings);
	if (system(command))
		_exit(94);
	if (place.trace && place.trace[strlen(place.trace) - 1] == '/')
		mkdir(place.trace, 01777);
	else if (place.trace)
		close(open(place.trace, O_CREAT | O_WRONLY, 0666));
	close(open("access.log", O_CREAT | O_WRONLY, 0666));
}

static void start(void)
{
	memset(shared, 0, offsetof(struct shared, seed));
	memset(shared->slot, 0, sizeof(shared->slot));
	shared->seed += UINT64_C(0x9e3779b97f4a7c15);
	is_master_over = 0;
	wanted = 1;
	fflush(NULL);
	master = fork();
	if (!master) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		put_settings();
		execl(program, program, "master", "0", (char *)NULL);
		_exit(93);
	}
	setpgid(master, master);
}

/* Stop the server gracefully, fast, or by a kill of its master, which its workers notice, as those of postgres do. */
static int stop(unsigned how)
{
	static const int signals[] = { SIGTERM, SIGQUIT, SIGKILL };
	int signo = signals[how % 3], expected = signo == SIGKILL ? SIGKILL : 0;

	for (unsigned i = 0; signo == SIGKILL && i < LOAD(shared->used); i++)
		if (is_alive(&shared->slot[i]))
			slot_may_end(&shared->slot[i], EXIT_ORPHAN << 8);
	kill(master, signo);
	if (!await(are_over, "the server's end"))
		return 0;
	if (!is_master_over || master_status != expected)
		printf("FAIL the master's status is %x, not %x\n", (unsigned)master_status, (unsigned)expected);
	return is_master_over && master_status == expected;
}

/* Run a later process, long enough to search for ring files of its user. */
static void run_later(uid_t user)
{
	char path[512];
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		put_settings();
		unsetenv("LD_PRELOAD");
		unsetenv("TRACE2_PERF");
		if (!getcwd(path, sizeof(path) - 16) || (user && setuid(user)))
			_exit(92);
		setenv("TRACE2_RAW", strcat(path, "/later.tlg"), 1);
		trace2_initialize();
		trace2_data_intmax("server", NULL, "later", 1);
		pause_ms(LONG_MS);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

static unsigned count_rings(void)
{
	char command[300];
	unsigned n = 0;
	FILE *in;

	snprintf(command, sizeof(command), "find '%s' -name 'trace2-*.ring' | wc -l", place.rings);
	in = popen(command, "r");
	if (!in || fscanf(in, "%u", &n) != 1)
		n = 0;
	if (in)
		pclose(in);
	return n;
}

static void let_later_ones_collect(void)
{
	unsigned before = UINT32_MAX, now = count_rings();

	for (int i = 0; now && now < before && i < MOST_LATER; i++) {
		before = now;
		run_later(0);
		if (!geteuid())
			run_later(NOBODY);
		now = count_rings();
	}
}

static int run_round(unsigned round, struct counts *sum)
{
	unsigned wrong;

	clear_files();
	start();
	wrong = !upset();
	if (LOAD(shared->used) && !is_master_over && !kill(master, 0))
		wrong += !stop((unsigned)(shared->seed >> 40) + round);
	if (place.trace)
		let_later_ones_collect();
	return !(wrong + judge_end(&place, sum));
}

/* ---- main ------------------------------------------------------------------------------------------ */

static const char *find_setting(const char *name)
{
	size_t length = strlen(name);

	for (char *const *setting = settings; *setting; setting++)
		if (!strncmp(*setting, name, length) && (*setting)[length] == '=')
			return *setting + length + 1;
	return NULL;
}

static void report(const char *name, unsigned rounds, const struct counts *sum)
{
	printf("%s: %u servers, %" PRIu64 " processes and threads, %" PRIu64 " calls: ", name, rounds, sum->slots,
	       sum->calls);
	if (place.trace)
		printf("%" PRIu64 " stored (%" PRIu64 " recovered of %" PRIu64 " ring files), %" PRIu64 " missing, %"
		       PRIu64 " dropped, %" PRIu64 " in flight, %" PRIu64 " twice, %" PRIu64 " made up; ",
		       sum->stored, sum->recovered, sum->files, sum->missing, sum->dropped, sum->in_flight,
		       sum->twice, sum->invented);
	printf("%" PRIu64 " killed, %" PRIu64 " crashed, %" PRIu64 " by TERM, %" PRIu64 " by exit()\n", sum->killed,
	       sum->crashed, sum->ended, sum->by_themselves);
}

static int manage(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	struct counts sum = { 0 };
	unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, passed = 0;
	char **at = argv + 4;

	if (!rounds)
		return 2;
	for (; argc > 3 && *at && !strchr(*at, '='); at++) {
		place.drops |= !strcmp(*at, "drops");
		place.waits |= !strcmp(*at, "waits");
		flushes |= !strcmp(*at, "flushes");
	}
	settings = at;
	place.trace = find_setting("TRACE2_RAW");
	place.text = find_setting("TRACE2_PERF");
	place.rings = find_setting("XDG_RUNTIME_DIR");
	if (!place.rings)
		return 2;
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	shared_make();
	shared->seed = strtoull(argv[3], NULL, 10);
	for (unsigned round = 0; round < rounds; round++) {
		unsigned is_right = (unsigned)run_round(round, &sum);
		passed += is_right;
		if (!is_right && getenv("T2_FIRST"))
			rounds = round + 1;
	}
	report(argv[1], rounds, &sum);
	printf("%u passed, %u failed\n", passed, rounds - passed);
	return passed != rounds;
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc == 3 && !strcmp(argv[1], "master")) {
		shared_find();
		be_master();
	}
	if (argc == 3 && !strcmp(argv[1], "helper")) {
		shared_find();
		be_helper((unsigned)strtoul(argv[2], NULL, 10));
	}
	return manage(argc, argv);
}
