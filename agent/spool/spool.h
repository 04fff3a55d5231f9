/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of batches on disk while the collector is away: segment files of checksummed
   entries, oldest first.  Entries leave by ack, by a permanent reject (to quarantine), or, when the
   byte limit is reached, oldest first and counted. */
#ifndef SPOOL_SPOOL_H
#define SPOOL_SPOOL_H

#include "common/span.h"
#include "proto/loss.h"

#include <stdbool.h>
#include <stdint.h>

struct spool;

struct spool_limits {
  uint64_t bytes_max;        /* all segments together */
  uint64_t segment_bytes;    /* a new segment is begun past this */
  uint64_t sync_interval_ns; /* the longest time that an unacked entry may wait for fdatasync */
  uint64_t memory_bytes;     /* kept in memory while the disk takes nothing; 0: nothing is */
};

/* Told of each entry that leaves unsent: RECORDS records of RUN were lost for REASON. */
typedef void spool_on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records);

/* Told of each entry that the collector has (REFUSAL is NULL) or refused for good. */
typedef void spool_on_answer(void *context, uint64_t run, uint64_t seq, const char *refusal);

struct spool_item {
  uint64_t run, seq, records;
  uint32_t raw_len;
  struct span zstd; /* valid until the next call on the spool */
};

/* Opens DIR (made when absent; when the disk refuses that, made later, and memory serves until
   then), locks it, reads what is there, cuts torn tails.  A segment that does not read back is set
   aside as *.corrupt as soon as what is good in it has left; what is known to be lost with it is
   told as LOSS_SPOOL_CORRUPT, once.  Returns 0, -EBUSY when another process has DIR, or -errno. */
int spool_open(const char *dir, const struct spool_limits *limits, spool_on_loss *on_loss,
               void *context, struct spool **ret);
/* ON_ANSWER gets the context of spool_open. */
void spool_hear_answers(struct spool *spool, spool_on_answer *on_answer);
/* Syncs first; what is in memory goes to the disk, or is told as LOSS_SPOOL_ERROR. */
void spool_close(struct spool *spool);

/* Appends one batch; older ones make room when the limit is reached.  What the disk refuses is kept
   in memory, where older ones make room, too (LOSS_SPOOL_ERROR).  Returns 0, or -errno when neither
   has it (the caller counts it). */
int spool_append(struct spool *spool, const struct spool_item *item);

/* Newest seq of RUN that was ever appended and is known here, 0 when none: how a restarted worker
   learns whether its predecessor's last append happened. */
uint64_t spool_last_seq(const struct spool *spool, uint64_t run);

/* Yields the next entry not yet handed out since the last rewind.  Returns 0 or -ENOENT. */
int spool_next(struct spool *spool, struct spool_item *ret);
void spool_rewind(struct spool *spool); /* hand out everything that is not acked again */

/* The collector has it (or had it).  Unknown entries are ignored. */
void spool_ack(struct spool *spool, uint64_t run, uint64_t seq);
/* The collector refused it for good: moved to quarantine (bounded), counted as LOSS. */
struct spool_refusal {
  uint64_t run, seq;
  enum loss_reason loss; /* LOSS_REJECTED, or what the collector calls it */
  const char *reason;
};
void spool_reject(struct spool *spool, const struct spool_refusal *refusal);

/* Begins to sync what was appended when the interval has passed and something of it is not acked,
   and does not wait for the disk; with MUST_WAIT at once, until the disk has it or has failed. */
void spool_sync(struct spool *spool, bool must_wait);

struct spool_figures {
  uint64_t entries, records, bytes;                      /* waiting */
  uint64_t first_run, first_seq;                         /* oldest waiting, 0 when none */
  uint64_t bytes_written, syncs;                         /* since open */
  uint64_t day_bytes, day_syncs;                         /* flash wear in the last 24 hours */
  uint64_t memory_entries, memory_records, memory_bytes; /* of those that wait: not on the disk */
  uint64_t corrupt_segments, torn_tails, quarantined, failed_syncs;
  const char *refusal; /* why spool_reject was called last, borrowed; "": it was not */
  int last_error;      /* of the last append that the disk refused, 0 when it took the last */
};
void spool_figures(const struct spool *spool, struct spool_figures *ret);

/* How many of the records that wait are RUN's. */
uint64_t spool_records_of(const struct spool *spool, uint64_t run);
/* Those of them that are in memory alone: they die with the process. */
uint64_t spool_unsaved_of(const struct spool *spool, uint64_t run);
/* Whether a batch of another run than RUN waits. */
bool spool_has_others(const struct spool *spool, uint64_t run);

#endif
