/* SPDX-License-Identifier: MIT */
/* t2x_usage.c - see t2x_usage.h. */
#include "t2x_usage.h"

#include <string.h>

#include "tlg.h"
#include "tlg_show.h"
#include "profile/t2x_prof_kinds.h"
#include "query/t2x_filter.h"

const struct t2x_cli_option t2x_cli_options[T2X_CLI_OPTIONS] = {
#define T2X_CLI_OPTION(id, name, value, group, commands, help) { name, value, T2X_GROUP_##group, commands, help },
#include "t2x_options.def"
};

static const char *const groups[T2X_GROUPS] = {
#define T2X_GROUP(id, heading) heading,
#include "t2x_options.def"
};

static const char synopsis[] =
	"usage: t2expand [OPTION]... FILE|DIRECTORY...\n"
	"       t2expand --recover=RINGFILE|--recover-all|--live=PID [OPTION]... [FILE|DIRECTORY...]\n"
	"       t2expand --diff [--times] [--threshold=PCT] [--durations] [OPTION]... OLD NEW | OLD... -- NEW...\n"
	"       t2expand --show_format[=xml|md] | --list-formats | --list-options | --help | --version\n"
	"\n"
	"Expand .tlg files, merged by time; - is standard input, a directory all *.tlg files in it.\n";

/* One screen, by task; tests hold that each format is in it and that there is what it names. */
static const char screen[] =
	"usage: t2expand [OPTION]... FILE|DIRECTORY...\n"
	"\n"
	"Expand .tlg files, merged by time; -: standard input, DIRECTORY: its *.tlg\n"
	"\n"
	"Look and ask\n"
	"  t2expand run.tlg                            each event, in git's perf format\n"
	"  t2expand --format=html -o run.html run.tlg  a page: timeline, flame graph\n"
	"  t2expand --summary --sort=self run.tlg      totals, percentiles of each label\n"
	"  t2expand --diff old.tlg new.tlg             what happened more, or less, often\n"
	"  t2expand --format=tree DIRECTORY            who started whom\n"
	"\n"
	"Hand on: --format=FORMAT [-o FILE]\n"
	"  normal, perf, event     git's three formats\n"
	"  html, tree, summary     as above; --summary=csv, --summary=json\n"
	"  report                  samples: functions with self and total\n"
	"  chrome, firefox         Perfetto, chrome://tracing; Firefox Profiler\n"
	"  folded, pprof           flame graphs, speedscope, go tool pprof\n"
	"  csv, ndjson             sqlite3, DuckDB, jq\n"
	"  ctf                     babeltrace2, Trace Compass (-o DIR/)\n"
	"  otlp, otlp_proto        OpenTelemetry\n"
	"  xml, raw                the raw events; the good blocks as a .tlg file\n"
	"\n"
	"A part of it, in each format but xml and raw\n"
	"  --since=TIME, --until=TIME          +1.5s, -1s, 12:34:56, 2026-11-21T12:34:56Z\n"
	"  --thread, --pid, --sid=GLOBS        main,th*:worker; !GLOB: not these\n"
	"  --category, --label, --event=GLOBS  walk*,read; region*,data\n"
	"  --min-duration=10ms, --max-depth=N  regions\n"
	"\n"
	"Processes that died, or still run\n"
	"  t2expand --recover-all --delete -o killed.txt\n"
	"  t2expand --live=PID\n"
	"\n"
	"Also: --jobs=N, --quiet, --color=never, --no-pager, --raw-text, --brief\n"
	"All options: t2expand --help=all.  More of each: man t2expand.\n"
	"Exit status: 1 input or output is unusable; 2 usage; 3 damaged parts left out\n";

static const char front_synopsis[] =
	"usage: t2 COMMAND [OPTION]... [FILE|DIRECTORY]...\n";

/* What --help calls the value of an option of `t2 record', by the rate of its kind of profile; NULL: it has none. */
#define VALUE_hertz "[=HZ]"
#define VALUE_bytes "[=BYTES]"
#define VALUE_times "[=TIME]"
#define VALUE_count "[=N]"
#define VALUE_onoff NULL
#define VALUE_signals "SIGNAL"

