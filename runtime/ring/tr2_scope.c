/* SPDX-License-Identifier: MIT */
/* tr2_scope.c - append-only tables with a hash index of their entries. */
#include "tr2_scope.h"

#include <errno.h>
#include <string.h>

#include "base/tr2_atomic.h"
#include "base/tr2_memory.h"
#include "base/tr2_tsan.h"

enum kind { SCOPES, FILES, KINDS };
enum { NEAR_SLOTS = 256, NEAR_PROBES = 8, FAR_SLOTS = 2 * TLG_MAX_SCOPES };

/*
 * Entry numbers by hash, open addressing, 0 empty.  The slots that are looked at first lie in one page: so the few
 * entries of a small program do not touch a page each.  Private: a reader of the file walks the entries.
 */
static struct near_index { uint32_t slots[KINDS][NEAR_SLOTS]; } *g_near;
static struct far_index { uint32_t slots[KINDS][FAR_SLOTS]; } *g_far;

static int make_index(void)
{
	g_near = tr2_memory_acquire(sizeof(*g_near));
	g_far = tr2_memory_acquire_far(sizeof(*g_far));
	if (!g_near || !g_far)
		return -errno;
	g_near->slots[0][0] = 0;   /* a page that is read before it is written is faulted in twice */
	return 0;
}

/* The slot that is looked at after so many others. */
static uint32_t *slot_of(enum kind kind, uint64_t hash, uint64_t probe)
{
	return probe < NEAR_PROBES ? &g_near->slots[kind][(hash + probe) % NEAR_SLOTS]
				   : &g_far->slots[kind][(hash + probe) % FAR_SLOTS];
}

/* Copy bytes at an offset in the parent's file to their place in this process's.  0 or -errno. */
static int copy(const struct tr2_shm *parent, uint64_t to, uint64_t from, size_t bytes)
{
	int error = tr2_shm_commit(tr2_g_shm.base + to, bytes);

	if (!error)
		memcpy(tr2_g_shm.base + to, parent->base + from, bytes);
	return error;
}

/* Entries of a table from the first that is not in the second page, up to the one behind the last. */
static int copy_table(const struct tr2_shm *parent, uint64_t (*place)(uint64_t, uint64_t), uint32_t from, uint32_t to)
{
	uint64_t at = place(parent->tables_at, from);

	if (to <= from)
		return 0;
	return copy(parent, place(tr2_g_shm.tables_at, from), at, (size_t)(place(parent->tables_at, to) - at));
}

/*
 * Call sites and the index, which the child has a copy of, refer to the parent's numbers: so the child begins with its
 * parent's table.  The parent's threads keep adding to theirs; what is copied half-written has a number that nothing in
 * the child refers to.
 */
static int inherit(const struct tr2_shm *parent)
{
	const uint64_t first = TLG_RING_FIRST_AT + offsetof(struct tlg_ring_first, scopes);
	struct tlg_ring_file *head = tr2_g_shm.head;
	uint32_t scopes = tr2_load_rlx(&parent->head->scopes_used);   /* relaxed: the fork has ordered what matters */
	uint32_t files = tr2_load_rlx(&parent->head->sources_used);     /* relaxed: as above */
	uint32_t texts = tr2_load_rlx(&parent->head->texts_used);     /* relaxed: as above */
	int error;

	head->scopes_used = scopes = scopes < TLG_MAX_SCOPES - 1 ? scopes : TLG_MAX_SCOPES - 1;
	head->sources_used = files = files < TLG_MAX_SOURCES - 1 ? files : TLG_MAX_SOURCES - 1;
	head->texts_used = texts = texts < tr2_g_shm.text_bytes ? texts : tr2_g_shm.text_bytes;
	error = copy(parent, first, first, TLG_RING_FIRST_AT + sizeof(struct tlg_ring_first) - first);
	if (!error)
		error = copy_table(parent, tlg_scope_at, TLG_FIRST_SCOPES, scopes + 1);
	if (!error)
		error = copy_table(parent, tlg_source_at, TLG_FIRST_SOURCES, files + 1);
	return error ? error : copy_table(parent, tlg_text_at, TLG_FIRST_TEXTS, texts);
}

int tr2_scope_init(const struct tr2_shm *parent)
{
	return parent && parent->head && g_near && g_far ? inherit(parent) : make_index();
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t n)
{
	uint64_t word;

	for (; n >= 8; text += 8, n -= 8) {
		memcpy(&word, text, 8);
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, n);
	return mix(hash, word ^ (uint64_t)(n + 1) << 56);
}

