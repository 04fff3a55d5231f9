/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of any number of batches, still in addresses: what a report is made from. */
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
  /* As module_labels.h sets them: */
  const struct profile_module *twin; /* the next of the same build-id, in a ring; NULL: none */
  const char *shown;                 /* what tables call it; NULL: its file name */
  const char *build; /* where others of that name have functions at other places, else NULL */
};

struct profile_frame {
  uint64_t address;
  uint32_t module;
  uint32_t function;      /* free for whoever names the frames: the outermost one */
  uint64_t count, weight; /* of samples taken right here; none: what clocks told */
};

/* A call path.  IS_LR: its parent is not a caller but where the link register pointed. */
struct profile_node {
  uint32_t parent; /* index of an earlier node, or BATCH_NONE */
  uint32_t frame;
  bool is_lr;
  uint64_t count, weight;
  uint64_t told_weight, untold_weight; /* of samples of stacks: MARK_ENDS_TOLD or not */
};

/* One run's books, as its newest batch told them. */
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
  struct kept_names kept_names;         /* that the files brought along */
  const struct kept_names *other_names; /* of what it is compared with; borrowed, or NULL */
  unsigned places; /* enum place_part: what its tree is to tell apart within functions */
  uint64_t seed;
  uint64_t count, weight;        /* of all */
  struct evidence evidence;      /* of the samples */
  struct groups groups;          /* of the weights of nodes: stretches of time */
  uint64_t turned_run, shift_ms; /* of the last batch; what its times are put off by */
  bool has_no_groups;            /* some have no time, or there is no room */
  uint64_t start_walltime_ns, end_walltime_ns; /* 0: empty */
  uint32_t main_module;                        /* of the first target, or BATCH_NONE */
  uint32_t asked_mhz;                          /* of the first target */
  struct sampler_list samplers;
  bool is_recorder;          /* there are the last samples of each thread alone */
  const char *exe, *service; /* of the first target, "" */
  const char *why;           /* nothing was sampled, or not by better: as last told, "" */
  uint32_t marks;            /* enum batch_mark, of any target */
};

/* Returns 0 or -errno; fini in either case. */
int profile_init(struct profile *profile);
void profile_fini(struct profile *profile);

/* Adds the samples and the books of BATCH, the SEQth of its run.  Returns 0, -EEXIST when it was
   added before, -EOVERFLOW over a limit, or -ENOMEM; what was added before stays. */
int profile_add(struct profile *profile, const struct batch *batch, uint64_t seq);

/* Adds COUNT samples of WEIGHT together at ADDRESS of MODULE, without callers.  Returns as above.
 */
int profile_add_leaf(struct profile *profile, const struct batch_module *module, uint64_t address,
                     uint64_t count, uint64_t weight);

/* Remembers TARGET (its module is a number of PROFILE's) when it is the first that is told of, and
   who took SAMPLES of it. */
void profile_note_target(struct profile *profile, const struct batch_target *target,
                         uint64_t samples);

/* Returns the last part of MODULE's path: how people call it. */
const char *profile_module_name(const struct profile_module *module);

/* Returns how many samples there are for a second of the time that could be sampled, in
   thousandths; 0 when there are too few to tell. */
uint32_t profile_achieved_mhz(const struct profile *profile);

/* Sums up what the runs lost, by reason. */
void profile_loss(const struct profile *profile, uint64_t ret[LOSS_REASON_COUNT]);

#endif
