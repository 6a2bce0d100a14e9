/* SPDX-License-Identifier: MIT */
/* t2x_store.c - see t2x_store.h. */
#include "t2x_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "t2x_parcel.h"
#include "t2x_stored.h"
#include "base/t2x_clock.h"
#include "base/t2x_hash.h"
#include "base/t2x_map.h"

enum {
	DAY = 16,
	MAX_KNOWN = 16384,                /* streams that are remembered; the others are read again */
};

struct entry {
	struct entry *alike;              /* with the same key */
	struct entry *newer, *older;      /* in the order of use */
	struct entry *next_put;           /* of those that are to be synced */
	uint32_t key;
	int is_put, is_open;
	char host[T2X_ENVELOPE_HOST], day[DAY];
	struct t2x_stored_file file;
};

struct t2x_store {
	int fd;                           /* of the directory */
	int error;
	struct t2x_map by_key;
	struct entry *newest, *oldest, *put;
	unsigned known, open;
	struct { char host[T2X_ENVELOPE_HOST]; int fd; } lock;   /* of the latest host */
};

struct t2x_store *t2x_store_open(const char *path, const char **why)
{
	struct t2x_store *store = calloc(1, sizeof(*store));

	*why = store ? NULL : strerror(ENOMEM);
	if (!store)
		return NULL;
	store->lock.fd = -1;
	if (mkdir(path, 0750) && errno != EEXIST)
		*why = strerror(errno);
	store->fd = *why ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!*why && store->fd < 0)
		*why = strerror(errno);
	if (!*why && faccessat(store->fd, ".", W_OK, 0))
		*why = strerror(errno);
	if (!*why)
		return store;
	t2x_store_free(store);
	return NULL;
}

int t2x_store_error(const struct t2x_store *store)
{
	return store->error;
}

/* ---- what is known of streams ------------------------------------------------------------------- */

static void unlink_used(struct t2x_store *store, struct entry *entry)
{
	*(entry->newer ? &entry->newer->older : &store->newest) = entry->older;
	*(entry->older ? &entry->older->newer : &store->oldest) = entry->newer;
	entry->newer = entry->older = NULL;
}

static void use(struct t2x_store *store, struct entry *entry)
{
	entry->older = store->newest;
	entry->newer = NULL;
	*(store->newest ? &store->newest->newer : &store->oldest) = entry;
	store->newest = entry;
}

static void close_entry(struct t2x_store *store, struct entry *entry)
{
	store->open -= entry->is_open != 0;
	entry->is_open = 0;
	t2x_stored_close(&entry->file);
}

/* Forget all about a stream: its files say it. */
static void forget(struct t2x_store *store, struct entry *entry)
{
	struct entry *first = t2x_map_get(&store->by_key, entry->key), **p = &first;

	while (*p && *p != entry)
		p = &(*p)->alike;
	if (*p)
		*p = entry->alike;
	if (first)
		t2x_map_put(&store->by_key, entry->key, first);
	else
		t2x_map_remove(&store->by_key, entry->key);
	for (p = &store->put; *p; p = &(*p)->next_put)
		if (*p == entry) {
			*p = entry->next_put;
			break;
		}
	close_entry(store, entry);
	unlink_used(store, entry);
	store->known--;
	free(entry);
}

/* Close, or forget, what was used least recently and need not be synced. */
static void make_room(struct t2x_store *store)
{
	struct entry *newer;

	for (struct entry *entry = store->oldest; entry && store->open >= T2X_STORE_OPEN; entry = entry->newer)
		if (!entry->is_put)
			close_entry(store, entry);
	for (struct entry *entry = store->oldest; entry && store->known >= MAX_KNOWN; entry = newer) {
		newer = entry->newer;
		if (!entry->is_put)
			forget(store, entry);
	}
}

void t2x_store_free(struct t2x_store *store)
{
	if (!store)
		return;
	while (store->newest)
		forget(store, store->newest);
	t2x_map_free(&store->by_key);
	if (store->lock.fd >= 0)
		close(store->lock.fd);
	if (store->fd >= 0)
		close(store->fd);
	free(store);
}

/* The day on which the process began. */
static void set_day(char *to, uint64_t start_ns)
{
	time_t second = (time_t)(start_ns / T2X_NS_PER_S);
	struct tm tm;

	if (!gmtime_r(&second, &tm) || !strftime(to, DAY, "%Y-%m-%d", &tm))
		snprintf(to, DAY, "1970-01-01");
}

static struct entry *find(struct t2x_store *store, const struct t2x_envelope *head)
{
	uint32_t key = t2x_hash(t2x_hash_seed(store), head->host, strlen(head->host)) ^ head->stream;
	struct entry *entry = t2x_map_get(&store->by_key, key), *first = entry;
	char day[DAY];

	set_day(day, head->start_ns);
	for (; entry; entry = entry->alike)
		if (entry->file.stream == head->stream && entry->file.pid == head->pid &&
		    !strcmp(entry->host, head->host) && !strcmp(entry->day, day))
			break;
	if (entry) {
		unlink_used(store, entry);
		use(store, entry);
		return entry;
	}
	make_room(store);
	first = t2x_map_get(&store->by_key, key);
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->alike = first;
	entry->key = key;
	snprintf(entry->host, sizeof(entry->host), "%s", head->host);
	memcpy(entry->day, day, sizeof(day));
	t2x_stored_init(&entry->file, head);
	if (t2x_map_put(&store->by_key, key, entry)) {
		free(entry);
		return NULL;
	}
	store->known++;
	use(store, entry);
	return entry;
}

/* ---- directories -------------------------------------------------------------------------------- */

