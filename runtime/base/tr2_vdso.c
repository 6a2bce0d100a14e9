/* SPDX-License-Identifier: MIT */
/* tr2_vdso.c - a shared object that the kernel maps into each process: its table of symbols. */
#include "tr2_vdso.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "tr2_atomic.h"

#if defined(__x86_64__)
static const char name[] = "__vdso_clock_gettime";
#else
static const char name[] = "__kernel_clock_gettime";
#endif

struct symbols {
	const ElfW(Sym) *table;
	const char *names;
	const ElfW(Word) *hash;   /* its second word says how many symbols there are */
};

/* Addresses in the object are relative to where it is. */
static struct symbols find_symbols(const unsigned char *object, const ElfW(Dyn) *dynamic)
{
	struct symbols symbols = { 0 };

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = object + dynamic->d_un.d_ptr;
		if (dynamic->d_tag == DT_SYMTAB)
			symbols.table = at;
		else if (dynamic->d_tag == DT_STRTAB)
			symbols.names = at;
		else if (dynamic->d_tag == DT_HASH)
			symbols.hash = at;
	}
	return symbols;
}

static const ElfW(Dyn) *find_dynamic(const unsigned char *object)
{
	const ElfW(Ehdr) *header = (const void *)object;
	const ElfW(Phdr) *segment = (const void *)(object + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC)
			return (const void *)(object + segment[i].p_offset);
	return NULL;
}

tr2_vdso_clock *tr2_vdso_find_clock(void)
{
	const unsigned char *object = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Dyn) *dynamic = object ? find_dynamic(object) : NULL;
	struct symbols symbols;

	if (!dynamic)
		return NULL;
	symbols = find_symbols(object, dynamic);
	if (!symbols.table || !symbols.names || !symbols.hash)
		return NULL;
	for (ElfW(Word) i = 0; i < symbols.hash[1]; i++) {
		const ElfW(Sym) *symbol = &symbols.table[i];
		if (symbol->st_shndx != SHN_UNDEF && !strcmp(symbols.names + symbol->st_name, name))
			return (tr2_vdso_clock *)(uintptr_t)(object + symbol->st_value);
	}
	return NULL;
}

/* ---- what the clock is computed from --------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__ILP32__)
#define NS_PER_S UINT64_C(1000000000)

enum {
	PAGE = 4096,
	SEQUENCE_AT = 0, MODE_AT = 4, CYCLES_AT = 8,   /* the same in all kernels; times follow mult and shift */
	MODE_TSC = 1,
	MIN_UPTIME_S = 60,        /* while the kernel starts it tries the counter, and may decide against it */
	SLACK_NS = 1000,          /* the processor may read the counter early, or late */
};

/* Where kernels have had the numbers: so many pages before the object, at an offset there; and mult in them. */
static const struct { unsigned char pages, at, mult_at; } places[] = {
	{ 6, 0, 32 },             /* Linux 6.15 */
	{ 4, 128, 24 },           /* 5.6 */
	{ 4, 128, 32 },           /* 6.9 */
};

static uint32_t load_32(const unsigned char *at)
{
	return tr2_load_rlx((const uint32_t *)(const void *)at); /* relaxed: the sequence shows whether they changed */
}

static uint64_t load_64(const unsigned char *at)
{
	return tr2_load_rlx((const uint64_t *)(const void *)at); /* relaxed: as above */
}

/* CLOCK_MONOTONIC when the counter had that value: nanoseconds are shifted, as mult is. */
static uint64_t time_at(const unsigned char *numbers, unsigned mult_at, uint64_t counter)
{
	const unsigned char *time = numbers + mult_at + 8 + CLOCK_MONOTONIC * 16;
	const uint64_t mult = load_32(numbers + mult_at), passed = counter - load_64(numbers + CYCLES_AT);
	const unsigned shift = load_32(numbers + mult_at + 4) & 63;

	return load_64(time) * NS_PER_S + ((load_64(time + 8) + passed * mult) >> shift);
}

/* The kernel makes the sequence odd, changes the numbers, and makes it even again.  x86 loads in order. */
int tr2_vdso_agrees(const void *at, unsigned mult_at, tr2_vdso_clock *clock)
{
	const unsigned char *numbers = at;
	const uint32_t *sequence = (const uint32_t *)(const void *)(numbers + SEQUENCE_AT);
	const uint32_t begun = tr2_load_rlx(sequence); /* relaxed: the fence keeps the order */
	uint64_t before, now, after;
	struct timespec time;

	tr2_fence_compiler();
	if (begun & 1 || load_32(numbers + MODE_AT) != MODE_TSC)
		return 0;
	before = time_at(numbers, mult_at, __builtin_ia32_rdtsc());
	if (clock(CLOCK_MONOTONIC, &time))
		return 0;
	after = time_at(numbers, mult_at, __builtin_ia32_rdtsc());
	now = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
	tr2_fence_compiler();
	return load_32(numbers + SEQUENCE_AT) == begun && time.tv_sec >= MIN_UPTIME_S &&
	       now + SLACK_NS >= before && now <= after + SLACK_NS;
}

int tr2_vdso_trusts_counter(tr2_vdso_clock *clock, int (*is_readable)(const void *word))
{
	const unsigned char *object = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

	for (unsigned i = 0; object && clock && i < sizeof(places) / sizeof(*places); i++) {
		const unsigned char *numbers = object - places[i].pages * PAGE + places[i].at;
		if (is_readable(numbers) && tr2_vdso_agrees(numbers, places[i].mult_at, clock))
			return 1;
	}
	return 0;
}
#else
int tr2_vdso_agrees(const void *numbers, unsigned mult_at, tr2_vdso_clock *clock)
{
	(void)numbers;
	(void)mult_at;
	(void)clock;
	return 0;
}

int tr2_vdso_trusts_counter(tr2_vdso_clock *clock, int (*is_readable)(const void *word))
{
	(void)clock;
	(void)is_readable;
	return 0;
}
#endif
