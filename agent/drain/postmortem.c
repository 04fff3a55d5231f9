/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder was written by a stranger and may have been through a power cut: recorder_reader.h
   and image_table.h check what they give, and sums are checked here.

   Values have no time of their own.  The newest are as old as the last sign of life
   (image_format.h) and reach back as far as the thread with the most of them has CPU time: the true
   span is longer by what the process slept, never beyond its start.

     values -> region -> (module, address) -> node      no parent: nobody knows the caller
                                  (node, thread) -> sample, weight in nanoseconds */
#include "postmortem.h"

#include "common/table.h"
#include "proto/limits.h"
#include "proto/text.h"
#include "ring/recorder_reader.h"
#include "ring/ring_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_NS_MAX 60000000000ULL
#define SPAN_NS_MAX (INT64_MAX / 4) /* of all weights, and of any time */

enum { NODES_MAX = LIMIT_BATCH_NODES - 2 /* less one for what finds no place */ };

struct reading {
  struct recorder_reader recorder;
  struct arena *arena;
  struct batch batch;
  struct batch_node *nodes;
  struct batch_sample *samples;
  struct batch_thread *threads;
  struct table by_place, by_thread; /* node of (module, address); sample of (node, thread) */
  uint32_t sample_room;
  uint64_t unit_ns, weight_ns, longest_ns;
};

static char *keep_text(struct reading *reading, const char *text, size_t max) {
  char *copy = arena_string(reading->arena, text, strnlen(text, max));
  if (copy != NULL) text_clean(copy);
  return copy;
}

/* The modules of the image, in their order, and [unknown]. */
static int make_modules(struct reading *reading) {
  const struct image_table *image = &reading->recorder.image;
  struct batch_module *modules =
      arena_array(reading->arena, image->module_count + 1, sizeof *modules);
  if (modules == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < image->module_count; i++) {
    const struct image_module *from = &image->modules[i];
    const char *id = arena_string(reading->arena, from->id, from->id_len);
    if (id == NULL) return -ENOMEM;
    modules[i] = (struct batch_module){.id = span_of(id, from->id_len),
                                       .path = keep_text(reading, from->path, LIMIT_PATH_BYTES),
                                       .size_bytes = from->size_bytes & INT64_MAX,
                                       .kind = from->id_len > 0 ? MODULE_ELF : MODULE_PSEUDO};
    if (modules[i].path == NULL) return -ENOMEM;
  }
  modules[image->module_count] = (struct batch_module){.path = "[unknown]", .kind = MODULE_PSEUDO};
  reading->batch.modules = modules;
  reading->batch.module_count = image->module_count + 1;
  return 0;
}

/* One more label of "k=v\nk=v"; returns what follows it. */
static const char *take_label(struct reading *reading, const char *text, struct label *ret) {
  size_t len = strcspn(text, "\n");
  const char *equals = memchr(text, '=', len);
  *ret = (struct label){NULL, NULL};
  if (equals != NULL && equals > text) {
    size_t name_len = (size_t)(equals - text), value_len = len - name_len - 1;
    char *name = arena_string(reading->arena, text,
                              name_len < LIMIT_NAME_BYTES ? name_len : LIMIT_NAME_BYTES);
    char *value = arena_string(reading->arena, equals + 1,
                               value_len < LIMIT_VALUE_BYTES ? value_len : LIMIT_VALUE_BYTES);
    if (name != NULL) text_clean(name);
    if (value != NULL) text_clean(value);
    if (name != NULL && value != NULL) *ret = (struct label){name, value};
  }
  return text + len + (text[len] == '\n');
}

static uint32_t find_exe(const struct reading *reading) {
  const struct image_table *image = &reading->recorder.image;
  for (uint32_t i = 0; i < image->module_count; i++)
    if (image->modules[i].id_len > 0 && strcmp(image->modules[i].path, image->exe) == 0) return i;
  return BATCH_NONE;
}

