/* SPDX-License-Identifier: MIT */
/* t2x_fleet.c - see t2x_fleet.h. */
#include "t2x_fleet.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_commands.h"
#include "t2x_refuse.h"
#include "t2x_status.h"
#include "base/t2x_report.h"
#include "fleet/t2x_collector.h"
#include "fleet/t2x_ship.h"

enum { MAX_REPLICAS = 5 };

/* What both have, and what one of them has; NULL: not given. */
struct words {
	const char *nats, *name, *creds, *nkey, *nkey_seed, *ca, *cert, *key, *status_file;
	const char *host, *quota, *replicas, *max_bytes;
	int deletes, is_once;
	const char *path;                 /* directory or store */
};

enum { COMMON = 9 };

static const struct option ship_options[] = {
	{ "nats", required_argument, NULL, 0 }, { "name", required_argument, NULL, 0 },
	{ "creds", required_argument, NULL, 0 }, { "nkey", required_argument, NULL, 0 },
	{ "nkey-seed", required_argument, NULL, 0 }, { "tls-ca", required_argument, NULL, 0 },
	{ "tls-cert", required_argument, NULL, 0 }, { "tls-key", required_argument, NULL, 0 },
	{ "status-file", required_argument, NULL, 0 }, { "host", required_argument, NULL, 'h' },
	{ "quota", required_argument, NULL, 'q' }, { "delete", no_argument, NULL, 'd' },
	{ "once", no_argument, NULL, 'o' }, { 0 },
};

static const struct option collect_options[] = {
	{ "nats", required_argument, NULL, 0 }, { "name", required_argument, NULL, 0 },
	{ "creds", required_argument, NULL, 0 }, { "nkey", required_argument, NULL, 0 },
	{ "nkey-seed", required_argument, NULL, 0 }, { "tls-ca", required_argument, NULL, 0 },
	{ "tls-cert", required_argument, NULL, 0 }, { "tls-key", required_argument, NULL, 0 },
	{ "status-file", required_argument, NULL, 0 }, { "replicas", required_argument, NULL, 'r' },
	{ "max-bytes", required_argument, NULL, 'm' }, { 0 },
};

int t2x_fleet_is_meant(int argc, char **argv)
{
	return (t2x_command_is(argc, argv, "ship") || t2x_command_is(argc, argv, "collect")) &&
	       !t2x_command_asks_for_help(argc, argv);
}

/* ---- options ------------------------------------------------------------------------------------ */

static void check_words(const struct words *words)
{
	if (!words->path)
		t2x_refuse("a directory is missing", NULL);
	if (!words->nats || !*words->nats)
		t2x_refuse("--nats=URL says where the servers are", NULL);
	/* Everybody can see the arguments of a process. */
	if (strchr(words->nats, '@'))
		t2x_refuse("a password is no argument: --creds=FILE, or --nkey and --nkey-seed", NULL);
	if (!words->nkey != !words->nkey_seed)
		t2x_refuse("--nkey and --nkey-seed need each other", NULL);
	if (words->nkey && words->creds)
		t2x_refuse("--creds and --nkey exclude each other", NULL);
	if (!words->cert != !words->key)
		t2x_refuse("--tls-cert and --tls-key need each other", NULL);
	if (words->cert && !words->ca)
		t2x_refuse("--tls-cert needs --tls-ca", NULL);
	if (words->name && !t2x_envelope_is_host(words->name))
		t2x_refuse("--name has letters, digits, - and _ only, not", words->name);
	if (words->host && !t2x_envelope_is_host(words->host))
		t2x_refuse("--host has letters, digits, - and _ only, not", words->host);
}

static void read_words(struct words *words, const struct option *options, int argc, char **argv)
{
	const char **common[COMMON] = { &words->nats,      &words->name, &words->creds, &words->nkey,
					&words->nkey_seed, &words->ca,   &words->cert,  &words->key,
					&words->status_file };
	int option, index = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
		if (option == '?' || option == ':')
			t2x_refuse_option(options, option, argv[optind - 1]);
		if (!option)
			*common[index] = optarg;
		else if (option == 'd')
			words->deletes = 1;
		else if (option == 'o')
			words->is_once = 1;
		else
			*(option == 'h' ? &words->host : option == 'q' ? &words->quota :
			  option == 'r' ? &words->replicas : &words->max_bytes) = optarg;
	}
	words->path = argv[optind];
	if (words->path && argv[optind + 1])
		t2x_refuse("one directory is enough; too many with", argv[optind + 1]);
	check_words(words);
}

