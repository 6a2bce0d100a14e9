/* SPDX-License-Identifier: MIT */
/* t2x_witness.c - see t2x_witness.h. */
#include "t2x_witness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PAUSE_MS = 20,                    /* until a sender has reached all processes of a service */
	RECENT_MS = 200,                  /* what is older was another signal of the same kind */
	ANSWER_S = 1,                     /* the witness may have to wait for a processor */
	SIGNALS = 65
};

/* When it came, and from whom. */
struct note {
	int64_t ms;
	pid_t sender;
};

static pid_t witness;
static int connection = -1;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the witness ------------------------------------------------------------------------------------ */

static void take_notes(int signals, struct note *notes)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_code <= 0 && info.ssi_signo < SIGNALS)
			notes[info.ssi_signo] = (struct note){ .ms = now_ms(), .sender = (pid_t)info.ssi_pid };
}

/* Answer questions until the other end is closed. */
static void be_witness(int to, int signals)
{
	struct note notes[SIGNALS] = { { .ms = INT64_MIN / 2 } };
	struct pollfd waits[] = { { .fd = to, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	unsigned char signal;

	for (unsigned i = 0; i < SIGNALS; i++)
		notes[i] = notes[0];
	while (poll(waits, 2, -1) >= 0 || errno == EINTR) {
		int is_asked = waits[0].revents != 0;
		take_notes(signals, notes);
		if (!is_asked)
			continue;
		if (recv(to, &signal, 1, 0) != 1 || signal >= SIGNALS ||
		    send(to, &notes[signal], sizeof(*notes), MSG_NOSIGNAL) != sizeof(*notes))
			break;
	}
}

static void run_witness(int to, pid_t parent)
{
	sigset_t all;
	int signals;

	sigfillset(&all);
	signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	/* SIGKILL ends us without a word: then the witness ends, too. */
	if (signals >= 0 && !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent)
		be_witness(to, signals);
	_exit(0);
}

/* ---- who asks --------------------------------------------------------------------------------------- */

void t2x_witness_start(void)
{
	const struct timeval limit = { .tv_sec = ANSWER_S };
	int pair[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return;
	witness = fork();
	if (!witness) {
		close(pair[0]);
		run_witness(pair[1], parent);
	}
	close(pair[1]);
	if (witness > 0 && !setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		connection = pair[0];
	else
		close(pair[0]);
}

void t2x_witness_end(void)
{
	if (connection >= 0)
		close(connection);
	connection = -1;
	if (witness > 0) {
		kill(witness, SIGKILL);
		while (waitpid(witness, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	witness = 0;
}

int t2x_witness_has_got(int signal, pid_t sender)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000 };
	unsigned char question = (unsigned char)signal;
	int64_t ms = now_ms();
	struct note note;

	if (connection < 0)
		return 0;
	nanosleep(&pause, NULL);
	if (send(connection, &question, 1, MSG_NOSIGNAL) != 1 ||
	    recv(connection, &note, sizeof(note), 0) != sizeof(note)) {
		/* A late answer would be taken for that to the next question. */
		close(connection);
		connection = -1;
		return 0;
	}
	return note.sender == sender && note.ms >= ms - RECENT_MS;
}