static int make_target(struct reading *reading) {
  const struct image_table *image = &reading->recorder.image;
  struct batch_target *target = arena_array(reading->arena, 1, sizeof *target);
  struct label *labels = arena_array(reading->arena, LIMIT_LABELS, sizeof *labels);
  if (target == NULL || labels == NULL) return -ENOMEM;
  uint32_t count = 0;
  labels[count++] = (struct label){POSTMORTEM_LABEL, POSTMORTEM_VALUE};
  for (const char *text = image->labels; *text != '\0' && count < LIMIT_LABELS;) {
    text = take_label(reading, text, &labels[count]);
    if (labels[count].name != NULL && strcmp(labels[count].name, POSTMORTEM_LABEL) != 0) count++;
  }
  *target = (struct batch_target){.service = keep_text(reading, image->service, LIMIT_NAME_BYTES),
                                  .exe = keep_text(reading, image->exe, LIMIT_PATH_BYTES),
                                  .module = find_exe(reading),
                                  .label_count = count,
                                  .labels = labels,
                                  .sampler = ring_clock_sampler(reading->recorder.clock),
                                  .asked_mhz = image->asked_mhz,
                                  .why = "recorder"};
  if (target->service == NULL || target->exe == NULL) return -ENOMEM;
  if (target->service[0] == '\0') target->service = "unknown";
  reading->batch.targets = target;
  reading->batch.target_count = 1;
  return 0;
}

static void place(const struct image_table *image, uint64_t pc, struct batch_node *ret) {
  int at = pc != 0 ? image_table_find(image, pc) : -1;
  *ret = (struct batch_node){.parent = BATCH_NONE, .module = image->module_count};
  if (at < 0) return;
  const struct image_region *region = &image->regions[at];
  ret->module = region->module;
  if (image->modules[region->module].id_len > 0)
    ret->address = pc - region->start + region->address;
}

static int find_node(struct reading *reading, uint64_t pc, uint32_t *ret) {
  struct batch_node wanted;
  const struct image_table *image = &reading->recorder.image;
  place(image, pc, &wanted);
  if (reading->batch.node_count == NODES_MAX)
    wanted = (struct batch_node){.parent = BATCH_NONE, .module = image->module_count};
  uint64_t key = wanted.address * 0x9e3779b97f4a7c15ULL ^ wanted.module;
  uint32_t cursor;
  for (uint32_t at = table_find(&reading->by_place, key, &cursor); at != TABLE_NONE;
       at = table_next(&reading->by_place, key, &cursor)) {
    *ret = at;
    if (reading->nodes[at].module == wanted.module && reading->nodes[at].address == wanted.address)
      return 0;
  }
  *ret = reading->batch.node_count;
  if (table_add(&reading->by_place, key, *ret) < 0) return -ENOMEM;
  reading->nodes[reading->batch.node_count++] = wanted;
  return 0;
}

static int find_sample(struct reading *reading, uint32_t node, uint32_t thread,
                       struct batch_sample **ret) {
  uint64_t key = (uint64_t)node << 32 | thread;
  uint32_t cursor, at = table_find(&reading->by_thread, key, &cursor);
  if (at == TABLE_NONE) {
    at = reading->batch.sample_count;
    if (at == reading->sample_room) return -ENOMEM;
    if (table_add(&reading->by_thread, key, at) < 0) return -ENOMEM;
    reading->samples[at] =
        (struct batch_sample){.node = node, .thread = thread, .type = SAMPLE_CPU_LR};
    reading->batch.sample_count++;
  }
  *ret = &reading->samples[at];
  return 0;
}

static int add_log(struct reading *reading, const struct recorder_log *log, const uint64_t *words) {
  uint64_t log_ns = 0;
  uint32_t thread = reading->batch.thread_count, node;
  struct batch_sample *sample;
  if (log->count == 0) return 0;
  char *name = keep_text(reading, log->name, LIMIT_NAME_BYTES);
  if (name == NULL) return -ENOMEM;
  reading->threads[reading->batch.thread_count++] = (struct batch_thread){0, name};
  for (uint32_t i = 0; i < log->count; i++) {
    struct recorder_value value = recorder_log_value(log, words, i);
    uint64_t weight_ns = value.weight * reading->unit_ns;
    if (weight_ns > SPAN_NS_MAX - reading->weight_ns) return -EBADMSG;
    int error = find_node(reading, value.pc, &node);
    if (!error) error = find_sample(reading, node, thread, &sample);
    if (error) return error;
    sample->count++;
    sample->weight += weight_ns;
    reading->weight_ns += weight_ns;
    log_ns += weight_ns;
  }
  if (log_ns > reading->longest_ns) reading->longest_ns = log_ns;
  return 0;
}

