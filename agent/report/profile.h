/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of any number of batches, by address: the input of a report. */
#ifndef REPORT_PROFILE_H
#define REPORT_PROFILE_H

#include "batch_set.h"
#include "kept_names.h"
#include "sampler_list.h"

#include "common/arena.h"
#include "common/table.h"
#include "proto/batch.h"
#include "view/evidence.h"
#include "view/groups.h"

#include <stdbool.h>

enum {
  PROFILE_MODULES_MAX = 65536,
  PROFILE_FRAMES_MAX = 4000000,
  PROFILE_NODES_MAX = 4000000,
  PROFILE_RUNS_MAX = 4096,
};

struct profile_module {
  struct span id;
  const char *path;
  uint64_t size_bytes;
  enum module_kind kind;
  /* Set by module_labels.h: */
  const struct profile_module *twin; /* the next of the same build-id, in a ring; NULL: none */
  const char *shown;                 /* its name in tables; NULL: its file name */
  const char *build; /* set if modules of that name have functions at other addresses, else NULL */
};

struct profile_frame {
  uint64_t address;
  uint32_t module;
  uint32_t function;      /* for the code that names the frames: the outermost function */
  uint64_t count, weight; /* of samples right here; without count: of clocks */
};

/* A call path.  IS_LR: the parent is not a caller, but the target of the link register. */
struct profile_node {
  uint32_t parent; /* index of an earlier node, or BATCH_NONE */
  uint32_t frame;
  bool is_lr;
  uint64_t count, weight;
  uint64_t told_weight, untold_weight; /* of stack samples with and without MARK_ENDS_TOLD */
};

/* One run's counters, from its newest batch. */
struct profile_run {
  uint64_t seq;
  struct counters counters;
};

struct profile {
  struct arena arena;
  struct profile_module *modules;
  struct profile_frame *frames;
  struct profile_node *nodes;
  struct profile_run *runs;
  uint32_t module_count, frame_count, node_count, run_count;
  uint32_t module_room, frame_room, node_room, run_room;
  struct table by_module, by_frame, by_node;
  struct batch_set batches;
  struct kept_names kept_names;         /* from the files */
  const struct kept_names *other_names; /* of the profile it is compared with; borrowed, or NULL */
  unsigned places; /* enum place_part: the distinctions that its tree needs within functions */
  uint64_t seed;
  uint64_t count, weight;        /* totals */
  struct evidence evidence;      /* of the samples */
  struct groups groups;          /* weights of nodes by time group */
  uint64_t turned_run, shift_ms; /* run of the last batch; offset added to its times */
  bool has_no_groups;            /* some samples have no time, or there is no room */
  uint64_t start_walltime_ns, end_walltime_ns; /* 0: empty */
  uint32_t main_module;                        /* of the first target, or BATCH_NONE */
  uint32_t asked_mhz;                          /* requested rate of the first target */
  struct sampler_list samplers;
  bool is_recorder;          /* there are only the last samples of each thread */
  const char *exe, *service; /* of the first target, or "" */
  const char *why; /* why there are no samples, or no better sampler: the latest reason, or "" */
  uint32_t marks;  /* enum batch_mark, of any target */
};

/* Returns 0 or -errno; call profile_fini in either case. */
int profile_init(struct profile *profile);
void profile_fini(struct profile *profile);

/* Adds the samples and counters of BATCH, number SEQ of its run.  Returns 0, -EEXIST if it was
   added before, -EOVERFLOW over a limit, or -ENOMEM.  Earlier batches stay. */
int profile_add(struct profile *profile, const struct batch *batch, uint64_t seq);

/* Adds COUNT samples with a total of WEIGHT at ADDRESS of MODULE, without callers.  Returns as
   profile_add. */
int profile_add_leaf(struct profile *profile, const struct batch_module *module, uint64_t address,
                     uint64_t count, uint64_t weight);

/* Records TARGET (its module is a number of PROFILE's), if it is the first one, and adds SAMPLES to
   its sampler. */
void profile_note_target(struct profile *profile, const struct batch_target *target,
                         uint64_t samples);

/* Returns the last component of MODULE's path. */
const char *profile_module_name(const struct profile_module *module);

/* Returns the number of samples per second of the time that could be sampled, in thousandths; 0 if
   there are too few samples. */
uint32_t profile_achieved_mhz(const struct profile *profile);

/* Sums up the samples that the runs lost, by reason. */
void profile_loss(const struct profile *profile, uint64_t ret[LOSS_REASON_COUNT]);

#endif
