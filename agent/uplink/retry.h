/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before the collector is tried again.  Pure but for its dice; simulated boards
   (tests/fleet) wait by the same. */
#ifndef UPLINK_RETRY_H
#define UPLINK_RETRY_H

#include <stdint.h>

/* All zero: nothing has failed yet, and nothing was said. */
struct retry {
  unsigned failures;   /* since the last success */
  uint64_t welcome_ns; /* when the session began, 0: there is none */
  uint64_t within_ns;  /* what the collector said of coming back; 0: nothing */
  uint64_t asked_ns;   /* the wait that a refusal asked for */
};

/* A session began at NOW_NS; WITHIN_MS is what its Welcome says of coming back, or 0. */
void retry_welcome(struct retry *retry, uint64_t now_ns, uint32_t within_ms);

/* The collector says anew within what time to come back (0: nothing new). */
void retry_told(struct retry *retry, uint32_t within_ms);

/* The collector refused this board and asked for AFTER_MS of patience. */
void retry_asked(struct retry *retry, uint32_t after_ms);

/* It worked. */
void retry_reset(struct retry *retry);

/* The attempt, or the session, has ended at NOW_NS.  Returns how many ns to wait: random from 50 ms
   to 2^n s, after n failures before this one, or, where the collector said within what time to come
   back, to that, at most 45 s, and from the sixth failure on to twice as much each time; what
   grows does so up to 20 s.  After a refusal that much later than it asked for. */
uint64_t retry_next_ns(struct retry *retry, uint64_t now_ns);

/* How long to send nothing when a batch was refused with AFTER_MS: that, at most a minute, and up
   to a quarter more. */
uint64_t retry_pause_ns(uint32_t after_ms);

#endif
