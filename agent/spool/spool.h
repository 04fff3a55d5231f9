/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of batches on disk for when the collector is unreachable: segment files of
   checksummed entries, oldest first.  Entries leave by ack, by a permanent reject (to quarantine),
   or by eviction at the byte limit, oldest first and counted. */
#ifndef SPOOL_SPOOL_H
#define SPOOL_SPOOL_H

#include "common/span.h"
#include "proto/loss.h"

#include <stdbool.h>
#include <stdint.h>

struct spool;

struct spool_limits {
  uint64_t bytes_max;        /* all segments together */
  uint64_t segment_bytes;    /* a larger segment is closed */
  uint64_t sync_interval_ns; /* the longest time that an unacked entry may wait for fdatasync */
  uint64_t memory_bytes;     /* kept in memory while the disk rejects writes; 0: none */
};

/* Called for each entry that leaves unsent: RECORDS records of RUN were lost for REASON. */
typedef void spool_on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records);

/* Called for each entry that the collector has acked (REFUSAL is NULL) or refused permanently. */
typedef void spool_on_answer(void *context, uint64_t run, uint64_t seq, const char *refusal);

struct spool_item {
  uint64_t run, seq, records;
  uint32_t raw_len;
  struct span zstd; /* valid until the next call on the spool */
};

/* Opens and locks DIR, reads its contents, and truncates torn tails.  DIR is created if it is
   missing.  If the disk rejects that, it is created later, and memory is used until then.  An
   unreadable segment is renamed to *.corrupt as soon as its valid entries have left; its known
   losses are reported as LOSS_SPOOL_CORRUPT, once.  Returns 0, -EBUSY if another process has DIR,
   or -errno. */
int spool_open(const char *dir, const struct spool_limits *limits, spool_on_loss *on_loss,
               void *context, struct spool **ret);
/* Sets ON_ANSWER, which gets the context of spool_open. */
void spool_hear_answers(struct spool *spool, spool_on_answer *on_answer);
/* Syncs first. Entries in memory are written to the disk, or reported as LOSS_SPOOL_ERROR. */
void spool_close(struct spool *spool);

/* Appends one batch; at the limit the oldest are evicted.  If the disk rejects it, it is kept in
   memory, which also evicts the oldest (LOSS_SPOOL_ERROR).  Returns 0, or -errno if neither has it
   (the caller counts it). */
int spool_append(struct spool *spool, const struct spool_item *item);

/* The newest seq of RUN that was ever appended and is known here, 0 if none.  A restarted worker
   uses it to determine whether its predecessor's last append was completed. */
uint64_t spool_last_seq(const struct spool *spool, uint64_t run);

/* Returns the next entry since the last rewind in RET.  Returns 0 or -ENOENT. */
int spool_next(struct spool *spool, struct spool_item *ret);
void spool_rewind(struct spool *spool); /* repeat all entries that are not acked */

/* The collector has the entry. Unknown entries are ignored. */
void spool_ack(struct spool *spool, uint64_t run, uint64_t seq);
/* The collector refused the entry permanently: it is moved to quarantine (bounded), and counted as
   LOSS. */
struct spool_refusal {
  uint64_t run, seq;
  enum loss_reason loss; /* LOSS_REJECTED, or the collector's own reason */
  const char *reason;
};
void spool_reject(struct spool *spool, const struct spool_refusal *refusal);

/* Starts to sync appended entries if the interval has passed and some are not acked; does not wait
   for the disk.  With MUST_WAIT, starts at once and waits until the disk has them or has failed. */
void spool_sync(struct spool *spool, bool must_wait);

struct spool_figures {
  uint64_t entries, records, bytes;                      /* pending */
  uint64_t first_run, first_seq;                         /* oldest pending, 0 if none */
  uint64_t bytes_written, syncs;                         /* since open */
  uint64_t day_bytes, day_syncs;                         /* flash wear in the last 24 hours */
  uint64_t memory_entries, memory_records, memory_bytes; /* pending, but not on the disk */
  uint64_t corrupt_segments, torn_tails, quarantined, failed_syncs;
  const char *refusal; /* reason of the last spool_reject, borrowed; "": none */
  int last_error;      /* of the last append that the disk rejected, 0 after a success */
};
void spool_figures(const struct spool *spool, struct spool_figures *ret);

/* Returns the number of pending records of RUN. */
uint64_t spool_records_of(const struct spool *spool, uint64_t run);
/* Returns how many of them are only in memory: these are lost with the process. */
uint64_t spool_unsaved_of(const struct spool *spool, uint64_t run);
/* Returns whether a batch of another run than RUN is pending. */
bool spool_has_others(const struct spool *spool, uint64_t run);

#endif
