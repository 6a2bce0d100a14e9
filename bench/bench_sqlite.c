/* SPDX-License-Identifier: MIT */
/*
 * bench_sqlite - events in what sqlite does with a database in memory: a region around each statement, a step for each
 * row.
 *
 * A unit of work is a transaction: rows inserted one by one, rows looked up by their key, by an index, by reading a
 * table, rows updated, rows sorted, rows deleted.  Every sum over the rows is compared with what it must be.  usage and
 * measurements: program.h.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "event.h"
#include "program.h"

enum {
	ROWS = 2000, SMALL_ROWS = 198, INSERTS = 20, LOOKUPS = 20, RANGES = 4, RANGE_ROWS = 25, UPDATES = 10,
	REMAINDERS = 3, FACTOR = 7919,     /* prime: k -> k * FACTOR % ROWS takes every value */
	STATEMENTS = 1 + INSERTS + LOOKUPS + RANGES + 1 + UPDATES + 1 + 1 + 1,
	SHOWN = LOOKUPS + RANGES * RANGE_ROWS + SMALL_ROWS / REMAINDERS + SMALL_ROWS,
	UNIT_EVENTS = 2 * STATEMENTS + SHOWN, WORK_EVENTS = 20 * UNIT_EVENTS,
	LOOP_STEPS = SHOWN / STATEMENTS, LOOP_EVENTS = 1500 * (2 + LOOP_STEPS),
};

enum statement { BEGIN, INSERT, LOOKUP, RANGE, SCAN, UPDATE, SORT, DELETE, COMMIT, SUM, KINDS };

static const char *const texts[KINDS] = {
	[BEGIN] = "BEGIN",
	[INSERT] = "INSERT INTO t VALUES (?1, ?2, 'a row that does not stay', 0)",
	[LOOKUP] = "SELECT id FROM t WHERE id = ?1",
	[RANGE] = "SELECT id FROM t WHERE a BETWEEN ?1 AND ?2",
	[SCAN] = "SELECT id FROM s WHERE c = ?1",
	[UPDATE] = "UPDATE t SET c = c + ?2 WHERE id = ?1",
	[SORT] = "SELECT id FROM s ORDER BY b",
	[DELETE] = "DELETE FROM t WHERE id >= ?1",
	[COMMIT] = "COMMIT",
	[SUM] = "SELECT sum(c) FROM t",
};

static sqlite3 *database;
static sqlite3_stmt *statements[KINDS];
static int id_of_a[ROWS];            /* the key of the row with a given a */
static int sorted[SMALL_ROWS];       /* the keys of the small table by its text */
static char names[SMALL_ROWS][16];   /* the texts */
static uint64_t updated;             /* what has been added to c in all rows */
static unsigned units;

/* What the rows of a statement add up to: keys weighted by where they stand. */
struct sum {
	uint64_t weighted;
	unsigned rows;
};

static void add_row(struct sum *sum, int id)
{
	sum->weighted += (uint64_t)id * ++sum->rows;
}

/* ---- setting up ------------------------------------------------------------------------------------ */

static void execute(const char *text)
{
	program_check(sqlite3_exec(database, text, NULL, NULL, NULL) == SQLITE_OK, text);
}

static void insert(const char *format, int id, int a, const char *b, int c)
{
	char text[200];

	snprintf(text, sizeof(text), format, id, a, b, c);
	execute(text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(names[*(const int *)a], names[*(const int *)b]);
}

static void set_up(void)
{
	program_check(sqlite3_open(":memory:", &database) == SQLITE_OK, "open");
	execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c INTEGER);"
		"CREATE INDEX t_a ON t (a);"
		"CREATE TABLE s (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c INTEGER);"
		"BEGIN");
	for (int id = 0; id < ROWS; id++) {
		int a = id * FACTOR % ROWS;

		id_of_a[a] = id;
		insert("INSERT INTO t VALUES (%d, %d, '%s', %d)", id, a, "some text of a usual length", 0);
	}
	for (int id = 0; id < SMALL_ROWS; id++) {
		snprintf(names[id], sizeof(names[id]), "name %04d", id * FACTOR % ROWS);
		sorted[id] = id;
		insert("INSERT INTO s VALUES (%d, %d, '%s', %d)", id, 0, names[id], id % REMAINDERS);
	}
	execute("COMMIT");
	qsort(sorted, SMALL_ROWS, sizeof(*sorted), by_name);
	for (int i = 0; i < KINDS; i++)
		program_check(sqlite3_prepare_v2(database, texts[i], -1, &statements[i], NULL) == SQLITE_OK, texts[i]);
}

/* ---- a unit of work -------------------------------------------------------------------------------- */

