/* SPDX-License-Identifier: Apache-2.0 */
/* The back-off before the collector is tried again.  Pure except for random numbers; simulated
   boards (tests/fleet) use it too. */
#ifndef UPLINK_RETRY_H
#define UPLINK_RETRY_H

#include <stdint.h>

/* All-zero is the initial state. */
struct retry {
  unsigned failures;   /* since the last success */
  uint64_t welcome_ns; /* when the session began; 0: there is none */
  uint64_t within_ns;  /* the collector's reconnect window; 0: unknown */
  uint64_t asked_ns;   /* the wait that a rejection requested */
};

/* A session began at NOW_NS.  WITHIN_MS is the reconnect window in its Welcome, or 0. */
void retry_welcome(struct retry *retry, uint64_t now_ns, uint32_t within_ms);

/* Updates the collector's reconnect window (0: unchanged). */
void retry_told(struct retry *retry, uint32_t within_ms);

/* The collector rejected this board, with a requested wait of AFTER_MS. */
void retry_asked(struct retry *retry, uint32_t after_ms);

/* Resets the back-off after a success. */
void retry_reset(struct retry *retry);

/* The attempt or session ended at NOW_NS.  Returns the wait in ns: random between 50 ms and 2^n s,
   with n earlier failures, up to 20 s.  If the collector has sent a reconnect window, that is the
   upper end (at most 45 s); it doubles from the sixth failure on, up to 20 s.  A rejection's
   requested wait is added. */
uint64_t retry_next_ns(struct retry *retry, uint64_t now_ns);

/* The pause after a batch was rejected with AFTER_MS: that time, at most a minute, plus up to a
   quarter. */
uint64_t retry_pause_ns(uint32_t after_ms);

#endif
