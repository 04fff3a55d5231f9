/* SPDX-License-Identifier: Apache-2.0 */
/* The counters follow a daemon's: produced = shipped + dropped at every moment. Batches beyond the
   limit are dropped oldest first, except those in flight. The collector may already have stored a
   batch in flight, which would then be both in the answers and among the losses. */
#include "outbox.h"

void outbox_init(struct outbox *outbox, const struct variant *variant, uint64_t run,
                 uint64_t limit) {
  *outbox = (struct outbox){.variant = *variant, .run = run, .limit = limit, .next = 1};
}

static struct tally tally_of(const struct outbox *outbox, uint64_t seq) {
  struct variant variant = outbox->variant;
  variant.seq = seq;
  return variant_tally(&variant);
}

static void add(struct outbox_totals *totals, const struct tally *tally) {
  totals->produced += tally->records + tally->lost;
  totals->ring_full += tally->lost;
}

static void drop_oldest(struct outbox *outbox) {
  struct tally tally = tally_of(outbox, outbox->next);
  add(&outbox->handed, &tally);
  outbox->handed.spool_full += tally.records;
  outbox->made.spool_full += tally.records;
  outbox->dropped_batches++;
  outbox->next++;
}

void outbox_close_window(struct outbox *outbox) {
  struct tally tally = tally_of(outbox, ++outbox->closed);
  add(&outbox->made, &tally);
  while (outbox->limit != 0 && outbox->closed + 1 - outbox->next > outbox->limit)
    drop_oldest(outbox);
}

static struct outbox_entry *hand_out(struct outbox *outbox) {
  if (outbox->count == LIMIT_IN_FLIGHT || outbox->next > outbox->closed) return NULL;
  struct outbox_entry *entry = &outbox->entries[outbox->count++];
  *entry = (struct outbox_entry){.seq = outbox->next, .tally = tally_of(outbox, outbox->next)};
  outbox->next++;
  add(&outbox->handed, &entry->tally);
  entry->totals = outbox->handed;
  return entry;
}

struct outbox_entry *outbox_next(struct outbox *outbox) {
  struct outbox_entry *entry = NULL;
  for (unsigned i = 0; i < outbox->count && entry == NULL; i++)
    if (!outbox->entries[i].is_on_wire && !outbox->entries[i].is_acked) entry = &outbox->entries[i];
  if (entry == NULL) entry = hand_out(outbox);
  if (entry != NULL) entry->is_on_wire = true;
  return entry;
}

static void slide(struct outbox *outbox) {
  unsigned gone = 0;
  while (gone < outbox->count && outbox->entries[gone].is_acked) gone++;
  outbox->count -= gone;
  memmove(outbox->entries, outbox->entries + gone, outbox->count * sizeof *outbox->entries);
}

const struct outbox_entry *outbox_ack(struct outbox *outbox, uint64_t seq) {
  static _Thread_local struct outbox_entry acked;
  for (unsigned i = 0; i < outbox->count; i++) {
    struct outbox_entry *entry = &outbox->entries[i];
    if (entry->seq != seq || entry->is_acked) continue;
    entry->is_acked = true;
    entry->is_on_wire = false;
    outbox->acked_batches++;
    outbox->acked_records += entry->tally.records;
    outbox->acked_weight_ns += entry->tally.weight_ns;
    acked = *entry;
    slide(outbox);
    return &acked;
  }
  return NULL;
}

void outbox_rewind(struct outbox *outbox, uint64_t seq) {
  for (unsigned i = 0; i < outbox->count; i++)
    if (seq == 0 || outbox->entries[i].seq == seq) outbox->entries[i].is_on_wire = false;
}

unsigned outbox_on_wire(const struct outbox *outbox) {
  unsigned count = 0;
  for (unsigned i = 0; i < outbox->count; i++) count += outbox->entries[i].is_on_wire;
  return count;
}

uint64_t outbox_waiting(const struct outbox *outbox) {
  uint64_t waiting = outbox->closed + 1 - outbox->next;
  for (unsigned i = 0; i < outbox->count; i++) waiting += !outbox->entries[i].is_acked;
  return waiting;
}

struct counters outbox_counters(const struct outbox *outbox, const struct outbox_totals *totals,
                                bool is_final) {
  struct counters counters = {
      .run = outbox->run,
      .produced = totals->produced,
      .shipped = totals->produced - totals->ring_full - totals->spool_full,
      .final = is_final,
  };
  counters.dropped[LOSS_RING_FULL] = totals->ring_full;
  counters.dropped[LOSS_SPOOL_FULL] = totals->spool_full;
  return counters;
}