/* The texts of a key and their lengths, in SLOC order. */
struct names {
	const char *text[3];
	size_t bytes[3];
	uint8_t present;
};

static struct names gather_names(const struct tr2_scope_key *key)
{
	struct names names = { { key->category, key->label, key->format }, { 0, 0, 0 }, 0 };

	for (int i = 0; i < 3; i++) {
		if (!names.text[i])
			continue;
		names.bytes[i] = strlen(names.text[i]) + 1;
		names.present = (uint8_t)(names.present | 1u << i);
	}
	return names;
}

/* What is written is published by an atomic of the library's. */
static void copy_text(char *to, const char *from, size_t bytes)
{
	tr2_tsan_hide();
	memcpy(to, from, bytes);
	tr2_tsan_show();
}

/* Memory for bytes of text, committed; 0 when there is none. */
static uint32_t allocate_text(size_t bytes)
{
	uint32_t at;

	do {   /* twice at most: what is left of the second page is too short, and is gone then */
		at = tr2_add_rlx(&tr2_g_shm.head->texts_used, (uint32_t)bytes); /* relaxed: only the total matters */
	} while (at < TLG_FIRST_TEXTS && at + bytes > TLG_FIRST_TEXTS);
	if (at > tr2_g_shm.text_bytes - bytes) {
		tr2_add_rlx(&tr2_g_shm.head->texts_used, -(uint32_t)bytes); /* relaxed: as above; it must not wrap */
		return 0;
	}
	return at >= TLG_FIRST_TEXTS && tr2_shm_commit(tr2_shm_text(at), bytes) ? 0 : at;
}

/*
 * The number of a new entry; 0 when the table is full.  Every entry commits its page, not only the first in it, whose
 * writer may not have done so yet.
 */
static uint32_t take_number(uint32_t *used, uint32_t max)
{
	uint32_t i;

	if (tr2_load_rlx(used) >= max - 1) /* relaxed: a bound, checked again below */
		return 0;
	i = tr2_add_rlx(used, 1) + 1; /* relaxed: only the number matters */
	return i < max ? i : 0;
}

static uint32_t allocate_scope(void)
{
	uint32_t i = take_number(&tr2_g_shm.head->scopes_used, TLG_MAX_SCOPES);

	if (i < TLG_FIRST_SCOPES)
		return i;
	return tr2_shm_commit(tr2_shm_scope(i), sizeof(struct tlg_ring_scope)) ? 0 : i;
}

static uint32_t allocate_file(void)
{
	uint32_t i = take_number(&tr2_g_shm.head->sources_used, TLG_MAX_SOURCES);

	if (i < TLG_FIRST_SOURCES)
		return i;
	return tr2_shm_commit(tr2_shm_source(i), sizeof(struct tlg_ring_source)) ? 0 : i;
}

static uint32_t add_file(const char *name, size_t bytes)
{
	uint32_t i = allocate_file();
	uint32_t text = i ? allocate_text(bytes) : 0;

	if (!text)
		return 0;
	copy_text(tr2_shm_text(text), name, bytes);
	tr2_shm_source(i)->text = text;
	tr2_store_rel(&tr2_shm_source(i)->ready, 1); /* [M4] release: pairs with tr2_scope_file() */
	return i;
}

/* The number of a file name, a new one if need be; 0: none, or the table is full. */
static uint16_t intern_file(const char *name)
{
	size_t bytes = name ? strlen(name) + 1 : 0;
	uint32_t mine = 0;
	uint64_t hash;

	if (bytes < 2 || bytes > TLG_NAME_MAX)
		return 0;
	hash = mix_text(0, name, bytes);
	for (uint64_t probe = 0;; probe++) {
		uint32_t *at = slot_of(FILES, hash, probe);
		uint32_t i = tr2_load_acq(at); /* [M4] acquire: the entry is written.  Pairs with the exchange below */
		if (!i) {
			if (!mine && !(mine = add_file(name, bytes)))
				return 0;
			if (tr2_cas_acq_rel(at, 0, mine)) /* [M4] release: publishes the entry */
				return (uint16_t)mine;
			i = tr2_load_acq(at); /* [M4] acquire: another thread's entry.  Pairs with its exchange */
		}
		if (!strcmp(tr2_shm_text(tr2_shm_source(i)->text), name))
			return (uint16_t)i;
	}
}

