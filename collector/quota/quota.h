/* SPDX-License-Identifier: Apache-2.0 */
/* Limits for one board in 24 hours, so that no board takes disk, memory or time from the others.
   All functions: Any thread. */
#ifndef QUOTA_QUOTA_H
#define QUOTA_QUOTA_H

#include "proto/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct quotas;

#define QUOTAS(X)                                                                 \
  X(BYTES, "bytes")       /* of batches as received */                            \
  X(REFUSALS, "refusals") /* rejected batches; each costs a durable row */        \
  X(SERIES, "series")     /* different (service, program, labels, thread name) */ \
  X(NODES, "nodes")       /* different nodes of call trees */                     \
  X(MODULES, "modules")   /* different build-ids, or paths of modules without one */

enum quota {
#define X(name, text) QUOTA_##name,
  QUOTAS(X)
#undef X
      QUOTA_COUNT
};

struct quota_limits {
  uint64_t a_day[QUOTA_COUNT]; /* 0: no limit */
};

/* The decision about a batch. */
struct quota_verdict {
  enum quota quota;        /* the exhausted quota */
  uint32_t retry_after_ms; /* retry after this time */
};

/* The state of one board. */
struct quota_state {
  uint64_t limit[QUOTA_COUNT], used[QUOTA_COUNT]; /* of at most the last 24 hours */
  uint64_t refused[QUOTA_COUNT];                  /* rejected batches since the start */
  uint64_t delayed[QUOTA_COUNT];                  /* delayed batches */
};

const char *quota_name(enum quota quota);

/* Returns NULL if memory or random numbers ran out. */
struct quotas *quotas_new(const struct quota_limits *limits);
void quotas_free(struct quotas *quotas);

/* Replaces the limits from now on. */
void quotas_set_limits(struct quotas *quotas, const struct quota_limits *limits);

/* Counts a received batch of BYTES from BOARD at NOW_NS (monotonic). Returns whether it may be
   decoded; else RET has the reason, and the delay is counted. */
bool quotas_take_bytes(struct quotas *quotas, const char *board, size_t bytes, uint64_t now_ns,
                       struct quota_verdict *ret);

/* Checks the decoded BATCH of BOARD. Returns whether it may be stored; else it would exceed the
   exhausted RET->quota. If RET->retry_after_ms is 0, it is rejected, else delayed. Either is
   counted. */
bool quotas_take_batch(struct quotas *quotas, const char *board, const struct batch *batch,
                       uint64_t now_ns, struct quota_verdict *ret);

/* Counts a rejected batch of BOARD, whatever the reason. */
void quotas_count_refusal(struct quotas *quotas, const char *board, uint64_t now_ns);

/* Certificates that a board may have within the life of one: it needs two, and more if a response
   was lost or a root changed. */
enum { QUOTA_RENEWALS_A_LIFE = 8 };

/* Checks BOARD's request at NOW_NS for a certificate that will live for LIFE_NS (not 0). Returns
   whether a token bucket of QUOTA_RENEWALS_A_LIFE that fills evenly within LIFE_NS has one left,
   and takes it. */
bool quotas_take_renewal(struct quotas *quotas, const char *board, uint64_t life_ns,
                         uint64_t now_ns);

/* All zero except the limits for a board that was silent for 24 hours. */
void quotas_state(struct quotas *quotas, const char *board, uint64_t now_ns,
                  struct quota_state *ret);

/* Appends totals in Prometheus text form. */
void quotas_metrics(struct quotas *quotas, struct buf *ret);

#endif