/* Return  the descriptor of the directory of a host and day; -errno */
static int open_directory(const struct t2x_store *store, const char *host, const char *day)
{
	char path[T2X_ENVELOPE_HOST + DAY + 2];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", host, day);
	fd = openat(store->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	if ((mkdirat(store->fd, host, 0750) && errno != EEXIST) ||
	    (mkdirat(store->fd, path, 0750) && errno != EEXIST))
		return -errno;
	fd = openat(store->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_lock(struct t2x_store *store, const char *host)
{
	char path[T2X_ENVELOPE_HOST + 8];

	if (store->lock.fd >= 0)
		close(store->lock.fd);
	snprintf(path, sizeof(path), "%s/.lock", host);
	store->lock.fd = openat(store->fd, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (store->lock.fd < 0)
		return -errno;
	snprintf(store->lock.host, sizeof(store->lock.host), "%s", host);
	return 0;
}

/* Lock a host, whose directory is there.  Return  0 or -errno */
static int lock(struct t2x_store *store, const char *host)
{
	struct stat st;
	int error = 0;

	if (store->lock.fd < 0 || strcmp(store->lock.host, host) != 0)
		error = open_lock(store, host);
	while (!error) {
		if (flock(store->lock.fd, LOCK_EX)) {
			error = errno == EINTR ? 0 : -errno;
			continue;
		}
		/* A lock that was removed with its host excludes nobody. */
		if (fstat(store->lock.fd, &st) || st.st_nlink)
			break;
		error = open_lock(store, host);
	}
	return error;
}

/* ---- storing ------------------------------------------------------------------------------------ */

/* Append the blocks behind those that are there: mostly the frame as it came, else what of it is new. */
static int append_new(struct entry *entry, int directory, const struct t2x_envelope *head,
		      const unsigned char *message, const unsigned char *plain)
{
	struct t2x_stored_file *file = &entry->file;
	const unsigned char *frame = message + T2X_ENVELOPE_BYTES;
	struct t2x_parcel_block block;
	unsigned char *packed;
	size_t at = 0, n;
	int error = -ENOMEM;

	while (at < head->plain_bytes &&
	       t2x_parcel_block(&block, head->stream, plain + at, head->plain_bytes - at) && block.number <= file->last)
		at += block.bytes;
	if (!at)
		return t2x_stored_append(file, directory, frame, head->packed_bytes, head->plain_bytes, head->last);
	packed = malloc(T2X_ENVELOPE_MESSAGE);
	n = packed ? t2x_parcel_pack(packed, plain + at, head->plain_bytes - at) : 0;
	if (n)
		error = t2x_stored_append(file, directory, packed, n, head->plain_bytes - at, head->last);
	free(packed);
	return error;
}

/* With the host locked. */
static enum t2x_stored put(struct t2x_store *store, struct entry *entry, int directory,
			   const struct t2x_envelope *head, const unsigned char *message, const unsigned char *plain)
{
	struct t2x_stored_file *file = &entry->file;

	store->error = t2x_stored_refresh(file, directory);
	if (store->error == -ESTALE) {
		close_entry(store, entry);
		t2x_stored_init(file, head);
		store->error = t2x_stored_refresh(file, directory);
	}
	store->open += !entry->is_open && (file->blocks >= 0 || file->gaps >= 0);
	entry->is_open = file->blocks >= 0 || file->gaps >= 0;
	if (store->error)
		return T2X_STORED_FAILED;
	if (head->previous > file->last)
		return T2X_STORED_EARLY;
	if (head->last <= file->last)
		return T2X_STORED_BEFORE;
	store->error = head->reason == T2X_GAP_NONE ? append_new(entry, directory, head, message, plain) :
						      t2x_stored_gap(file, directory, head);
	store->open += !entry->is_open;
	entry->is_open = 1;
	return store->error ? T2X_STORED_FAILED : T2X_STORED_NEW;
}

enum t2x_stored t2x_store_put(struct t2x_store *store, const struct t2x_envelope *head, const unsigned char *message,
			      const unsigned char *plain, uint32_t *until)
{
	struct entry *entry = find(store, head);
	int directory = entry ? open_directory(store, entry->host, entry->day) : -ENOMEM;
	enum t2x_stored stored = T2X_STORED_FAILED;

	*until = 0;
	store->error = directory < 0 ? directory : lock(store, head->host);
	if (!store->error) {
		stored = put(store, entry, directory, head, message, plain);
		flock(store->lock.fd, LOCK_UN);
	}
	if (directory >= 0)
		close(directory);
	if (!entry || stored == T2X_STORED_FAILED) {
		if (entry)
			forget(store, entry);
		return T2X_STORED_FAILED;
	}
	*until = entry->file.last;
	if (!entry->is_put) {
		entry->is_put = 1;
		entry->next_put = store->put;
		store->put = entry;
	}
	return stored;
}

/* ---- syncing ------------------------------------------------------------------------------------ */

static int sync_entry(struct t2x_store *store, struct entry *entry)
{
	int directory = open_directory(store, entry->host, entry->day);
	int error = directory < 0 ? directory : t2x_stored_sync(&entry->file, directory);

	if (error && !lock(store, entry->host)) {
		t2x_stored_take_back(&entry->file);
		flock(store->lock.fd, LOCK_UN);
	}
	if (directory >= 0)
		close(directory);
	return error;
}

int t2x_store_sync(struct t2x_store *store)
{
	struct entry *entry;
	int first = 0, error;

	while ((entry = store->put)) {
		error = sync_entry(store, entry);
		store->put = entry->next_put;
		entry->is_put = 0;
		if (error)
			forget(store, entry);
		first = first ? first : error;
	}
	if (first)
		store->error = first;
	return first;
}
