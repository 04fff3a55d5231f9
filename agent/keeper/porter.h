/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's eye on the door: turns callers away at once while the worker does not answer it, so
   that a daemon that hangs costs a program's start nothing. */
#ifndef KEEPER_PORTER_H
#define KEEPER_PORTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  PORTER_LOOK_MS = 10,   /* between two looks at a caller who waits */
  PORTER_LOOKS = 15,     /* so many in a row, and nobody was let in: the worker hangs */
  PORTER_GRACE_MS = 2,   /* for a worker that hung to let somebody in */
  PORTER_CALLERS = 1024, /* turned away at once, at most */
};

/* Shared by keeper and worker, and kept while workers come and go. */
struct porter_tally {
  _Atomic uint64_t let_in;      /* callers, by the worker */
  _Atomic uint64_t turned_away; /* programs that go on unsampled, by either */
};

struct porter {
  int listener;               /* borrowed; non-blocking */
  struct porter_tally *tally; /* NULL: none could be had, and nobody is ever turned away */
  uint64_t let_in;            /* at the last look */
  uint64_t due_ms;            /* when to look again; 0: when somebody comes */
  unsigned looks;             /* in a row that found somebody waiting, nobody let in */
  bool is_hung;               /* the worker is */
};

void porter_open(struct porter *porter, int listener);
void porter_close(struct porter *porter);

/* Worker: one more caller was let in. */
void porter_note(struct porter_tally *tally);

/* CALLER, a socket of which nothing was read, is turned away: counts it when it is a program, which
   asks once.  Whoever has said nothing yet is taken for one. */
void porter_note_away(struct porter_tally *tally, int caller);
/* How many; TALLY may be NULL. */
uint64_t porter_turned_away(struct porter_tally *tally);

/* The descriptor to poll for POLLIN, or -1 while the next look is at a time. */
int porter_fd(const struct porter *porter);
/* At DUE_MS, or when the descriptor is readable. */
void porter_look(struct porter *porter, uint64_t now_ms);

/* What a look at NOW_MS decides when LET_IN is told and somebody waits or not: true when whoever
   waits is to be turned away.  Pure. */
bool porter_judge(struct porter *porter, bool is_waiting, uint64_t let_in, uint64_t now_ms);

#endif
