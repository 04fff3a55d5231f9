/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of the operator's, asked for the names of modules that nothing better is known of. */
#ifndef TRANSLATORS_TRANSLATOR_POOL_H
#define TRANSLATORS_TRANSLATOR_POOL_H

#include "symbol/symbol_index.h"

#include <stddef.h>

struct buf;
struct translator_pool;

enum {
  TRANSLATOR_PROCESSES_MAX = 4,          /* at once */
  TRANSLATOR_MODULES_MAX = 4096,         /* ever asked about */
  TRANSLATOR_OUTSTANDING_MAX = 1 << 16,  /* addresses that wait for an answer, over all modules */
  TRANSLATOR_CACHE_BYTES_MAX = 64 << 20, /* of answers */
  TRANSLATOR_NONE = UINT32_MAX,
};

/* How long translators get.  All-zero: the usual. */
struct translator_times {
  unsigned quiet_ms; /* without a byte in either direction; then it hangs and is ended (30 s) */
  unsigned talk_ms;  /* for one exchange in all (120 s) */
  unsigned idle_ms;  /* a process that stays is ended when nobody asks (60 s), */
  unsigned life_ms;  /* or at this age (1 h) */
  unsigned retry_ms; /* after a failure, doubled each time up to 5 min (1 s) */
};

struct translator_parts {
  const char *rules_path;
  /* Tells the arch of BOARD, "" where it is not known.  Any thread. */
  void (*arch_of)(void *context, const char *board, char *ret, size_t ret_len);
  void *context;
  struct translator_times times;
};

/* Reads the rules and starts the threads that talk.  SIGPIPE is ignored by the caller.  Returns 0,
   or -errno with "what: why" in ERROR. */
int translator_pool_open(const struct translator_parts *parts, struct translator_pool **ret,
                         char *error, size_t error_len);

/* Ends all translators and frees POOL; NULL is fine. */
void translator_pool_close(struct translator_pool *pool);

/* A module as a board has it, and the best file that is there for it. */
struct translator_module {
  const char *board, *path;
  struct span id;
  const char *quality;    /* debug_quality_name of the file, "none" without one */
  const char *debug_path; /* "": no file */
  const uint8_t *sha256;  /* of the file, 32 bytes; NULL: no file */
};

/* Chooses who translates MODULE.  Returns a number for the calls below, for ever the same while
   module, file and rule are, or TRANSLATOR_NONE.  Any thread. */
uint32_t translator_pool_choose(struct translator_pool *pool,
                                const struct translator_module *module);

/* Has what is not known yet of COUNT ADDRESSES in MODULE asked for, and waits for it until
   DEADLINE_NS of clock_monotonic_ns at most; what comes later is there the next time.  Any thread.
 */
void translator_pool_ask(struct translator_pool *pool, uint32_t module, const uint64_t *addresses,
                         uint32_t count, uint64_t deadline_ns);

/* Finds the functions at ADDRESS of MODULE, as symbol_index_chain does; texts are valid until
   translator_pool_close.  Returns their number, or -ENOENT.  Any thread. */
int translator_pool_find(struct translator_pool *pool, uint32_t module, uint64_t address,
                         struct symbol_frame frames[SYMBOL_CHAIN_MAX]);

/* Notes that an answer of MODULE is not believed, since its own files know better; each time anew.
   Any thread. */
void translator_pool_refuse(struct translator_pool *pool, uint32_t module);

/* What is known of a translated module. */
struct translator_state {
  const char *command; /* until translator_pool_close */
  char quality[16];    /* of its file, when the translator was chosen */
  uint64_t told;       /* addresses that it has named */
  char why[256];       /* why it failed last, or is not believed; "": neither */
};

/* Tells who translates the module ID.  Returns 0, or -ENOENT when nobody has been chosen.  Any
   thread. */
int translator_pool_tell(struct translator_pool *pool, struct span id,
                         struct translator_state *ret);

/* Appends what the pool has done and has in hand, as text for Prometheus.  Any thread. */
void translator_pool_metrics(struct translator_pool *pool, struct buf *ret);

#endif