static const struct {
	const char *name, *value, *usual, *help;
} sampled[] = {
#define PROF_KIND(ID, NAME, FORM, DURING, RATE, USUAL, MIN, MAX, TITLE, HELP) \
	{ #NAME, VALUE_##RATE, USUAL, .help = HELP },
#include "prof_kinds.def"
};

static const char recording[] =
	"  --leaks              with --heap: report at exit what is in use still\n"
	"How\n"
	"  --unwind=WAY         tables; fp: frame pointers; auto: tables, and fp where there are none\n"
	"  --frames=N           functions of a stack at most; 64\n"
	"  --kernel             functions of the kernel on top of those of --cpu\n"
	"When\n"
	"  --delay=N            begin N seconds after the start; 0.5\n"
	"  --seconds=N          record for N seconds; the program goes on\n"
	"  --dormant            start the program, and record nothing: until --pid, or t2 ctl\n"
	"  --pid=PID            record a process that runs, until ^C; without a PROGRAM\n"
	"Two commands, -- OLD... -- NEW...\n"
	"  --compare            run them in turn, and print what t2 diff finds\n"
	"  --runs=N             each so many times; 10\n"
	"Output\n"
	"  -o, --output=FILE    the trace; a directory: a file for each process; PROGRAM.tlg\n"
	"                       with --compare: a directory; PROGRAM.compare\n"
	"Exit status: the program's; 127 it is not there, 126 cannot be run; 1, 2 as t2's;\n"
	"with --compare that of t2 diff\n";

static const char steering[] =
	"What it may be told\n"
	"  status               what it records, where, what was lost; without a COMMAND, this\n"
	"  on [-o FILE]         go on after off; a dormant process begins, into FILE or a directory\n"
	"  off                  record nothing, and write what was recorded\n"
	"  flush                write what was recorded\n"
	"  rotate               go on in a new file\n"
	"  snapshot [WHY]       a flight recorder writes what it has, and WHY in it\n"
	"  trigger [SPEC|off]   what makes it do so by itself: slow:CATEGORY/LABEL>500ms error max:20\n"
	"  set KEY=VALUE...     flush, wait, policy, memory, ring, cycle: as TRACE2_RAW_FLUSH and so on;\n"
	"                       normal, perf, event: on or off, a live text output\n"
	"  profile LIST         start and stop profiles: cpu=100hz,heap=512k; cpu=off; off\n"
	"Options\n"
	"  -o, --output=FILE    with on: the trace, or a directory\n"
	"  --seconds=N          with profile: stop after N seconds\n"
	"  --timeout=N          wait for each process for N seconds at most; 3\n"
	"Exit status: 0; 1 a process was not found, or has refused; 2 usage\n";

static const char importing[] =
	"  -o, --output=FILE    the trace; without it standard output, if that is no terminal\n"
	"  --detail=WORD        drop, summary, process, verbose: what to import; verbose, all\n"
	"  --seconds=N          of a socket: end after N seconds\n"
	"Exit status: 1 input or output is unusable; 2 usage; 3 lines were left out\n";

static const char serving[] =
	"Where it listens\n"
	"  --socket=PATH        a Unix socket of this user; $XDG_RUNTIME_DIR/trace2-serve.sock\n"
	"  --listen=ADDR:PORT   TCP, on 127.0.0.1 or [::1]; elsewhere with TLS only\n"
	"Who may ask\n"
	"  --token-file=FILE    who has this token: Bearer TOKEN, or Basic with it as password\n"
	"  --tls-cert=FILE      TLS: the certificate, in PEM\n"
	"  --tls-key=FILE       its key\n"
	"Output\n"
	"  --directory=DIR      traces of processes that had none; $XDG_STATE_HOME/trace2\n"
	"Pages: / /processes.json /metrics /healthz /pid/N/ /pid/N/debug/pprof/ /file/NAME\n"
	"Exit status: 0 after SIGTERM or SIGINT; 1 it cannot listen; 2 usage\n";

static const char shipping[] =
	"What is sent\n"
	"  --host=NAME          of this host, in the store; the name of the machine\n"
	"  --delete             remove files of which all is stored, when their processes have ended\n"
	"  --quota=SIZE         with --delete: what waits at most; over it the oldest goes, and is counted\n"
	"  --once               end when all that is there is stored\n";

static const char collecting[] =
	"The JetStream, if it has to be made\n"
	"  --replicas=N         servers that have a copy of each message; 1\n"
	"  --max-bytes=SIZE     of messages that wait; over it the hosts have to keep them\n";

static const char connecting[] =
	"The cluster\n"
	"  --nats=URL[,URL]...  its servers: nats://HOST:4222; also $NATS_URL\n"
	"  --creds=FILE         credentials of a user\n"
	"  --nkey=KEY           public key of a user\n"
	"  --nkey-seed=FILE     its seed\n"
	"  --tls-ca=FILE        TLS: who has signed the servers' certificates\n"
	"  --tls-cert=FILE      the client's certificate, if they ask for it\n"
	"  --tls-key=FILE       its key\n"
	"  --name=NAME          of this connection: inboxes are _INBOX.NAME; the host's, or collect\n"
	"Output\n"
	"  --status-file=FILE   counts, for Prometheus, every second\n";

static const char fleet_statuses[] =
	"Exit status: 0 after SIGTERM or SIGINT; 1 it cannot begin, or has to end; 2 usage\n";

static const char statuses[] =
	"Exit status: 0; 3 parts are damaged, the rest was expanded; 1 unusable input or output; 2 usage\n";

/* ---- options ------------------------------------------------------------------------------------ */

/* "--name=VALUE"   Return  to */
static const char *put_words(char *to, size_t size, const char *name, const char *value)
{
	snprintf(to, size, "--%s%s%s", name, value && *value != '[' ? "=" : "", value ? value : "");
	return to;
}

/* Of a word that is too long the help stands in the next line. */
static void put_line(FILE *to, const char *words, const char *formats, const char *help)
{
	enum { WIDTH = 22 };

	if (strlen(words) > WIDTH)
		fprintf(to, "  %s\n  %-*s", words, (int)WIDTH, "");
	else
		fprintf(to, "  %-*s", (int)WIDTH, words);
	fprintf(to, "  %s%s%s\n", formats, *formats ? ": " : "", help);
}

/* What makes sense, of a table, for a command of t2; command NULL: everything does, for t2expand. */

/* list  words with blanks between them; "": all that there are; NULL: none */
static int has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	if (!list || !*list)
		return list != NULL;
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return 1;
	return 0;
}

