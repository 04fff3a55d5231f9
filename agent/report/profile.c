/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of batches.

   A batch has its own numbers of modules, frames and nodes.  Here each module, each (module,
   address) and each call path is kept once.  So a sum of a thousand batches is hardly larger than
   one batch, and each frame is named once.  Names are added later, for all frames together: a
   translator then gets all its addresses at once.

   The decoder has checked all contents of a batch.  An untrusted batch can still be large; the
   limits in the header bound that. */
#include "profile.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/path.h"
#include "common/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TEXT_BYTES_MAX ((size_t)64 << 20)

enum { FIRST_ROOM = 256, ACHIEVED_SAMPLES_MIN = 50 };

/* Maps the modules and nodes of one batch to the profile's. */
struct translation {
  uint32_t *modules, *nodes;
  uint64_t *samples; /* by target */
};

int profile_init(struct profile *profile) {
  memset(profile, 0, sizeof *profile);
  arena_init(&profile->arena, TEXT_BYTES_MAX);
  profile->main_module = BATCH_NONE;
  profile->exe = profile->service = profile->why = "";
  int error = getrandom(&profile->seed, sizeof profile->seed, 0) < 0 ? -errno : 0;
  kept_names_init(&profile->kept_names, profile->seed);
  return error;
}

void profile_fini(struct profile *profile) {
  groups_fini(&profile->groups);
  table_fini(&profile->by_module);
  table_fini(&profile->by_frame);
  table_fini(&profile->by_node);
  batch_set_fini(&profile->batches);
  kept_names_fini(&profile->kept_names);
  free(profile->modules);
  free(profile->frames);
  free(profile->nodes);
  free(profile->runs);
  arena_fini(&profile->arena);
}

/* A copy that is safe for a terminal; "" if there is no room. */
static const char *keep_text(struct profile *profile, const char *text) {
  char *copy = arena_string(&profile->arena, text, strlen(text));
  if (copy != NULL) text_show(copy);
  return copy != NULL ? copy : "";
}

/* ---- modules ---- */

static bool is_same_module(const struct profile_module *a, const struct batch_module *b) {
  return a->kind == b->kind && span_is_equal(a->id, b->id) && strcmp(a->path, b->path) == 0;
}

static int add_module(struct profile *profile, const struct batch_module *module, uint64_t hash) {
  if (profile->module_count == PROFILE_MODULES_MAX) return -EOVERFLOW;
  void *more = array_grow(profile->modules, profile->module_count, &profile->module_room,
                          FIRST_ROOM, sizeof *profile->modules);
  if (more == NULL) return -ENOMEM;
  profile->modules = more;
  struct profile_module copy = {.size_bytes = module->size_bytes, .kind = module->kind};
  char *id = arena_string(&profile->arena, module->id.data, module->id.len);
  copy.id = span_of(id, module->id.len);
  copy.path = keep_text(profile, module->path);
  if (id == NULL || (copy.path[0] == '\0' && module->path[0] != '\0')) return -ENOMEM;
  profile->modules[profile->module_count] = copy;
  return table_add(&profile->by_module, hash, profile->module_count++);
}

static int intern_module(struct profile *profile, const struct batch_module *module,
                         uint32_t *ret) {
  uint64_t hash = table_hash(module->id.data, module->id.len, profile->seed);
  hash = table_hash(module->path, strlen(module->path), hash);
  uint32_t cursor, at = table_find(&profile->by_module, hash, &cursor);
  while (at != TABLE_NONE && !is_same_module(&profile->modules[at], module))
    at = table_next(&profile->by_module, hash, &cursor);
  *ret = at == TABLE_NONE ? profile->module_count : at;
  return at == TABLE_NONE ? add_module(profile, module, hash) : 0;
}

/* ---- frames ---- */

static int intern_frame(struct profile *profile, uint32_t module, uint64_t address, uint32_t *ret) {
  const uint64_t words[2] = {module, address};
  uint64_t hash = table_hash(words, sizeof words, profile->seed);
  uint32_t cursor, at = table_find(&profile->by_frame, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&profile->by_frame, hash, &cursor))
    if (profile->frames[at].address == address && profile->frames[at].module == module) break;
  *ret = at == TABLE_NONE ? profile->frame_count : at;
  if (at != TABLE_NONE) return 0;
  if (profile->frame_count == PROFILE_FRAMES_MAX) return -EOVERFLOW;
  void *more = array_grow(profile->frames, profile->frame_count, &profile->frame_room, FIRST_ROOM,
                          sizeof *profile->frames);
  if (more == NULL) return -ENOMEM;
  profile->frames = more;
  profile->frames[profile->frame_count] =
      (struct profile_frame){.address = address, .module = module};
  return table_add(&profile->by_frame, hash, profile->frame_count++);
}

/* ---- nodes ---- */