static sqlite3_stmt *bind(enum statement which, int first, int second)
{
	sqlite3_stmt *statement = statements[which];

	sqlite3_bind_int(statement, 1, first);
	sqlite3_bind_int(statement, 2, second);   /* an error where there is no second one */
	return statement;
}

/* A macro, so that each statement has literal names of its own. */
#define RUN(kind, label, which, first, second, sum) \
	do { \
		sqlite3_stmt *statement = bind(which, first, second); \
		int status; \
		EVENT_ENTER(kind, label); \
		while ((status = sqlite3_step(statement)) == SQLITE_ROW) { \
			add_row(sum, sqlite3_column_int(statement, 0)); \
			EVENT_STEP(kind, "row"); \
		} \
		sqlite3_reset(statement); \
		EVENT_LEAVE(kind, label); \
		program_check(status == SQLITE_DONE, texts[which]); \
	} while (0)

EVENT_INLINE void change(enum program_kind kind, unsigned number, struct sum *sum)
{
	for (unsigned i = 0; i < INSERTS; i++)
		RUN(kind, "insert", INSERT, (int)(ROWS + i), (int)(ROWS + i), sum);
	for (unsigned i = 0; i < UPDATES; i++) {
		RUN(kind, "update", UPDATE, (int)((number * 31 + i * 97) % ROWS), (int)i, sum);
		updated += i;
	}
	RUN(kind, "delete", DELETE, ROWS, 0, sum);
	program_check(sqlite3_changes(database) == INSERTS, "rows deleted");
}

EVENT_INLINE void look(enum program_kind kind, unsigned number, struct sum *sum)
{
	for (unsigned i = 0; i < LOOKUPS; i++)
		RUN(kind, "lookup", LOOKUP, (int)((number * 7 + i * 131) % ROWS), 0, sum);
	for (unsigned i = 0; i < RANGES; i++) {
		int first = (int)((number * 11 + i * 401) % (ROWS - RANGE_ROWS));

		RUN(kind, "range", RANGE, first, first + RANGE_ROWS - 1, sum);
	}
	RUN(kind, "scan", SCAN, (int)(number % REMAINDERS), 0, sum);
	RUN(kind, "sort", SORT, 0, 0, sum);
}

/* What look() must find */
static struct sum model(unsigned number)
{
	struct sum sum = { 0, 0 };

	for (unsigned i = 0; i < LOOKUPS; i++)
		add_row(&sum, (int)((number * 7 + i * 131) % ROWS));
	for (unsigned i = 0; i < RANGES; i++)
		for (unsigned k = 0; k < RANGE_ROWS; k++)
			add_row(&sum, id_of_a[(number * 11 + i * 401) % (ROWS - RANGE_ROWS) + k]);
	for (int id = (int)(number % REMAINDERS); id < SMALL_ROWS; id += REMAINDERS)
		add_row(&sum, id);
	for (unsigned i = 0; i < SMALL_ROWS; i++)
		add_row(&sum, sorted[i]);
	return sum;
}

static void check_updates(void)
{
	sqlite3_stmt *statement = statements[SUM];

	program_check(sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) == (int64_t)updated,
		      "the sum of all updates");
	sqlite3_reset(statement);
}

EVENT_INLINE void work(enum program_kind kind, unsigned thread, unsigned events)
{
	(void)thread;
	for (unsigned i = 0; i < events; i += UNIT_EVENTS) {
		unsigned number = units++;
		struct sum sum = { 0, 0 }, expected = model(number), nothing = { 0, 0 };

		RUN(kind, "begin", BEGIN, 0, 0, &nothing);
		look(kind, number, &sum);
		change(kind, number, &nothing);
		RUN(kind, "commit", COMMIT, 0, 0, &nothing);
		program_check(sum.rows == SHOWN && sum.weighted == expected.weighted && !nothing.rows, "the rows");
	}
	check_updates();
}
EVENT_COPIES(work)

EVENT_INLINE void loop(enum program_kind kind, unsigned thread, unsigned events)
{
	(void)thread;
	for (unsigned i = 0; i < events; i += 2 + LOOP_STEPS) {
		EVENT_ENTER(kind, "loop");
		for (unsigned row = 0; row < LOOP_STEPS; row++) {
			EVENT_STEP(kind, "loop");
			bench_barrier();
		}
		EVENT_LEAVE(kind, "loop");
		bench_barrier();
	}
}
EVENT_COPIES(loop)

int main(int argc, char **argv)
{
	static const struct program program = {
		.name = "sqlite", .set_up = set_up, .work_events = WORK_EVENTS, .loop_events = LOOP_EVENTS, .alone = 1,
		.work = { work_none, work_ours, work_lttng }, .loop = { loop_none, loop_ours, loop_lttng },
	};

	return program_main(&program, argc, argv);
}
