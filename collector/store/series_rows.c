/* SPDX-License-Identifier: Apache-2.0 */
/* Converts (thread, node) samples to series.

   A series is a set of labels: seven built-in (arch board build_id exe kernel service thread) and
   the user's. A target's label overrides its board's, and neither overrides a built-in one. Each
   thread of the batch has a label text. Threads and processes with equal texts form one series, so
   sixteen workers of one name make one block instead of sixteen. Sorting the threads by text
   numbers the series; the samples are then counted into (series, type). */
#include "series_rows.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/hex_text.h"
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

/* The samples in groups: those of one (series, type) are adjacent, in the batch's order. */
struct grouping {
  uint32_t *series;  /* by thread: number of its text */
  uint32_t *ends;    /* by group: number of samples before its end */
  uint32_t *samples; /* indices, ordered by group */
  uint32_t group_count;
};

static void add_label(struct label_set *set, const char *name, const char *value) {
  if (set->count == STORE_LABELS_MAX) return;
  for (uint32_t i = 0; i < set->count; i++)
    if (strcmp(set->labels[i].name, name) == 0) return; /* the first label of a name wins */
  set->labels[set->count++] = (struct label){name, value};
}

static int by_name(const void *left, const void *right) {
  const struct label *a = left, *b = right;
  return strcmp(a->name, b->name);
}

static void append_text(const struct series_board *board, const struct batch *batch,
                        const struct batch_thread *thread, struct buf *ret) {
  const struct batch_target *target = &batch->targets[thread->target];
  struct label_set set = {0};
  char build_id[HEX_BYTES] = "";
  if (target->module != BATCH_NONE)
    hex_text_print(batch->modules[target->module].id, build_id, sizeof build_id);
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

static uint32_t group_of(const struct grouping *grouping, const struct batch_sample *sample) {
  return grouping->series[sample->thread] * SAMPLE_TYPE_COUNT + sample->type;
}

/* Numbers each thread by the first equal text. */
static void number_series(const struct thread_text *texts, uint32_t count, uint32_t *series) {
  for (uint32_t i = 0, first = 0; i < count; i++) {
    if (strcmp(texts[i].text, texts[first].text) != 0) first = i;
    series[texts[i].thread] = first;
  }
}

/* There are few groups, so samples are placed by a counting sort, without comparisons. */
static int group_samples(const struct batch *batch, const struct thread_text *texts,
                         struct arena *arena, struct grouping *ret) {
  ret->group_count = batch->thread_count * SAMPLE_TYPE_COUNT;
  ret->series = arena_array(arena, batch->thread_count, sizeof *ret->series);
  ret->ends = arena_array(arena, ret->group_count, sizeof *ret->ends);
  ret->samples = arena_array(arena, batch->sample_count, sizeof *ret->samples);
  if (ret->series == NULL || ret->ends == NULL || ret->samples == NULL) return -ENOMEM;
  number_series(texts, batch->thread_count, ret->series);
  for (uint32_t i = 0; i < batch->sample_count; i++) ret->ends[group_of(ret, &batch->samples[i])]++;
  for (uint32_t group = 1; group < ret->group_count; group++)
    ret->ends[group] += ret->ends[group - 1];
  for (uint32_t i = batch->sample_count; i-- > 0;) /* turns each end into its group's start */
    ret->samples[--ret->ends[group_of(ret, &batch->samples[i])]] = i;
  for (uint32_t group = 0; group + 1 < ret->group_count; group++) /* the start of the next one */
    ret->ends[group] = ret->ends[group + 1];
  ret->ends[ret->group_count - 1] = batch->sample_count;
  return 0;
}

/* Returns the union of the marks, except that MARK_ENDS_TOLD must be in A and in B. */
static uint32_t marks_of_both(uint32_t a, uint32_t b) {
  return ((a | b) & ~(uint32_t)MARK_ENDS_TOLD) | (a & b & MARK_ENDS_TOLD);
}

/* Fills the rows of SERIES from its samples, which begin at AT. */
static void fill_series(const struct batch *batch, const struct grouping *grouping, uint32_t at,
                        struct series_rows *series) {
  for (uint32_t i = 0; i < series->count; i++) {
    const struct batch_sample *sample = &batch->samples[grouping->samples[at + i]];
    uint32_t marks = batch->targets[batch->threads[sample->thread].target].marks;
    series->rows[i] = (struct store_row){sample->node, sample->count, sample->weight};
    series->marks = i == 0 ? marks : marks_of_both(series->marks, marks);
  }
}

int series_rows_make(const struct series_board *board, const struct batch *batch,
                     struct arena *arena, struct series_rows **ret, uint32_t *ret_count) {
  struct grouping grouping;
  *ret_count = 0;
  *ret = NULL;
  if (batch->sample_count == 0) return 0;
  struct thread_text *texts = make_texts(board, batch, arena);
  if (texts == NULL || group_samples(batch, texts, arena, &grouping) != 0) return -ENOMEM;
  uint32_t max =
      grouping.group_count < batch->sample_count ? grouping.group_count : batch->sample_count;
  struct series_rows *series = arena_array(arena, max, sizeof *series);
  struct store_row *rows = arena_array(arena, batch->sample_count, sizeof *rows);
  if (series == NULL || rows == NULL) return -ENOMEM;
  uint32_t made = 0;
  for (uint32_t group = 0, at = 0; group < grouping.group_count; at = grouping.ends[group++]) {
    if (grouping.ends[group] == at) continue;
    series[made] = (struct series_rows){.labels = texts[group / SAMPLE_TYPE_COUNT].text,
                                        .type = group % SAMPLE_TYPE_COUNT,
                                        .count = grouping.ends[group] - at,
                                        .rows = &rows[at]};
    fill_series(batch, &grouping, at, &series[made++]);
  }
  *ret = series;
  *ret_count = made;
  return 0;
}