/* A number of bytes: 500m, 20g.  none  what it is if it is not given */
static int64_t read_bytes(const char *text, const char *option, int64_t none)
{
	static const char units[] = "kmgt";
	unsigned long long value;
	const char *unit;
	char *end;

	if (!text)
		return none;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end && (unit = strchr(units, *end | 0x20)) && !end[1]) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		value = value > ((unsigned long long)INT64_MAX >> shift) ? 0 : value << shift;
		end++;
	}
	if (errno || *end || end == text || *text == '-' || !value || value > INT64_MAX)
		t2x_refuse(option, text);
	return (int64_t)value;
}

static struct t2x_nats_settings connection(const struct words *words, const char *name)
{
	return (struct t2x_nats_settings){
		.servers = words->nats, .name = words->name ? words->name : name, .creds = words->creds,
		.nkey = words->nkey, .nkey_seed = words->nkey_seed, .ca = words->ca, .cert = words->cert,
		.key = words->key,
	};
}

/* A secret that others can read is none any more.  Return  0: complained */
static int check_secret(const char *path)
{
	struct stat st;
	const char *why = NULL;

	if (!path)
		return 1;
	if (stat(path, &st))
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		why = "is no file";
	else if ((st.st_uid != geteuid() && st.st_uid) || (st.st_mode & 077))
		why = "must belong to this user, and nobody else may read it: chmod 600";
	if (why)
		t2x_complain(path, why);
	return !why;
}

/* ---- the two commands --------------------------------------------------------------------------- */

static int run_ship(int argc, char **argv)
{
	struct t2x_ship_settings settings = { .host = "" };
	struct words words = { .nats = getenv("NATS_URL") };
	char own[256] = "";
	const char *why;

	t2x_report_set_name("t2 ship");
	read_words(&words, ship_options, argc, argv);
	gethostname(own, sizeof(own) - 1);
	t2x_envelope_set_host(settings.host, words.host ? words.host : own);
	settings.directory = words.path;
	settings.status_file = words.status_file;
	settings.quota = (uint64_t)read_bytes(words.quota, "--quota is a size such as 20g, not", 0);
	settings.deletes = words.deletes;
	settings.is_once = words.is_once;
	if (settings.quota && !settings.deletes)
		t2x_refuse("--quota needs --delete: over it, files go", NULL);
	settings.nats = connection(&words, settings.host);
	if (!check_secret(words.creds) || !check_secret(words.nkey_seed) || !check_secret(words.key))
		return T2X_EXIT_UNUSABLE;
	why = t2x_ship_run(&settings);
	return why ? t2x_complain(settings.directory, why) : EXIT_SUCCESS;
}

static int run_collect(int argc, char **argv)
{
	struct t2x_collector_settings settings = { .replicas = 1 };
	struct words words = { .nats = getenv("NATS_URL") };
	const char *why;

	t2x_report_set_name("t2 collect");
	read_words(&words, collect_options, argc, argv);
	settings.store = words.path;
	settings.status_file = words.status_file;
	settings.max_bytes = read_bytes(words.max_bytes, "--max-bytes is a size such as 20g, not", -1);
	if (words.replicas) {
		char *end;

		settings.replicas = (int)strtol(words.replicas, &end, 10);
		if (*end || settings.replicas < 1 || settings.replicas > MAX_REPLICAS)
			t2x_refuse("--replicas is a number from 1 to 5, not", words.replicas);
	}
	settings.nats = connection(&words, "collect");
	if (!check_secret(words.creds) || !check_secret(words.nkey_seed) || !check_secret(words.key))
		return T2X_EXIT_UNUSABLE;
	why = t2x_collector_run(&settings);
	return why ? t2x_complain(settings.store, why) : EXIT_SUCCESS;
}

int t2x_fleet_run(int argc, char **argv)
{
	return t2x_command_is(argc, argv, "ship") ? run_ship(argc - 1, argv + 1) : run_collect(argc - 1, argv + 1);
}