static int shows_option(const struct t2x_command *command, const struct t2x_cli_option *option)
{
	return !command || has_word(option->commands, command->name);
}

static int shows_format(const struct t2x_command *command, const struct t2x_format *format)
{
	return !command || has_word(command->formats, format->name);
}

/* Others have no use for formats and filters. */
static int reads_events(const struct t2x_command *command)
{
	return !command || (command->takes != T2X_TAKES_LAYOUT && command->takes != T2X_TAKES_COMMAND &&
			    command->takes != T2X_TAKES_PROGRAM && command->takes != T2X_TAKES_STEERED &&
			    command->takes != T2X_TAKES_SERVED && command->takes != T2X_TAKES_SHIPPED &&
			    command->takes != T2X_TAKES_COLLECTED && command->takes != T2X_TAKES_IMPORTED);
}

/* An option that all formats take is one of git's: not all of them do something with it. */
static int heeds(const struct t2x_format *format, const struct t2x_format_option *option)
{
	if (option == &t2x_format_options[T2X_OPTION_nesting])
		return format == &t2x_formats[T2X_FORMAT_event];
	return *option->formats ? t2x_format_has(format, option) :
	       format->traits & T2X_TRAIT_LIVE || format == &t2x_formats[T2X_FORMAT_tree];
}

static int shows_format_option(const struct t2x_command *command, const struct t2x_format_option *option)
{
	if (command && *option->formats && has_word(option->formats, command->name))
		return 1;
	for (unsigned i = 0; command && i < T2X_FORMATS; i++)
		if (shows_format(command, &t2x_formats[i]) && heeds(&t2x_formats[i], option))
			return 1;
	return !command;
}

/* ---- lines of help ------------------------------------------------------------------------------ */