static bool is_same_node(const struct profile_node *a, const struct profile_node *b) {
  return a->parent == b->parent && a->frame == b->frame && a->is_lr == b->is_lr;
}

static int intern_node(struct profile *profile, const struct profile_node *node, uint32_t *ret) {
  const uint32_t words[3] = {node->parent, node->frame, node->is_lr};
  uint64_t hash = table_hash(words, sizeof words, profile->seed);
  uint32_t cursor, at = table_find(&profile->by_node, hash, &cursor);
  while (at != TABLE_NONE && !is_same_node(&profile->nodes[at], node))
    at = table_next(&profile->by_node, hash, &cursor);
  *ret = at == TABLE_NONE ? profile->node_count : at;
  if (at != TABLE_NONE) return 0;
  if (profile->node_count == PROFILE_NODES_MAX) return -EOVERFLOW;
  void *more = array_grow(profile->nodes, profile->node_count, &profile->node_room, FIRST_ROOM,
                          sizeof *profile->nodes);
  if (more == NULL) return -ENOMEM;
  profile->nodes = more;
  profile->nodes[profile->node_count] = *node;
  return table_add(&profile->by_node, hash, profile->node_count++);
}

static void add_weight(struct profile *profile, uint32_t node, uint64_t count, uint64_t weight) {
  struct profile_frame *frame = &profile->frames[profile->nodes[node].frame];
  profile->nodes[node].count += count;
  profile->nodes[node].weight += weight;
  frame->count += count;
  frame->weight += weight;
  profile->count += count;
  profile->weight += weight;
  struct evidence samples = {0, 0};
  evidence_add(&samples, count, weight);
  evidence_join(&profile->evidence, &samples);
  if (profile->has_no_groups) return;
  groups_add_evidence(&profile->groups, &samples);
  if (groups_add(&profile->groups, node, weight) != 0) profile->has_no_groups = true;
}

/* ---- batches ---- */

static int translate(struct profile *profile, const struct batch *batch, struct translation *to) {
  int error = 0;
  for (uint32_t i = 0; i < batch->module_count && error == 0; i++)
    error = intern_module(profile, &batch->modules[i], &to->modules[i]);
  for (uint32_t i = 0; i < batch->node_count && error == 0; i++) {
    const struct batch_node *from = &batch->nodes[i];
    struct profile_node node = {.parent = BATCH_NONE};
    if (from->parent != BATCH_NONE) node.parent = to->nodes[from->parent];
    error = intern_frame(profile, to->modules[from->module], from->address, &node.frame);
    if (error == 0) error = intern_node(profile, &node, &to->nodes[i]);
  }
  return error;
}

static int add_sample(struct profile *profile, const struct batch_sample *sample,
                      const struct translation *to, bool are_told) {
  uint32_t at = to->nodes[sample->node];
  int error = 0;
  if (sample->type == SAMPLE_CPU_LR) {
    struct profile_node node = {
        .parent = profile->nodes[at].parent, .frame = profile->nodes[at].frame, .is_lr = true};
    error = intern_node(profile, &node, &at);
  }
  if (error == 0 && (sample->type == SAMPLE_CPU || sample->type == SAMPLE_CPU_LR))
    add_weight(profile, at, sample->count, sample->weight);
  if (error != 0 || sample->type != SAMPLE_CPU || sample->count == 0) return error;
  struct profile_node *node = &profile->nodes[at];
  *(are_told ? &node->told_weight : &node->untold_weight) += sample->weight;
  return 0;
}

static int add_samples(struct profile *profile, const struct batch *batch, struct translation *to) {
  int error = translate(profile, batch, to);
  for (uint32_t i = 0; i < batch->sample_count && error == 0; i++) {
    const struct batch_sample *sample = &batch->samples[i];
    uint32_t target = batch->threads[sample->thread].target;
    to->samples[target] += sample->count;
    error = add_sample(profile, sample, to, (batch->targets[target].marks & MARK_ENDS_TOLD) != 0);
  }
  return error;
}

static int keep_books(struct profile *profile, const struct batch *batch, uint64_t seq) {
  uint32_t at = 0;
  while (at < profile->run_count && profile->runs[at].counters.run != batch->counters.run) at++;
  if (at == profile->run_count) {
    if (profile->run_count == PROFILE_RUNS_MAX) return -EOVERFLOW;
    void *more = array_grow(profile->runs, profile->run_count, &profile->run_room, FIRST_ROOM,
                            sizeof *profile->runs);
    if (more == NULL) return -ENOMEM;
    profile->runs = more;
    profile->runs[profile->run_count++] = (struct profile_run){.seq = 0};
  }
  struct profile_run *run = &profile->runs[at];
  if (seq < run->seq) return 0;
  *run = (struct profile_run){.seq = seq, .counters = batch->counters};
  return 0;
}

/* Keeps one copy for as long as the text is the same. */
static void keep_why(struct profile *profile, const char *why) {
  if (why != NULL && *why != '\0' && strcmp(why, profile->why) != 0)
    profile->why = keep_text(profile, why);
}

