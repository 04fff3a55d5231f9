/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated board's undelivered batches, and its counters. Unlike a spool it holds only numbers:
   a batch can be generated again at any time (variant.h).

     1 .. | in flight, or to be sent again | next .. closed: never sent | not over yet
          settled: acked, or dropped */
#ifndef FLEET_OUTBOX_H
#define FLEET_OUTBOX_H

#include "proto/limits.h"
#include "variant.h"

struct outbox_totals { /* cumulative, in records */
  uint64_t produced, ring_full, spool_full;
};

struct outbox_entry {
  uint64_t seq;
  struct tally tally;
  struct outbox_totals totals; /* up to this window */
  uint64_t sent_ns;            /* for the first time; 0: not yet */
  bool is_on_wire;
  bool is_acked;
};

struct outbox {
  struct variant variant; /* this board's; its seq is unused */
  uint64_t run;
  uint64_t closed; /* newest closed window */
  uint64_t next;   /* oldest that was never handed out */
  uint64_t limit;  /* maximum of pending windows, the oldest is dropped; 0: none */
  struct outbox_totals made, handed; /* up to `closed`, and before `next` */
  struct outbox_entry entries[LIMIT_IN_FLIGHT];
  unsigned count;
  uint64_t acked_batches, acked_records, acked_weight_ns, dropped_batches;
};

void outbox_init(struct outbox *outbox, const struct variant *variant, uint64_t run,
                 uint64_t limit);

/* Closes one more window. */
void outbox_close_window(struct outbox *outbox);

/* Returns the next entry to send, which is then in flight, or NULL if there is none. */
struct outbox_entry *outbox_next(struct outbox *outbox);

/* SEQ is stored. Returns its entry, valid until the next call, or NULL if SEQ was already acked. */
const struct outbox_entry *outbox_ack(struct outbox *outbox, uint64_t seq);

/* SEQ, or with 0 everything in flight, did not arrive and must be sent again. */
void outbox_rewind(struct outbox *outbox, uint64_t seq);

/* Batches that are on the wire. */
unsigned outbox_on_wire(const struct outbox *outbox);

/* Windows that wait or are in flight. */
uint64_t outbox_waiting(const struct outbox *outbox);

/* The run's books with TOTALS; `is_final` as the protocol has it. */
struct counters outbox_counters(const struct outbox *outbox, const struct outbox_totals *totals,
                                bool is_final);

#endif
