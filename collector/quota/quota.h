/* SPDX-License-Identifier: Apache-2.0 */
/* What one board may bring in 24 hours, so that no board takes disk, memory or time from the
   others. Any thread, all of it. */
#ifndef QUOTA_QUOTA_H
#define QUOTA_QUOTA_H

#include "proto/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct quotas;

#define QUOTAS(X)                                                                          \
  X(BYTES, "bytes")       /* of batches as they come */                                    \
  X(REFUSALS, "refusals") /* batches refused for good, for these too cost a durable row */ \
  X(SERIES, "series")     /* different (service, program, labels, thread name) */          \
  X(NODES, "nodes")       /* different nodes of call trees */                              \
  X(MODULES, "modules")   /* different build-ids, or paths of what has none */

enum quota {
#define X(name, text) QUOTA_##name,
  QUOTAS(X)
#undef X
      QUOTA_COUNT
};

struct quota_limits {
  uint64_t a_day[QUOTA_COUNT]; /* 0: no limit */
};

/* What is to be done with a batch. */
struct quota_verdict {
  enum quota quota;        /* that is used up */
  uint32_t retry_after_ms; /* keep it so long */
};

/* What is known of one board. */
struct quota_state {
  uint64_t limit[QUOTA_COUNT], used[QUOTA_COUNT]; /* of the last 24 hours, at most */
  uint64_t refused[QUOTA_COUNT];                  /* batches, since the start: for good */
  uint64_t delayed[QUOTA_COUNT];                  /* batches, told to come later */
};

const char *quota_name(enum quota quota);

/* Returns NULL when memory or random numbers ran out. */
struct quotas *quotas_new(const struct quota_limits *limits);
void quotas_free(struct quotas *quotas);

/* From now on. */
void quotas_set_limits(struct quotas *quotas, const struct quota_limits *limits);

/* A batch of BYTES has come from BOARD at NOW_NS (monotonic).  Returns whether it may be looked at;
   else RET says why not yet, and that is counted. */
bool quotas_take_bytes(struct quotas *quotas, const char *board, size_t bytes, uint64_t now_ns,
                       struct quota_verdict *ret);

/* BATCH of BOARD has been decoded.  Returns whether it may be stored; else RET->quota is used up
   and the batch would need more of it: it is refused for good or, where RET->retry_after_ms is not
   0, to come later.  That is counted. */
bool quotas_take_batch(struct quotas *quotas, const char *board, const struct batch *batch,
                       uint64_t now_ns, struct quota_verdict *ret);

/* A batch of BOARD was refused for good, for whatever reason. */
void quotas_count_refusal(struct quotas *quotas, const char *board, uint64_t now_ns);

/* Certificates that a board may have within one's life: it needs two, and more where an answer was
   lost or a root changed. */
enum { QUOTA_RENEWALS_A_LIFE = 8 };

/* BOARD asks at NOW_NS for a certificate that will live for LIFE_NS (not 0).  Returns whether it
   may have one: a bucket of QUOTA_RENEWALS_A_LIFE that fills evenly within LIFE_NS has one left,
   which is taken. */
bool quotas_take_renewal(struct quotas *quotas, const char *board, uint64_t life_ns,
                         uint64_t now_ns);

/* All zero but the limits for a board that was not heard of in 24 hours. */
void quotas_state(struct quotas *quotas, const char *board, uint64_t now_ns,
                  struct quota_state *ret);

/* Appends totals in Prometheus text form. */
void quotas_metrics(struct quotas *quotas, struct buf *ret);

#endif