void profile_note_target(struct profile *profile, const struct batch_target *target,
                         uint64_t samples) {
  profile->marks |= target->marks;
  for (uint32_t i = 0; i < target->label_count; i++)
    profile->is_recorder |= strcmp(target->labels[i].name, "recorder") == 0;
  sampler_list_note(&profile->samplers, target, samples);
  keep_why(profile, target->why);
  if (profile->exe[0] != '\0') return;
  profile->exe = keep_text(profile, target->exe);
  profile->service = keep_text(profile, target->service);
  profile->asked_mhz = target->asked_mhz;
  profile->main_module = target->module;
}

static void note_targets(struct profile *profile, const struct batch *batch,
                         const struct translation *to) {
  for (uint32_t i = 0; i < batch->target_count; i++) {
    struct batch_target target = batch->targets[i];
    if (target.module != BATCH_NONE) target.module = to->modules[target.module];
    profile_note_target(profile, &target, to->samples[i]);
  }
}

static void note_times(struct profile *profile, const struct batch *batch) {
  if (batch->sample_count == 0) return;
  if (profile->start_walltime_ns == 0 || batch->start_walltime_ns < profile->start_walltime_ns)
    profile->start_walltime_ns = batch->start_walltime_ns;
  if (batch->end_walltime_ns > profile->end_walltime_ns)
    profile->end_walltime_ns = batch->end_walltime_ns;
}

/* Files are runs, which may be days apart.  The windows of each run are shifted to follow the
   previous run, so that time groups have the same length as in one file. */
static void turn(struct profile *profile, const struct batch *batch) {
  uint64_t start_ms = batch->start_walltime_ns / NS_PER_MS;
  uint64_t end_ms = batch->end_walltime_ns / NS_PER_MS;
  if (profile->groups.last_ms != 0 && batch->counters.run != profile->turned_run)
    profile->shift_ms = profile->groups.last_ms - start_ms; /* may wrap; the addition wraps back */
  profile->turned_run = batch->counters.run;
  groups_turn(&profile->groups, "", start_ms + profile->shift_ms, end_ms + profile->shift_ms);
}

int profile_add(struct profile *profile, const struct batch *batch, uint64_t seq) {
  int known = batch_set_add(&profile->batches, batch->counters.run, seq);
  if (known != 0) return known;
  struct translation to = {calloc(batch->module_count + 1, sizeof *to.modules),
                           calloc(batch->node_count + 1, sizeof *to.nodes),
                           calloc(batch->target_count + 1, sizeof *to.samples)};
  int error = to.modules == NULL || to.nodes == NULL || to.samples == NULL ? -ENOMEM : 0;
  turn(profile, batch);
  if (error == 0) error = add_samples(profile, batch, &to);
  if (error == 0) error = keep_books(profile, batch, seq);
  if (error == 0) {
    note_targets(profile, batch, &to);
    note_times(profile, batch);
  }
  free(to.modules);
  free(to.nodes);
  free(to.samples);
  return error;
}

int profile_add_leaf(struct profile *profile, const struct batch_module *module, uint64_t address,
                     uint64_t count, uint64_t weight) {
  struct profile_node node = {.parent = BATCH_NONE};
  uint32_t in, at;
  int error = intern_module(profile, module, &in);
  if (error == 0) error = intern_frame(profile, in, address, &node.frame);
  if (error == 0) error = intern_node(profile, &node, &at);
  profile->has_no_groups = true; /* the time is unknown */
  if (error == 0) add_weight(profile, at, count, weight);
  return error;
}

const char *profile_module_name(const struct profile_module *module) {
  return module->kind == MODULE_ELF ? path_name(module->path) : module->path;
}

/* A program's samplers see only user mode, so time in the kernel was not missed by them: it is
   [kernel] without a sample. */
uint32_t profile_achieved_mhz(const struct profile *profile) {
  uint64_t ns = profile->weight;
  for (uint32_t i = 0; i < profile->frame_count; i++) {
    const struct profile_frame *frame = &profile->frames[i];
    const char *path = profile->modules[frame->module].path;
    if (frame->count == 0 && strcmp(path, "[kernel]") == 0) ns -= frame->weight;
  }
  if (profile->count < ACHIEVED_SAMPLES_MIN || ns == 0) return 0;
  return (uint32_t)((double)profile->count * 1e12 / (double)ns);
}

void profile_loss(const struct profile *profile, uint64_t ret[LOSS_REASON_COUNT]) {
  memset(ret, 0, LOSS_REASON_COUNT * sizeof *ret);
  for (uint32_t i = 0; i < profile->run_count; i++)
    for (unsigned reason = 0; reason < LOSS_REASON_COUNT; reason++)
      ret[reason] += profile->runs[i].counters.dropped[reason];
}