/* Room for the values that there are. */
static int make_room(struct reading *reading) {
  uint64_t values = (uint64_t)reading->recorder.slot_count * (reading->recorder.slot_bytes / 8);
  uint64_t nodes = values < LIMIT_BATCH_NODES ? values : LIMIT_BATCH_NODES;
  reading->sample_room = (uint32_t)(values < LIMIT_BATCH_SAMPLES ? values : LIMIT_BATCH_SAMPLES);
  struct arena *arena = reading->arena;
  reading->nodes = arena_array(arena, nodes + 1, sizeof *reading->nodes);
  reading->samples = arena_array(arena, reading->sample_room, sizeof *reading->samples);
  reading->threads = arena_array(arena, reading->recorder.slot_count, sizeof *reading->threads);
  reading->batch.nodes = reading->nodes;
  reading->batch.samples = reading->samples;
  reading->batch.threads = reading->threads;
  return reading->nodes && reading->samples && reading->threads ? 0 : -ENOMEM;
}

static int add_logs(struct reading *reading) {
  uint64_t *words = arena_alloc(reading->arena, reading->recorder.slot_bytes);
  if (words == NULL) return -ENOMEM;
  for (uint32_t slot = 0; slot < reading->recorder.slot_count; slot++) {
    struct recorder_log log;
    if (recorder_reader_log(&reading->recorder, slot, words, &log) < 0) continue;
    int error = add_log(reading, &log, words);
    if (error) return error;
  }
  return 0;
}

static void set_times(struct reading *reading) {
  const struct image_table *image = &reading->recorder.image;
  struct batch *batch = &reading->batch;
  uint64_t alive = atomic_load_explicit(&image->alive_boottime_ns, memory_order_relaxed);
  uint64_t wall = atomic_load_explicit(&image->alive_walltime_ns, memory_order_relaxed);
  if (alive > SPAN_NS_MAX) alive = SPAN_NS_MAX;
  if (wall > SPAN_NS_MAX) wall = SPAN_NS_MAX;
  uint64_t age = alive > image->start_boottime_ns ? alive - image->start_boottime_ns : 0;
  uint64_t span = reading->longest_ns < age ? reading->longest_ns : age;
  memcpy(batch->boot_id, image->boot_id, sizeof batch->boot_id);
  batch->end_boottime_ns = alive;
  batch->start_boottime_ns = alive - span;
  batch->end_walltime_ns = wall;
  batch->start_walltime_ns = wall > span ? wall - span : 0;
}

static int read_all(struct reading *reading) {
  int error = make_modules(reading);
  if (!error) error = make_target(reading);
  if (!error) error = make_room(reading);
  if (!error) error = add_logs(reading);
  if (!error) set_times(reading);
  return error;
}

int postmortem_read(const void *ring, size_t size, struct arena *arena, struct batch *ret) {
  struct reading *reading = calloc(1, sizeof *reading);
  struct ring_header header;
  if (reading == NULL) return -ENOMEM;
  reading->arena = arena;
  int error = recorder_reader_open(&reading->recorder, ring, size, true);
  if (!error) {
    memcpy((void *)&header, ring, sizeof header);
    reading->unit_ns = header.unit_ns;
    error = header.unit_ns == 0 || header.unit_ns > UNIT_NS_MAX ? -EBADMSG : read_all(reading);
  }
  if (!error) *ret = reading->batch;
  table_fini(&reading->by_place);
  table_fini(&reading->by_thread);
  free(reading);
  return error;
}
