/* SPDX-License-Identifier: Apache-2.0 */
/* The file is untrusted and may have been through a power cut. The readers of agent/ring check its
   values, and sums are checked here.

     image table -> modules, target, boot and time of the batch
     the counts (postmortem_recorder.c, postmortem_histogram.c)
                 -> (module, address) -> node           no parent: the caller is unknown
                    (node, thread) -> sample, weight in nanoseconds */
#include "postmortem.h"
#include "postmortem_parts.h"

#include "common/text.h"
#include "proto/limits.h"
#include "ring/ring_clock.h"
#include "ring/ring_format.h"
#include "ring/wide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_NS_MAX 60000000000ULL

enum {
  PSEUDO_MODULES = 2,
  NODES_MAX = LIMIT_BATCH_NODES - PSEUDO_MODULES, /* further places are [unknown] */
};

uint32_t postmortem_unknown(const struct postmortem *left) {
  return left->image->module_count;
}

uint32_t postmortem_unsampled(const struct postmortem *left) {
  return left->image->module_count + 1;
}

static char *keep_text(struct postmortem *left, const char *text, size_t max) {
  char *copy = arena_string(left->arena, text, strnlen(text, max));
  if (copy != NULL) text_clean(copy);
  return copy;
}

/* The modules of the image, in their order, and the pseudo modules. */
static int make_modules(struct postmortem *left) {
  const struct image_table *image = left->image;
  struct batch_module *modules =
      arena_array(left->arena, image->module_count + PSEUDO_MODULES, sizeof *modules);
  if (modules == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < image->module_count; i++) {
    const struct image_module *from = &image->modules[i];
    const char *id = arena_string(left->arena, from->id, from->id_len);
    if (id == NULL) return -ENOMEM;
    modules[i] = (struct batch_module){.id = span_of(id, from->id_len),
                                       .path = keep_text(left, from->path, LIMIT_PATH_BYTES),
                                       .size_bytes = from->size_bytes & INT64_MAX,
                                       .kind = from->id_len > 0 ? MODULE_ELF : MODULE_PSEUDO};
    if (modules[i].path == NULL) return -ENOMEM;
  }
  modules[postmortem_unknown(left)] =
      (struct batch_module){.path = "[unknown]", .kind = MODULE_PSEUDO};
  modules[postmortem_unsampled(left)] =
      (struct batch_module){.path = "[unsampled]", .kind = MODULE_PSEUDO};
  left->batch.modules = modules;
  left->batch.module_count = image->module_count + PSEUDO_MODULES;
  return 0;
}

/* Parses the next label of "k=v\nk=v"; returns the text after it. */
static const char *take_label(struct postmortem *left, const char *text, struct label *ret) {
  size_t len = strcspn(text, "\n");
  const char *equals = memchr(text, '=', len);
  *ret = (struct label){NULL, NULL};
  if (equals != NULL && equals > text) {
    size_t name_len = (size_t)(equals - text), value_len = len - name_len - 1;
    char *name =
        arena_string(left->arena, text, name_len < LIMIT_NAME_BYTES ? name_len : LIMIT_NAME_BYTES);
    char *value = arena_string(left->arena, equals + 1,
                               value_len < LIMIT_VALUE_BYTES ? value_len : LIMIT_VALUE_BYTES);
    if (name != NULL) text_clean(name);
    if (value != NULL) text_clean(value);
    if (name != NULL && value != NULL) *ret = (struct label){name, value};
  }
  return text + len + (text[len] == '\n');
}

static uint32_t find_exe(const struct postmortem *left) {
  const struct image_table *image = left->image;
  for (uint32_t i = 0; i < image->module_count; i++)
    if (image->modules[i].id_len > 0 && strcmp(image->modules[i].path, image->exe) == 0) return i;
  return BATCH_NONE;
}

static int make_target(struct postmortem *left) {
  const struct image_table *image = left->image;
  struct batch_target *target = arena_array(left->arena, 1, sizeof *target);
  struct label *labels = arena_array(left->arena, LIMIT_LABELS, sizeof *labels);
  if (target == NULL || labels == NULL) return -ENOMEM;
  uint32_t count = 0;
  if (left->is_last_moments) labels[count++] = (struct label){POSTMORTEM_LABEL, POSTMORTEM_VALUE};
  for (const char *text = image->labels; *text != '\0' && count < LIMIT_LABELS;) {
    text = take_label(left, text, &labels[count]);
    if (labels[count].name != NULL && strcmp(labels[count].name, POSTMORTEM_LABEL) != 0) count++;
  }
  *target = (struct batch_target){.service = keep_text(left, image->service, LIMIT_NAME_BYTES),
                                  .exe = keep_text(left, image->exe, LIMIT_PATH_BYTES),
                                  .module = find_exe(left),
                                  .label_count = count,
                                  .labels = labels,
                                  .sampler = ring_clock_sampler(left->clock),
                                  .asked_mhz = image_rate_mhz(image),
                                  .why = left->is_last_moments ? "recorder" : ""};
  if (target->service == NULL || target->exe == NULL) return -ENOMEM;
  if (target->service[0] == '\0') target->service = "unknown";
  left->batch.targets = left->target = target;
  left->batch.target_count = 1;
  return 0;
}

