/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's accept guard: answers BUSY at once while the worker does not accept connections,
   so that a hung daemon does not delay the start of programs. */
#ifndef KEEPER_PORTER_H
#define KEEPER_PORTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  PORTER_LOOK_MS = 10,   /* between two checks of a pending connection */
  PORTER_LOOKS = 15,     /* consecutive checks without an accept: the worker hangs */
  PORTER_GRACE_MS = 2,   /* for a hung worker to accept a connection */
  PORTER_CALLERS = 1024, /* connections rejected at once, at most */
};

/* Shared by supervisor and worker, and kept across workers. */
struct porter_tally {
  _Atomic uint64_t let_in;      /* connections accepted by the worker */
  _Atomic uint64_t turned_away; /* programs that continue unsampled, by either process */
};

struct porter {
  int listener;               /* borrowed; non-blocking */
  struct porter_tally *tally; /* NULL: not available, and nothing is ever rejected */
  uint64_t let_in;            /* at the last check */
  uint64_t due_ms;            /* time of the next check; 0: when a connection is pending */
  unsigned looks;             /* consecutive checks with a pending connection and no accept */
  bool is_hung;               /* the worker hangs */
};

void porter_open(struct porter *porter, int listener);
void porter_close(struct porter *porter);

/* Worker: counts an accepted connection. */
void porter_note(struct porter_tally *tally);

/* Records the rejection of CALLER, a socket from which nothing was read.  Counts it if it is a
   program, which tries once.  A peer without data counts as a program. */
void porter_note_away(struct porter_tally *tally, int caller);
/* The number of rejected programs; TALLY may be NULL. */
uint64_t porter_turned_away(struct porter_tally *tally);

/* The descriptor to poll for POLLIN, or -1 while the next check is at a time. */
int porter_fd(const struct porter *porter);
/* Call at DUE_MS, or when the descriptor is readable. */
void porter_look(struct porter *porter, uint64_t now_ms);

/* The decision of a check at NOW_MS with the accept count LET_IN: true if the pending connection is
   to be rejected.  Pure. */
bool porter_judge(struct porter *porter, bool is_waiting, uint64_t let_in, uint64_t now_ms);

#endif
