/* SPDX-License-Identifier: MIT */
/* tr2p_filter.c - an interpreter of seccomp filters, and the list of our system calls. */
#include "tr2p_filter.h"

#include <linux/audit.h>
#include <string.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
enum { ARCH = (int)AUDIT_ARCH_X86_64 };
#elif defined(__i386__)
enum { ARCH = (int)AUDIT_ARCH_I386 };
#elif defined(__aarch64__)
enum { ARCH = (int)AUDIT_ARCH_AARCH64 };
#elif defined(__arm__)
enum { ARCH = (int)AUDIT_ARCH_ARM };
#elif defined(__s390x__)
enum { ARCH = (int)AUDIT_ARCH_S390X };
#else
#error "how does the kernel call this machine in a filter?"
#endif

/* Those in handlers, in front of functions, of the consumer thread, and at the end; read() and write() all let. */
static const int calls[] = {
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_readlink
	SYS_readlink,
#endif
#ifdef SYS_mmap
	SYS_mmap,
#else
	SYS_mmap2,
#endif
#ifdef SYS_fstat
	SYS_fstat,
#else
	SYS_fstat64,
#endif
#ifdef SYS_futex_time64   /* machines of 32 bits: what libc calls with 64-bit times */
	SYS_clock_gettime64, SYS_clock_nanosleep_time64, SYS_futex_time64, SYS_ppoll_time64,
	SYS_rt_sigtimedwait_time64, SYS_timer_settime64,
#endif
	SYS_brk, SYS_clock_gettime, SYS_clock_nanosleep, SYS_clone, SYS_clone3, SYS_close, SYS_exit, SYS_fallocate,
	SYS_fcntl, SYS_ftruncate, SYS_futex, SYS_getpid, SYS_gettid, SYS_lseek, SYS_madvise, SYS_mprotect, SYS_munmap,
	SYS_openat, SYS_ppoll, SYS_prctl, SYS_process_vm_readv, SYS_readlinkat, SYS_rt_sigaction, SYS_rt_sigpending,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sched_yield, SYS_set_robust_list,
	SYS_sigaltstack, SYS_statx, SYS_tgkill, SYS_timer_create, SYS_timer_delete, SYS_timer_settime, SYS_unlinkat
};

/* ---- the machine ----------------------------------------------------------------------------------- */

struct machine {
	uint32_t a, x, words[BPF_MEMWORDS];
	const struct seccomp_data *call;
	int is_bad;               /* no program that the kernel takes */
};

static uint32_t memory(struct machine *machine, uint32_t at)
{
	machine->is_bad |= at >= BPF_MEMWORDS;
	return machine->words[at % BPF_MEMWORDS];
}

/* Of the call only whole words can be read. */
static uint32_t load(struct machine *machine, const struct sock_filter *at)
{
	uint32_t word = 0;

	switch (BPF_MODE(at->code)) {
	case BPF_IMM:
		return at->k;
	case BPF_LEN:
		return sizeof(*machine->call);
	case BPF_MEM:
		return memory(machine, at->k);
	case BPF_ABS:
		machine->is_bad |= at->k % sizeof(word) || at->k > sizeof(*machine->call) - sizeof(word);
		if (!machine->is_bad)
			memcpy(&word, (const char *)machine->call + at->k, sizeof(word));
		return word;
	default:
		machine->is_bad = 1;
		return 0;
	}
}

static uint32_t calculate(struct machine *machine, const struct sock_filter *at)
{
	const uint32_t a = machine->a, b = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;

	switch (BPF_OP(at->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		machine->is_bad |= !b;
		return b ? a / b : 0;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	case BPF_NEG:
		return 0 - a;
	default:
		machine->is_bad = 1;
		return 0;
	}
}

/* Return  how many instructions are left out */
static uint32_t jump(struct machine *machine, const struct sock_filter *at)
{
	const uint32_t a = machine->a, b = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		return at->k;
	case BPF_JEQ:
		return a == b ? at->jt : at->jf;
	case BPF_JGT:
		return a > b ? at->jt : at->jf;
	case BPF_JGE:
		return a >= b ? at->jt : at->jf;
	case BPF_JSET:
		return (a & b) != 0 ? at->jt : at->jf;
	default:
		machine->is_bad = 1;
		return 0;
	}
}

static void store(struct machine *machine, const struct sock_filter *at)
{
	memory(machine, at->k);
	machine->words[at->k % BPF_MEMWORDS] = BPF_CLASS(at->code) == BPF_ST ? machine->a : machine->x;
}

static void move(struct machine *machine, const struct sock_filter *at)
{
	if (BPF_MISCOP(at->code) == BPF_TAX)
		machine->x = machine->a;
	else
		machine->a = machine->x;
}

/* Jumps only go forward: it ends. */
uint32_t tr2p_filter_run(const struct sock_fprog *filter, const struct seccomp_data *call)
{
	struct machine machine = { .call = call };

	for (uint64_t i = 0; i < filter->len && !machine.is_bad; i++) {
		const struct sock_filter *at = &filter->filter[i];
		switch (BPF_CLASS(at->code)) {
		case BPF_LD:
			machine.a = load(&machine, at);
			break;
		case BPF_LDX:
			machine.x = load(&machine, at);
			break;
		case BPF_ST:
		case BPF_STX:
			store(&machine, at);
			break;
		case BPF_ALU:
			machine.a = calculate(&machine, at);
			break;
		case BPF_JMP:
			i += jump(&machine, at);
			break;
		case BPF_RET:
			return BPF_RVAL(at->code) == BPF_A ? machine.a : at->k;
		default:
			move(&machine, at);
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* ---- the judgement --------------------------------------------------------------------------------- */

int tr2p_filter_is_harmless(const struct sock_fprog *filter)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct seccomp_data call = { .nr = calls[i], .arch = (uint32_t)ARCH };
		uint32_t answer = tr2p_filter_run(filter, &call) & SECCOMP_RET_ACTION_FULL;
		if (answer != SECCOMP_RET_ALLOW && answer != SECCOMP_RET_ERRNO && answer != SECCOMP_RET_LOG)
			return 0;
	}
	return 1;
}