static int is_same(const struct tlg_ring_scope *scope, const struct tr2_scope_key *key, const struct names *names)
{
	const char *text = tr2_shm_text(scope->text);
	const char *file = tr2_scope_file(scope->filenum);

	if (scope->text_bytes != names->bytes[0] + names->bytes[1] + names->bytes[2] || scope->line != key->line ||
	    scope->repo != key->repo || scope->style != key->style || scope->names != names->present ||
	    strcmp(file ? file : "", key->file ? key->file : ""))
		return 0;
	for (int i = 0; i < 3; i++) {
		if (memcmp(text, names->text[i] ? names->text[i] : "", names->bytes[i]))
			return 0;
		text += names->bytes[i];
	}
	return 1;
}

static uint32_t add_scope(const struct tr2_scope_key *key, const struct names *names, uint32_t hash)
{
	size_t bytes = names->bytes[0] + names->bytes[1] + names->bytes[2];
	uint16_t filenum = intern_file(key->file);
	uint32_t i = allocate_scope();
	uint32_t text = i ? allocate_text(bytes + 1) : 0;
	struct tlg_ring_scope *scope = tr2_shm_scope(i);
	char *at = tr2_shm_text(text);

	if (!text || (key->file && *key->file && !filenum))
		return 0;
	for (int k = 0; k < 3; k++) {
		copy_text(at, names->text[k] ? names->text[k] : "", names->bytes[k]);
		at += names->bytes[k];
	}
	scope->hash = hash;
	scope->text = text;
	scope->text_bytes = (uint32_t)bytes;
	scope->line = key->line;
	scope->filenum = filenum;
	scope->repo = key->repo;
	scope->style = key->style;
	scope->names = names->present;
	tr2_store_rel(&scope->ready, 1); /* [M4] release: pairs with tr2_scope_get() */
	return i;
}

static uint64_t hash_key(const struct tr2_scope_key *key, const struct names *names)
{
	uint64_t hash = mix((uint64_t)key->style << 56 | (uint64_t)key->repo << 32, (uint32_t)key->line);

	for (int i = 0; i < 3; i++)
		hash = mix_text(hash, names->text[i] ? names->text[i] : "", names->bytes[i]);
	return key->file ? mix_text(hash, key->file, strlen(key->file)) : hash;
}

uint32_t tr2_scope_intern(const struct tr2_scope_key *key)
{
	struct names names = gather_names(key);
	uint64_t hash = hash_key(key, &names);
	uint32_t mine = 0;

	for (int i = 0; i < 3; i++)
		if (names.bytes[i] > TLG_NAME_MAX)
			return 0;
	for (uint64_t probe = 0;; probe++) {
		uint32_t *at = slot_of(SCOPES, hash, probe);
		uint32_t i = tr2_load_acq(at); /* [M4] acquire: the entry is written.  Pairs with the exchange below */
		if (!i) {
			if (!mine && !(mine = add_scope(key, &names, (uint32_t)hash)))
				return 0;
			if (tr2_cas_acq_rel(at, 0, mine)) /* [M4] release: publishes the entry */
				return mine;
			i = tr2_load_acq(at); /* [M4] acquire: another thread's entry.  Pairs with its exchange */
		}
		if (tr2_shm_scope(i)->hash == (uint32_t)hash && is_same(tr2_shm_scope(i), key, &names))
			return i;
	}
}

int tr2_scope_is_crowded(void)
{
	const struct tlg_ring_file *head = tr2_g_shm.head;

	/* relaxed: a bound that need not be exact */
	return tr2_load_rlx(&head->scopes_used) >= TLG_MAX_SCOPES / 2 ||
	       tr2_load_rlx(&head->texts_used) >= tr2_g_shm.text_bytes / 2; /* relaxed: as above */
}

const struct tlg_ring_scope *tr2_scope_get(uint32_t index)
{
	const struct tlg_ring_scope *scope = tr2_shm_scope(index);

	if (!index || index >= TLG_MAX_SCOPES)
		return NULL;
	/* [M4] acquire: all of the entry.  Pairs with add_scope() */
	return tr2_load_acq(&scope->ready) ? scope : NULL;
}

const char *tr2_scope_file(unsigned filenum)
{
	const struct tlg_ring_source *file = tr2_shm_source(filenum);

	if (!filenum)
		return NULL;
	/* [M4] acquire: the name's bytes.  Pairs with add_file() */
	return tr2_load_acq(&file->ready) ? tr2_shm_text(file->text) : NULL;
}
