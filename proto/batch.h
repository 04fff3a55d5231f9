/* SPDX-License-Identifier: Apache-2.0 */
/* One window of samples as C structs: filled by the daemon, read by the store. batch_codec converts
   it to bytes; WIRE.md has their layout. */
#ifndef PROTO_BATCH_H
#define PROTO_BATCH_H

#include "common/span.h"
#include "effort.h"
#include "loss.h"

#include <stdbool.h>
#include <stdint.h>

enum { BATCH_NONE = UINT32_MAX, BATCH_BOOT_ID_BYTES = 16 };

enum module_kind {
  MODULE_ELF = 0,    /* id is the build-id, or the SHA-256 of the file if it has none */
  MODULE_PSEUDO = 1, /* no file: path is the whole name, "[kernel]", "[vdso]", "[anon]" */
};

/* True if the average weights of two groups of records differ at most by a factor of two: A_COUNT
   records weigh A_WEIGHT together, and B_COUNT weigh B_WEIGHT. Other groups stay separate: their
   sum would hide the difference, and so how little it means. Time from clocks (without a record) is
   alike only to its own kind. */
static inline bool batch_is_alike(uint64_t a_count, uint64_t a_weight, uint64_t b_count,
                                  uint64_t b_weight) {
  double a = (double)a_weight * (double)b_count, b = (double)b_weight * (double)a_count;
  return a <= 2 * b && b <= 2 * a;
}

enum sample_type {
  SAMPLE_CPU = 0, /* weight in nanoseconds of CPU time */
  /* The same, from a PC alone. The node's parent is not a caller but the address in the link
     register (or the word at the stack pointer), minus one. No parent: that pointed into no code,
     or is unknown. */
  SAMPLE_CPU_LR = 1,
  SAMPLE_TYPE_COUNT
};

enum { SAMPLE_SET_CPU = 1 << SAMPLE_CPU | 1 << SAMPLE_CPU_LR }; /* a bit for each type */

/* Caveats for the shares of a target's window; bits, or'ed. */
enum batch_mark {
  MARK_LOCK_STEP_POSSIBLE = 1, /* runs in bursts shorter than the tick that drives its timer */
  MARK_LOCK_STEP_LIKELY = 2,   /* and its bursts are synchronized with the tick */
  MARK_STACKS_CUT = 4,         /* some stacks are truncated: from daemons that did not mark which */
  MARK_WENT_ON = 8,            /* its processes continued when the recording ended */
  MARK_STALE_RATE = 16,        /* some threads cannot get another rate or period */
  MARK_COARSE_BINS = 32,       /* counted in bins that may contain several functions */
  MARK_FULL_COUNTERS = 64,     /* some of its histogram's counters are full */
  MARK_PAUSED = 128,           /* has [unsampled] time from when it was paused or switched off */
  MARK_LAST_MOMENTS = 256,     /* of a recorder that has wrapped: earlier values are missing */
  MARK_ENDS_TOLD = 512,        /* a capability: stacks without an end at their root are complete */
  MARK_NO_ROOM = 1024,         /* some stacks lack room for a signal frame: not sampled by timer */
  MARK_UNREACHED = 2048,       /* no sampler reached some of its threads or processes */
  MARK_SHORT_LIVES = 4096,     /* threads of a few periods, sampled only at the ends of these */
  MARKS_KNOWN = 8191,          /* unknown marks, of newer boards, are ignored */
};

struct label {
  const char *name;
  const char *value;
};

#define PSEUDO_TOLD_SHARE 0.1 /* of all time: this much [kernel] or [unsampled] gets a reason */
struct batch_module {
  struct span id; /* empty for pseudo modules */
  const char *path;
  uint64_t size_bytes;
  enum module_kind kind;
};

struct batch_target {
  const char *service;
  const char *exe;
  uint32_t module; /* index, or BATCH_NONE */
  uint32_t label_count;
  const struct label *labels;
  const char *sampler;
  uint32_t asked_mhz; /* thousandths of a hertz */
  uint32_t achieved_mhz;
  const char *why; /* why no better sampler was chosen, and what is not sampled */
  uint32_t marks;  /* enum batch_mark */
};

struct batch_thread {
  uint32_t target;
  const char *name;
};
struct batch_node {
  uint32_t parent; /* index of an earlier node; BATCH_NONE: a root */
  uint32_t module;
  uint64_t address; /* in the module's own ELF address space; 0 in pseudo modules */
};

struct batch_sample {
  uint32_t node;
  uint32_t thread;
  uint32_t type;
  uint64_t count; /* samples; 0: the weight is time from clocks without a sample */
  uint64_t weight;
};

/* All arrays are borrowed: from the open window when encoding, from the arena when decoded. */
struct batch {
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t start_boottime_ns, end_boottime_ns;
  uint64_t start_walltime_ns, end_walltime_ns;
  struct counters counters;
  struct effort effort; /* of the board, or empty */
  uint32_t cpus; /* possible CPUs of the board, offline ones too; 0: unknown (older boards) */
  uint32_t module_count, target_count, thread_count, node_count, sample_count;
  const struct batch_module *modules;
  const struct batch_target *targets;
  const struct batch_thread *threads;
  const struct batch_node *nodes; /* any order with parents first */
  const struct batch_sample *samples;
};

#endif
