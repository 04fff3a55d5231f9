/* SPDX-License-Identifier: Apache-2.0 */
/* A profile file is a sequence of spool entries. Each batch in it is inflated and decoded as in a
   collector and stays decoded; a simulated board changes only the varying parts. */
#include "recordings.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"
#include "proto/spool_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct arena_list {
  struct arena_list *next;
  struct arena arena;
};

static struct arena *new_arena(struct recordings *recordings) {
  struct arena_list *list = calloc(1, sizeof *list);
  if (list == NULL) return NULL;
  arena_init(&list->arena, 2 * LIMIT_BATCH_UNPACK_BYTES);
  list->next = recordings->arenas;
  recordings->arenas = list;
  return &list->arena;
}

static void drop_arena(struct recordings *recordings) {
  struct arena_list *list = recordings->arenas;
  recordings->arenas = list->next;
  arena_fini(&list->arena);
  free(list);
}

/* Strings and spans of the decoded batch live in the arena; RAW is no longer needed. */
static int decode(const struct spool_entry *entry, struct span zstd, struct arena *arena,
                  struct recording *ret) {
  struct buf raw = {0};
  char why[LIMIT_VALUE_BYTES];
  int error = decompress(zstd, entry->raw_len, LIMIT_BATCH_RAW_BYTES, &raw);
  uint8_t *kept = error == 0 ? arena_alloc(arena, raw.len) : NULL;
  if (error == 0 && kept == NULL) error = -ENOMEM;
  if (error == 0) {
    memcpy(kept, raw.data, raw.len);
    error = batch_decode(span_of(kept, raw.len), arena, &ret->batch, why, sizeof why);
  }
  buf_fini(&raw);
  return error;
}

static int find_leaves(struct arena *arena, struct recording *recording) {
  const struct batch *batch = &recording->batch;
  recording->is_leaf = arena_array(arena, batch->node_count, sizeof *recording->is_leaf);
  if (recording->is_leaf == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[i];
    recording->is_leaf[i] = batch->modules[node->module].kind == MODULE_ELF;
    if (node->parent != BATCH_NONE) recording->is_leaf[node->parent] = false;
  }
  return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void find_grain(struct recording *recording) {
  const struct batch *batch = &recording->batch;
  uint64_t grain_ns = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++)
    if (batch->samples[i].count > 0) grain_ns = common_divisor(grain_ns, batch->samples[i].weight);
  recording->grain_ns = grain_ns;
}

uint64_t recording_weight(const struct recording *recording, const struct batch_sample *sample,
                          uint64_t count) {
  uint64_t grain_ns = recording->grain_ns > 0 ? recording->grain_ns : 1;
  return (sample->weight / grain_ns * count + sample->count / 2) / sample->count * grain_ns;
}

static int add_row(struct recordings *recordings, const struct recording *recording) {
  struct recording *rows =
      realloc(recordings->rows, (recordings->count + 1) * sizeof *recordings->rows);
  if (rows == NULL) return -ENOMEM;
  recordings->rows = rows;
  rows[recordings->count++] = *recording;
  return 0;
}

static int take(struct recordings *recordings, const struct spool_entry *entry, struct span zstd,
                const struct recordings_floor *floor) {
  struct recording recording = {0};
  struct arena *arena = new_arena(recordings);
  if (arena == NULL) return -ENOMEM;
  int error = decode(entry, zstd, arena, &recording);
  if (error == 0 && (batch_record_count(&recording.batch) < floor->records ||
                     recording.batch.node_count < floor->nodes)) {
    drop_arena(recordings);
    return 0;
  }
  if (error == 0) error = find_leaves(arena, &recording);
  if (error == 0) find_grain(&recording);
  return error != 0 ? error : add_row(recordings, &recording);
}

int recordings_add(struct recordings *recordings, const char *path,
                   const struct recordings_floor *floor) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  uint32_t before = recordings->count;
  struct spool_reader reader = {.fd = fd, .end = (uint64_t)lseek(fd, 0, SEEK_END)};
  struct spool_entry entry;
  struct buf payload = {0};
  int error = 0;
  while (error == 0 && (error = spool_segment_next(&reader, &entry)) == 0) {
    if (entry.kind != SPOOL_BATCH) continue;
    buf_clear(&payload);
    error = spool_segment_read(fd, &entry, &payload);
    if (error == 0) error = take(recordings, &entry, buf_span(&payload), floor);
  }
  buf_fini(&payload);
  close(fd);
  if (error != -ENOENT) return error;
  return recordings->count > before ? 0 : -ENODATA;
}

void recordings_fini(struct recordings *recordings) {
  while (recordings->arenas != NULL) drop_arena(recordings);
  free(recordings->rows);
  *recordings = (struct recordings){0};
}
