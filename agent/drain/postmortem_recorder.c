/* SPDX-License-Identifier: Apache-2.0 */
/* Values have no time of their own. The newest are as old as the last sign of life
   (image_format.h). The span is the CPU time of the thread with the most values. The true span is
   longer by the time that the process slept, but never before its start. */
#include "postmortem_parts.h"

#include "ring/recorder_reader.h"

#include <errno.h>
#include <stdlib.h>

static struct batch_node place_of(const struct postmortem *left, uint64_t pc) {
  const struct image_table *image = left->image;
  int at = pc != 0 ? image_table_find(image, pc) : -1;
  if (at < 0) return (struct batch_node){.module = postmortem_unknown(left)};
  const struct image_region *region = &image->regions[at];
  struct batch_node place = {.module = region->module};
  if (image->modules[region->module].id_len > 0)
    place.address = pc - region->start + region->address;
  return place;
}

/* Raises LONGEST_NS to the time of all values of LOG. */
static int add_log(struct postmortem *left, const struct recorder_log *log, const uint64_t *words,
                   uint64_t *longest_ns) {
  uint64_t before_ns = left->weight_ns;
  uint32_t thread;
  if (log->count == 0) return 0;
  int error = postmortem_add_thread(left, log->name, &thread);
  for (uint32_t i = 0; i < log->count && !error; i++) {
    struct recorder_value value = recorder_log_value(log, words, i);
    const struct postmortem_sample sample = {.place = place_of(left, value.pc),
                                             .thread = thread,
                                             .type = SAMPLE_CPU_LR,
                                             .count = 1,
                                             .units = value.weight};
    error = postmortem_add(left, &sample);
  }
  uint64_t log_ns = left->weight_ns - before_ns;
  if (log_ns > *longest_ns) *longest_ns = log_ns;
  return error;
}

static int add_logs(struct postmortem *left, const struct recorder_reader *recorder,
                    uint64_t *ret_longest_ns) {
  uint64_t *words = arena_alloc(left->arena, recorder->slot_bytes);
  uint64_t longest_ns = 0;
  if (words == NULL) return -ENOMEM;
  for (uint32_t slot = 0; slot < recorder->slot_count; slot++) {
    struct recorder_log log;
    if (recorder_reader_log(recorder, slot, words, &log) < 0) continue;
    if (log.was_overwritten) left->target->marks |= MARK_LAST_MOMENTS;
    int error = add_log(left, &log, words, &longest_ns);
    if (error) return error;
  }
  *ret_longest_ns = longest_ns;
  return 0;
}

int postmortem_recorder(struct postmortem *left, const void *ring, size_t size) {
  struct recorder_reader *recorder = calloc(1, sizeof *recorder);
  uint64_t longest_ns;
  if (recorder == NULL) return -ENOMEM;
  int error = recorder_reader_open(recorder, ring, size, true);
  if (!error) {
    left->image = &recorder->image;
    const struct postmortem_room room = {.places = (uint64_t)recorder->slot_count *
                                                   (recorder->slot_bytes / 8),
                                         .threads = recorder->slot_count};
    error = postmortem_begin(left, &room);
  }
  if (!error) error = add_logs(left, recorder, &longest_ns);
  if (!error) postmortem_set_times(left, longest_ns);
  free(recorder);
  return error;
}
