/* SPDX-License-Identifier: Apache-2.0 */
/* One window of samples as C structs: what the daemon fills, what the store reads.  The bytes are
   batch_codec's business, their layout is in WIRE.md. */
#ifndef PROTO_BATCH_H
#define PROTO_BATCH_H

#include "common/span.h"
#include "effort.h"
#include "loss.h"

#include <stdbool.h>
#include <stdint.h>

enum { BATCH_NONE = UINT32_MAX, BATCH_BOOT_ID_BYTES = 16 };

enum module_kind {
  MODULE_ELF = 0,    /* id is the build-id, or the SHA-256 of the file when it has none */
  MODULE_PSEUDO = 1, /* no file: path is its whole name, "[kernel]", "[vdso]", "[anon]" */
};

/* Whether records, A_COUNT of which weigh A_WEIGHT together and B_COUNT of which B_WEIGHT, differ
   at most by a factor of two each.  Others stay apart: a sum of theirs would not show how unlike
   they were, and so how little it tells.  What clocks told (no record) is like its own kind only.
 */
static inline bool batch_is_alike(uint64_t a_count, uint64_t a_weight, uint64_t b_count,
                                  uint64_t b_weight) {
  double a = (double)a_weight * (double)b_count, b = (double)b_weight * (double)a_count;
  return a <= 2 * b && b <= 2 * a;
}

enum sample_type {
  SAMPLE_CPU = 0, /* weight in nanoseconds of CPU time */
  /* The same, of a PC alone: the node's parent is no caller but where the link register (or the
     word at the stack pointer) pointed, less one; no parent: it pointed into no code, or is not
     known. */
  SAMPLE_CPU_LR = 1,
  SAMPLE_TYPE_COUNT
};

enum { SAMPLE_SET_CPU = 1 << SAMPLE_CPU | 1 << SAMPLE_CPU_LR }; /* a bit for each type */

/* What a reader must know of a target's window before believing its shares; bits, or'ed. */
enum batch_mark {
  MARK_LOCK_STEP_POSSIBLE = 1, /* runs in bursts shorter than the tick that its timer rides on */
  MARK_LOCK_STEP_LIKELY = 2,   /* and its bursts keep step with the tick */
  MARK_STACKS_CUT = 4,         /* some stacks are cut: of daemons that did not say which */
  MARK_WENT_ON = 8,            /* its processes went on when the recording ended */
  MARK_STALE_RATE = 16,        /* some threads cannot be given another rate or period */
  MARK_COARSE_BINS = 32,       /* counted in bins that may hold several functions */
  MARK_FULL_COUNTERS = 64,     /* some of its histogram's counters are full */
  MARK_PAUSED = 128,           /* holds [unsampled] time of while it was paused or switched off */
  MARK_LAST_MOMENTS = 256,     /* of a recorder that has come round: what was before is in none */
  MARK_ENDS_TOLD = 512,        /* no doubt: stacks without an end at their root are complete */
  MARK_NO_ROOM = 1024,         /* stacks of it have no room for a signal: not sampled by timer */
  MARK_UNREACHED = 2048,       /* threads or processes of it were reached by no sampler */
  MARK_SHORT_LIVES = 4096,     /* threads of a few periods, sampled at the ends of these alone */
  MARKS_KNOWN = 8191,          /* others, of newer boards, are ignored */
};

struct label {
  const char *name;
  const char *value;
};

#define PSEUDO_TOLD_SHARE 0.1 /* of all time: as much [kernel] or [unsampled] gets a reason */
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
  const char *why; /* why no better sampler was taken, and what is not sampled */
  uint32_t marks;  /* enum batch_mark */
};

struct batch_thread {
  uint32_t target;
  const char *name;
};
struct batch_node {
  uint32_t parent; /* index of an earlier node, or BATCH_NONE for a root */
  uint32_t module;
  uint64_t address; /* in the module's own ELF address space; 0 in pseudo modules */
};

struct batch_sample {
  uint32_t node;
  uint32_t thread;
  uint32_t type;
  uint64_t count; /* samples; 0: the weight is what clocks told of time that no sample explains */
  uint64_t weight;
};

/* All arrays are borrowed: from the open window when encoding, from the arena when decoded. */
struct batch {
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t start_boottime_ns, end_boottime_ns;
  uint64_t start_walltime_ns, end_walltime_ns;
  struct counters counters;
  struct effort effort; /* of the board, or nothing said */
  uint32_t cpus;        /* that the board may have, offline ones too; 0: not said (older boards) */
  uint32_t module_count, target_count, thread_count, node_count, sample_count;
  const struct batch_module *modules;
  const struct batch_target *targets;
  const struct batch_thread *threads;
  const struct batch_node *nodes; /* any order in which parents come first */
  const struct batch_sample *samples;
};

#endif
