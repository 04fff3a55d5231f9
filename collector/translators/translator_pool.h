/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's translators, queried for names of modules without better names. */
#ifndef TRANSLATORS_TRANSLATOR_POOL_H
#define TRANSLATORS_TRANSLATOR_POOL_H

#include "symbol/symbol_index.h"

#include <stddef.h>

struct buf;
struct translator_pool;

enum {
  TRANSLATOR_PROCESSES_MAX = 4,          /* at once */
  TRANSLATOR_MODULES_MAX = 4096,         /* since the start */
  TRANSLATOR_OUTSTANDING_MAX = 1 << 16,  /* addresses that wait for an answer, over all modules */
  TRANSLATOR_CACHE_BYTES_MAX = 64 << 20, /* of answers */
  TRANSLATOR_NONE = UINT32_MAX,
};

/* Time limits of translators. All-zero: the defaults. */
struct translator_times {
  unsigned quiet_ms; /* without a byte in either direction; then it is ended as hung (30 s) */
  unsigned talk_ms;  /* for one whole exchange (120 s) */
  unsigned idle_ms;  /* an idle process is ended after this time (60 s), */
  unsigned life_ms;  /* or at this age (1 h) */
  unsigned retry_ms; /* after a failure, doubled each time up to 5 min (1 s) */
};

struct translator_parts {
  const char *rules_path;
  /* Writes the architecture of BOARD, "" if it is unknown. Any thread. */
  void (*arch_of)(void *context, const char *board, char *ret, size_t ret_len);
  void *context;
  struct translator_times times;
};

/* Reads the rules and starts the threads. The caller must ignore SIGPIPE. Returns 0, or -errno with
   "object: reason" in ERROR. */
int translator_pool_open(const struct translator_parts *parts, struct translator_pool **ret,
                         char *error, size_t error_len);

/* Ends all translators and frees POOL; NULL is allowed. */
void translator_pool_close(struct translator_pool *pool);

/* A module of a board, with its best file. */
struct translator_module {
  const char *board, *path;
  struct span id;
  const char *quality;    /* debug_quality_name of the file, "none" without one */
  const char *debug_path; /* "": no file */
  const uint8_t *sha256;  /* of the file, 32 bytes; NULL: no file */
};

/* Chooses the translator for MODULE. Returns a number for the calls below, constant for the same
   module, file and rule, or TRANSLATOR_NONE. Any thread. */
uint32_t translator_pool_choose(struct translator_pool *pool,
                                const struct translator_module *module);

/* Requests the unknown ones of COUNT ADDRESSES in MODULE, and waits until DEADLINE_NS of
   clock_monotonic_ns at most. Later answers are available to the next query. Any thread. */
void translator_pool_ask(struct translator_pool *pool, uint32_t module, const uint64_t *addresses,
                         uint32_t count, uint64_t deadline_ns);

/* Finds the functions at ADDRESS of MODULE, as symbol_index_chain does. Texts are valid until
   translator_pool_close. Returns their number, or -ENOENT. Any thread. */
int translator_pool_find(struct translator_pool *pool, uint32_t module, uint64_t address,
                         struct symbol_frame frames[SYMBOL_CHAIN_MAX]);

/* Counts an answer of MODULE that its own files contradict; call it at each use. Any thread. */
void translator_pool_refuse(struct translator_pool *pool, uint32_t module);

/* The state of a translated module. */
struct translator_state {
  const char *command; /* valid until translator_pool_close */
  char quality[16];    /* of its file when the translator was chosen */
  uint64_t told;       /* number of named addresses */
  char why[256];       /* reason of the last failure or contradiction; "": none */
};

/* Reports the translator of module ID. Returns 0, or -ENOENT if none was chosen. Any thread. */
int translator_pool_tell(struct translator_pool *pool, struct span id,
                         struct translator_state *ret);

/* Appends the pool's counters as text for Prometheus. Any thread. */
void translator_pool_metrics(struct translator_pool *pool, struct buf *ret);

#endif
