/* SPDX-License-Identifier: Apache-2.0 */
/* One thread with its event loop and its boards. All crews share the plan. */
#ifndef FLEET_CREW_H
#define FLEET_CREW_H

#include "faults.h"
#include "spans_of_time.h"
#include "variant.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

struct board;
struct ca;
struct ev_token_bucket_cfg;
struct event_base;

enum phase {
  PHASE_RUN,   /* windows close, faults happen */
  PHASE_DRAIN, /* no new windows or faults: pending batches are delivered */
  PHASE_CLOSE, /* boards send their last messages and leave */
};

struct plan {
  struct ca *ca;
  SSL_CTX *tls;
  struct sockaddr_storage address;
  socklen_t address_len;
  struct recordings recordings;
  struct faults faults;
  uint64_t seed;
  uint64_t window_ns;
  uint64_t backlog;     /* windows that every board has at the start */
  uint64_t age_ns;      /* all windows lie so far back */
  uint64_t ramp_ns;     /* boards connect one after the other within this time */
  uint64_t spool_limit; /* windows a board keeps; 0: all */
  uint64_t made_ns;     /* monotonic: before any board is made */
  uint64_t start_ns;    /* monotonic */
  bool has_windows;     /* boards go on measuring */
  bool is_prepared;     /* the backlog is encoded before the start */
  bool is_alone;        /* no batch refers to another */
  bool is_steady;       /* a board has one batch in flight, and the next may refer to it */
  _Atomic(enum phase) phase;
};

enum { CREW_SECONDS_MAX = 3600 };

/* Counters of one crew. Other threads read them after the crew's thread has ended, except the
   atomics. */
struct crew_figures {
  struct spans_of_time ack_times;    /* from the first time on the wire */
  struct spans_of_time window_times; /* from a window's end; not of the backlog */
  uint64_t acks, known_acks, rejects, refusals, pauses, connects, broken, timeouts;
  uint64_t sent_bytes, received_bytes;
  uint64_t referring; /* batches sent as a delta to the previous one, resends included */
  uint64_t faults[FAULT_COUNT];
  uint32_t
      welcomes[2][CREW_SECONDS_MAX]; /* first ones, and later ones; by the second since the start */
  atomic_uint_fast64_t acked;        /* batches, so far */
  atomic_uint unsettled;             /* boards with something left to send */
};

struct crew {
  struct plan *plan;           /* borrowed */
  uint32_t first, step, count; /* its boards: FIRST, FIRST + STEP, ... */
  struct event_base *loop;
  struct ev_token_bucket_cfg *slow; /* how FAULT_SLOW reads and writes */
  struct board **boards;
  struct variant_room room;
  struct buf out;
  struct crew_figures figures;
  pthread_t thread;
  pthread_barrier_t *ready; /* all crews have made their boards */
  int error;
  char why[256];
};

/* Starts the thread: it makes its boards, waits for READY and the start, and runs them until the
   phase is CLOSE and all of them have left.  Returns 0 or -errno. */
int crew_start(struct crew *crew);

/* Waits for the thread. */
void crew_join(struct crew *crew);

/* Prints a line of tab-separated truth for each board. */
void crew_print_truth(const struct crew *crew, FILE *file);
void crew_fini(struct crew *crew);

#endif