static int find_node(struct postmortem *left, const struct batch_node *place, uint32_t *ret) {
  struct batch_node wanted = *place;
  bool is_pseudo = place->module >= left->image->module_count;
  wanted.parent = BATCH_NONE;
  if (left->batch.node_count >= NODES_MAX && !is_pseudo)
    wanted = (struct batch_node){.parent = BATCH_NONE, .module = postmortem_unknown(left)};
  uint64_t key = wanted.address * 0x9e3779b97f4a7c15ULL ^ wanted.module;
  uint32_t cursor;
  for (uint32_t at = table_find(&left->by_place, key, &cursor); at != TABLE_NONE;
       at = table_next(&left->by_place, key, &cursor)) {
    *ret = at;
    if (left->nodes[at].module == wanted.module && left->nodes[at].address == wanted.address)
      return 0;
  }
  *ret = left->batch.node_count;
  if (table_add(&left->by_place, key, *ret) < 0) return -ENOMEM;
  left->nodes[left->batch.node_count++] = wanted;
  return 0;
}

static int find_sample(struct postmortem *left, uint32_t node, const struct postmortem_sample *of,
                       struct batch_sample **ret) {
  uint64_t key = (uint64_t)node << 32 | of->thread;
  uint32_t cursor, at = table_find(&left->by_thread, key, &cursor);
  if (at == TABLE_NONE) {
    at = left->batch.sample_count;
    if (at == left->sample_room) return -ENOMEM;
    if (table_add(&left->by_thread, key, at) < 0) return -ENOMEM;
    left->samples[at] = (struct batch_sample){.node = node, .thread = of->thread, .type = of->type};
    left->batch.sample_count++;
  }
  *ret = &left->samples[at];
  return 0;
}

int postmortem_add(struct postmortem *left, const struct postmortem_sample *sample) {
  struct batch_sample *at;
  uint32_t node;
  if (sample->units > (POSTMORTEM_SPAN_NS_MAX - left->weight_ns) / left->unit_ns) return -EBADMSG;
  int error = find_node(left, &sample->place, &node);
  if (!error) error = find_sample(left, node, sample, &at);
  if (error) return error;
  uint64_t weight_ns = sample->units * left->unit_ns;
  at->count += sample->count;
  at->weight += weight_ns;
  left->weight_ns += weight_ns;
  return 0;
}

int postmortem_add_thread(struct postmortem *left, const char *name, uint32_t *ret) {
  char *copy = keep_text(left, name, LIMIT_NAME_BYTES);
  if (copy == NULL) return -ENOMEM;
  *ret = left->batch.thread_count++;
  left->threads[*ret] = (struct batch_thread){0, copy};
  return 0;
}

static int make_room(struct postmortem *left, const struct postmortem_room *room) {
  struct arena *arena = left->arena;
  uint64_t nodes = room->places + PSEUDO_MODULES, samples = nodes * room->threads;
  if (nodes > LIMIT_BATCH_NODES) nodes = LIMIT_BATCH_NODES;
  if (samples > LIMIT_BATCH_SAMPLES) samples = LIMIT_BATCH_SAMPLES;
  left->sample_room = (uint32_t)samples;
  left->nodes = arena_array(arena, (size_t)nodes, sizeof *left->nodes);
  left->samples = arena_array(arena, (size_t)samples, sizeof *left->samples);
  left->threads = arena_array(arena, (size_t)room->threads, sizeof *left->threads);
  left->batch.nodes = left->nodes;
  left->batch.samples = left->samples;
  left->batch.threads = left->threads;
  return left->nodes && left->samples && left->threads ? 0 : -ENOMEM;
}

int postmortem_begin(struct postmortem *left, const struct postmortem_room *room) {
  int error = make_modules(left);
  if (!error) error = make_target(left);
  return error ? error : make_room(left, room);
}

static uint64_t at_most(uint64_t time_ns) {
  return time_ns < POSTMORTEM_SPAN_NS_MAX ? time_ns : POSTMORTEM_SPAN_NS_MAX;
}

void postmortem_set_times(struct postmortem *left, uint64_t span_ns) {
  const struct image_table *image = left->image;
  struct batch *batch = &left->batch;
  uint64_t alive = at_most(wide_peek(&image->alive_boottime_ns));
  uint64_t wall = at_most(wide_peek(&image->alive_walltime_ns));
  uint64_t age = alive > image->start_boottime_ns ? alive - image->start_boottime_ns : 0;
  uint64_t span = span_ns < age ? span_ns : age;
  memcpy(batch->boot_id, image->boot_id, sizeof batch->boot_id);
  batch->end_boottime_ns = alive;
  batch->start_boottime_ns = alive - span;
  batch->end_walltime_ns = wall;
  batch->start_walltime_ns = wall > span ? wall - span : 0;
}

int postmortem_read(const void *ring, size_t size, struct arena *arena, struct batch *ret) {
  struct postmortem left = {.arena = arena};
  struct ring_header header;
  if (size < sizeof header) return -EBADMSG;
  memcpy((void *)&header, ring, sizeof header);
  if (header.unit_ns == 0 || header.unit_ns > UNIT_NS_MAX) return -EBADMSG;
  left.unit_ns = header.unit_ns;
  left.clock = header.clock;
  left.is_last_moments = header.collect != RING_HISTOGRAM;
  int error = left.is_last_moments ? postmortem_recorder(&left, ring, size)
                                   : postmortem_histogram(&left, ring, size);
  if (!error) *ret = left.batch;
  table_fini(&left.by_place);
  table_fini(&left.by_thread);
  return error;
}