static void put_group(FILE *to, enum t2x_group group, const struct t2x_command *command)
{
	char words[64];
	int n = 0;

	for (unsigned i = 0; i < T2X_CLI_OPTIONS; i++) {
		const struct t2x_cli_option *option = &t2x_cli_options[i];

		if (option->group != group || !shows_option(command, option))
			continue;
		if (!n++)
			fprintf(to, "%s\n", groups[group]);
		put_line(to, put_words(words, sizeof(words), option->name, option->value), "", option->help);
	}
}

static void put_formats(FILE *to, const struct t2x_command *command)
{
	fputs("Formats\n", to);
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		if (shows_format(command, &t2x_formats[i]))
			put_line(to, t2x_formats[i].name, "", t2x_formats[i].help);
}

static void put_format_options(FILE *to, const struct t2x_command *command)
{
	char words[64];

	fputs("Options of formats\n", to);
	for (unsigned i = 0; i < T2X_OPTIONS; i++) {
		const struct t2x_format_option *option = &t2x_format_options[i];

		if (shows_format_option(command, option))
			put_line(to, put_words(words, sizeof(words), option->name, option->value), option->formats,
				 option->help);
	}
}

static void put_filters(FILE *to)
{
	char words[64];

	fputs("Filters, for all formats but xml and raw; GLOBS: patterns with commas between them\n", to);
	for (unsigned i = 0; i < T2X_FILTER_OPTIONS; i++)
		put_line(to, put_words(words, sizeof(words), t2x_filter_options[i].option, t2x_filter_options[i].value),
			 "", t2x_filter_options[i].help);
}

/* ---- --help ------------------------------------------------------------------------------------- */

static void put_front(FILE *to)
{
	fputs(front_synopsis, to);
	for (unsigned section = 0; section < T2X_SECTIONS; section++) {
		fprintf(to, "%s\n", t2x_sections[section]);
		for (const struct t2x_command *command = t2x_commands; command->name; command++)
			if (command->section == (enum t2x_section)section)
				fprintf(to, "  %-10s %s\n", command->name, command->help);
	}
}

/* The options of `t2 record' */
static void put_recording(FILE *to)
{
	char words[64];

	fputs("What is sampled, with what TRACE2_PROF has; without any of these --cpu\n", to);
	for (unsigned i = 0; i < sizeof(sampled) / sizeof(sampled[0]); i++) {
		const char *usual = sampled[i].value ? sampled[i].usual : "";

		fprintf(to, "  %-20s %s%s%s\n", put_words(words, sizeof(words), sampled[i].name, sampled[i].value),
			sampled[i].help, *usual ? "; " : "", usual);
	}
	fputs(recording, to);
}

static void put_command(FILE *to, const struct t2x_command *command)
{
	fprintf(to, "usage: t2 %s [OPTION]... %s\n\n%s: %s.\n", command->name, command->synopsis, command->name,
		command->help);
	if (command->takes == T2X_TAKES_PROGRAM)
		put_recording(to);
	if (command->takes == T2X_TAKES_STEERED)
		fputs(steering, to);
	if (command->takes == T2X_TAKES_SERVED)
		fputs(serving, to);
	if (command->takes == T2X_TAKES_IMPORTED)
		fputs(importing, to);
	if (command->takes == T2X_TAKES_SHIPPED || command->takes == T2X_TAKES_COLLECTED)
		fprintf(to, "%s%s%s", command->takes == T2X_TAKES_SHIPPED ? shipping : collecting, connecting,
			fleet_statuses);
	if (!reads_events(command))
		return;
	if (shows_option(command, &t2x_cli_options[T2X_CLI_FORMAT]))
		put_formats(to, command);
	if (command->formats || has_word(t2x_format_options[T2X_OPTION_as].formats, command->name))
		put_format_options(to, command);
	put_filters(to);
	for (unsigned group = 0; group < T2X_GROUPS; group++)
		put_group(to, (enum t2x_group)group, command);
}

static void put_all(FILE *to)
{
	fputs(synopsis, to);
	put_formats(to, NULL);
	put_format_options(to, NULL);
	put_filters(to);
	for (unsigned group = 0; group < T2X_GROUPS; group++)
		put_group(to, (enum t2x_group)group, NULL);
	fputs(statuses, to);
}

