/* SPDX-License-Identifier: Apache-2.0 */
/* From (thread, node) samples to series.

   A series is a set of labels: seven of ours (arch board build_id exe kernel service thread) and
   the user's, where a target's label beats its board's and none beats ours.  Each thread of the
   batch has a label text; threads and processes with equal texts are one series, so sixteen
   workers named alike make one block and not sixteen.  Sorting the threads by text numbers the
   series; sorting the samples by (series, type) groups the rows. */
#include "series_rows.h"

#include "common/arena.h"
#include "common/buf.h"
#include "label_text.h"

#include <errno.h>
#include <stdlib.h>

enum { OWN_LABELS = 7, HEX_BYTES = 2 * LIMIT_MODULE_ID_BYTES + 1 };

struct label_set {
  uint32_t count;
  struct label labels[STORE_LABELS_MAX];
};

struct thread_text {
  const char *text;
  uint32_t thread;
};

struct sample_key {
  uint32_t series; /* number of the thread's text */
  uint32_t type;
  uint32_t sample;
};

static void add_label(struct label_set *set, const char *name, const char *value) {
  if (set->count == STORE_LABELS_MAX) return;
  for (uint32_t i = 0; i < set->count; i++)
    if (strcmp(set->labels[i].name, name) == 0) return; /* who came first wins */
  set->labels[set->count++] = (struct label){name, value};
}

static int by_name(const void *left, const void *right) {
  const struct label *a = left, *b = right;
  return strcmp(a->name, b->name);
}

static void print_hex(struct span bytes, char text[HEX_BYTES]) {
  static const char digits[] = "0123456789abcdef";
  size_t len = bytes.len < LIMIT_MODULE_ID_BYTES ? bytes.len : LIMIT_MODULE_ID_BYTES;
  for (size_t i = 0; i < len; i++) {
    text[2 * i] = digits[bytes.data[i] >> 4];
    text[2 * i + 1] = digits[bytes.data[i] & 15];
  }
  text[2 * len] = '\0';
}

static void append_text(const struct series_board *board, const struct batch *batch,
                        const struct batch_thread *thread, struct buf *ret) {
  const struct batch_target *target = &batch->targets[thread->target];
  struct label_set set = {0};
  char build_id[HEX_BYTES] = "";
  if (target->module != BATCH_NONE) print_hex(batch->modules[target->module].id, build_id);
  const struct label own[OWN_LABELS] = {
      {"arch", board->arch},    {"board", board->name},    {"build_id", build_id},
      {"exe", target->exe},     {"kernel", board->kernel}, {"service", target->service},
      {"thread", thread->name},
  };
  for (uint32_t i = 0; i < OWN_LABELS; i++) add_label(&set, own[i].name, own[i].value);
  for (uint32_t i = 0; i < target->label_count; i++)
    add_label(&set, target->labels[i].name, target->labels[i].value);
  for (uint32_t i = 0; i < board->label_count; i++)
    add_label(&set, board->labels[i].name, board->labels[i].value);
  qsort(set.labels, set.count, sizeof set.labels[0], by_name);
  label_text_encode(set.labels, set.count, ret);
}

static int by_text(const void *left, const void *right) {
  const struct thread_text *a = left, *b = right;
  return strcmp(a->text, b->text);
}

static struct thread_text *make_texts(const struct series_board *board, const struct batch *batch,
                                      struct arena *arena) {
  struct thread_text *texts = arena_array(arena, batch->thread_count, sizeof *texts);
  struct buf text = {0};
  for (uint32_t i = 0; texts != NULL && i < batch->thread_count; i++) {
    buf_clear(&text);
    append_text(board, batch, &batch->threads[i], &text);
    texts[i] = (struct thread_text){arena_string(arena, text.data, text.len), i};
    if (text.failed || texts[i].text == NULL) texts = NULL;
  }
  buf_fini(&text);
  if (texts != NULL) qsort(texts, batch->thread_count, sizeof *texts, by_text);
  return texts;
}

static int by_series(const void *left, const void *right) {
  const struct sample_key *a = left, *b = right;
  if (a->series != b->series) return a->series < b->series ? -1 : 1;
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  return a->sample < b->sample ? -1 : a->sample > b->sample;
}

/* Gives each sample the number of the first text that equals its thread's. */
static struct sample_key *make_keys(const struct batch *batch, const struct thread_text *texts,
                                    struct arena *arena) {
  uint32_t *series = arena_array(arena, batch->thread_count, sizeof *series);
  struct sample_key *keys = arena_array(arena, batch->sample_count, sizeof *keys);
  if (series == NULL || keys == NULL) return NULL;
  for (uint32_t i = 0, first = 0; i < batch->thread_count; i++) {
    if (strcmp(texts[i].text, texts[first].text) != 0) first = i;
    series[texts[i].thread] = first;
  }
  for (uint32_t i = 0; i < batch->sample_count; i++)
    keys[i] = (struct sample_key){series[batch->samples[i].thread], batch->samples[i].type, i};
  qsort(keys, batch->sample_count, sizeof *keys, by_series);
  return keys;
}

static bool starts_series(const struct sample_key *keys, uint32_t at) {
  return at == 0 || keys[at].series != keys[at - 1].series || keys[at].type != keys[at - 1].type;
}

/* Doubts add up; ends are told where both say so. */
static uint32_t marks_of_both(uint32_t a, uint32_t b) {
  return ((a | b) & ~(uint32_t)MARK_ENDS_TOLD) | (a & b & MARK_ENDS_TOLD);
}

int series_rows_make(const struct series_board *board, const struct batch *batch,
                     struct arena *arena, struct series_rows **ret, uint32_t *ret_count) {
  uint32_t count = 0;
  *ret_count = 0;
  *ret = NULL;
  if (batch->sample_count == 0) return 0;
  struct thread_text *texts = make_texts(board, batch, arena);
  struct sample_key *keys = texts != NULL ? make_keys(batch, texts, arena) : NULL;
  if (keys == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < batch->sample_count; i++) count += starts_series(keys, i);
  struct series_rows *series = arena_array(arena, count, sizeof *series);
  struct store_row *rows = arena_array(arena, batch->sample_count, sizeof *rows);
  if (series == NULL || rows == NULL) return -ENOMEM;
  uint32_t made = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_sample *sample = &batch->samples[keys[i].sample];
    if (starts_series(keys, i))
      series[made++] = (struct series_rows){
          .labels = texts[keys[i].series].text, .type = keys[i].type, .rows = &rows[i]};
    rows[i] = (struct store_row){sample->node, sample->count, sample->weight};
    uint32_t marks = batch->targets[batch->threads[sample->thread].target].marks;
    struct series_rows *of = &series[made - 1];
    of->marks = of->count == 0 ? marks : marks_of_both(of->marks, marks);
    of->count++;
  }
  *ret = series;
  *ret_count = count;
  return 0;
}