void t2x_usage_help(FILE *to, const struct t2x_front *front, int is_all)
{
	if (is_all)
		put_all(to);
	else if (front->command)
		put_command(to, front->command);
	else if (front->is_t2)
		put_front(to);
	else
		fputs(screen, to);
}

void t2x_usage_version(FILE *to, const struct t2x_front *front)
{
	fprintf(to, "%s " T2X_VERSION ", for the .tlg format %d.%d\n", front->is_t2 ? "t2" : "t2expand",
		TLG_VERSION >> 8, TLG_VERSION & 0xff);
}

/* ---- for programs ------------------------------------------------------------------------------- */

void t2x_usage_formats(FILE *to)
{
	static const char *const names[] = { "live", "json", "binary", "raw" };

	for (unsigned i = 0; i < T2X_FORMATS; i++) {
		const struct t2x_format *format = &t2x_formats[i];
		char traits[64];
		size_t n = 0;

		for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++)
			if (format->traits >> bit & 1)
				n += (size_t)snprintf(traits + n, sizeof(traits) - n, "%s%s", n ? "," : "", names[bit]);
		fprintf(to, "%-10s %-10s %-10s %s\n", format->name, format->suffix, n ? traits : "-", format->help);
	}
}

static void list_option(FILE *to, const char *name, const char *value, const char *help)
{
	char words[64];

	fprintf(to, "%-32s %s\n", put_words(words, sizeof(words), name, value), help);
}

void t2x_usage_options(FILE *to, const struct t2x_front *front)
{
	const struct t2x_command *all = front->is_t2 && !front->command ? t2x_commands : NULL;

	for (const struct t2x_command *command = all; command && command->name; command++)
		fprintf(to, "%-32s %s\n", command->name, command->help);
	for (unsigned i = 0; i < T2X_CLI_OPTIONS; i++)
		if (shows_option(front->command, &t2x_cli_options[i]))
			list_option(to, t2x_cli_options[i].name, t2x_cli_options[i].value, t2x_cli_options[i].help);
	for (unsigned i = 0; i < T2X_OPTIONS; i++)
		if (shows_format_option(front->command, &t2x_format_options[i]))
			list_option(to, t2x_format_options[i].name, t2x_format_options[i].value,
				    t2x_format_options[i].help);
	for (unsigned i = 0; reads_events(front->command) && i < T2X_FILTER_OPTIONS; i++)
		list_option(to, t2x_filter_options[i].option, t2x_filter_options[i].value, t2x_filter_options[i].help);
}

const char *t2x_usage_names(char *to, size_t size, const struct t2x_format_option *option)
{
	size_t n = 0;

	to[0] = '\0';
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		if ((!option || t2x_format_has(&t2x_formats[i], option)) && n < size)
			n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", t2x_formats[i].name);
	return to;
}

static void put_piece(void *to, const char *text, size_t n)
{
	fwrite(text, 1, n, to);
}

static void put_kind(FILE *to, const char *name, const struct t2x_prof_kind *kind)
{
	fprintf(to, "| %s | %s | %s | %s |\n", name, kind->form->count_means, kind->form->value_means,
		kind->form->period_means);
}

/* The tables of FORMAT.md */
static void put_tables(FILE *to)
{
	char name[64];

	tlg_show_md(put_piece, to);
	fputs("\n<!-- profiles -->\n| profile | count | value | period |\n|---|---|---|---|\n", to);
	for (unsigned i = 0; i < T2X_PROF_KINDS; i++) {
		const struct t2x_prof_kind *kind = &t2x_prof_kinds[i];

		snprintf(name, sizeof(name), "`%s`", kind->name);
		if (kind->recorded == i)
			put_kind(to, name, kind);
	}
	put_kind(to, "the program's own", t2x_prof_kind_of(NULL));
	fputs("<!-- /profiles -->\n", to);
}

int t2x_usage_layout(FILE *to, const char *how)
{
	if (!how || !strcmp(how, "xml"))
		tlg_show_xml(put_piece, to);
	else if (strcmp(how, "md"))
		return 0;
	else
		put_tables(to);
	return 1;
}
