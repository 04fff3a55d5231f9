/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree grows from the root: each frame of a stack, outermost first, finds or adds the child
   of the previous node. Five small tables of the same kind (an array and a hash index) hold nodes,
   samples, threads, series and modules. All are emptied at once when the window closes, so nothing
   is ever removed from them.

     stack  main > parse > read      nodes  0 main(-)  1 parse(0)  2 read(1)
     stack  main > parse             samples (1, thread 0) (2, thread 0)

   Samples of one node and thread are summed while they have equal weights. Those before and after a
   change of the rate stay separate, because intervals need them (collector/view/evidence.c).

   Addresses: the leaf is the thread's PC. Every other frame is one byte before its return address
   (process_maps.c). So each lies inside its call instruction, and a call that is the last
   instruction of a function is not taken for the next function.

   Modules are stored only by index: modules.c sweeps after window_clear, never before. */
#include "window.h"

#include "common/arena.h"
#include "common/clock.h"
#include "common/sums.h"
#include "common/table.h"
#include "common/text.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  STRINGS_BYTES_MAX = 512 << 10,
  FIRST_ROWS = 64,
  ROWS_KEPT = 2048, /* larger arrays are freed between windows */
};

/* A growing array and its hash index. */
struct rows {
  void *items;
  uint32_t count, cap, max;
  size_t item_bytes;
  struct table index;
};

struct series_row {
  struct batch_target target;
  uint32_t id;
  bool is_told;
  bool has_ends, has_untold; /* stacks with a known end, and others */
};

struct window {
  struct modules *modules;
  struct arena strings;
  struct rows nodes, samples, threads, series, used_modules;
  uint64_t records;
  uint64_t start_ns;
};

static void rows_init(struct rows *rows, size_t item_bytes, uint32_t max) {
  *rows = (struct rows){.item_bytes = item_bytes, .max = max};
}

static void rows_fini(struct rows *rows) {
  free(rows->items);
  table_fini(&rows->index);
}

static void rows_clear(struct rows *rows) {
  if (rows->cap > ROWS_KEPT) {
    size_t item_bytes = rows->item_bytes;
    uint32_t max = rows->max;
    rows_fini(rows);
    rows_init(rows, item_bytes, max);
  }
  rows->count = 0;
  table_clear(&rows->index);
}

/* Adds ITEM under KEY. Returns 0, -ENOSPC or -ENOMEM. */
static int rows_add(struct rows *rows, uint64_t key, const void *item, uint32_t *ret_at) {
  if (rows->count == rows->max) return -ENOSPC;
  if (rows->count == rows->cap) {
    uint32_t cap = rows->cap ? rows->cap * 2 : FIRST_ROWS;
    void *items = realloc(rows->items, cap * rows->item_bytes);
    if (items == NULL) return -ENOMEM;
    rows->items = items;
    rows->cap = cap;
  }
  if (table_add(&rows->index, key, rows->count) < 0) return -ENOMEM;
  memcpy((uint8_t *)rows->items + rows->count * rows->item_bytes, item, rows->item_bytes);
  *ret_at = rows->count++;
  return 0;
}

int window_new(struct modules *modules, struct window **ret) {
  struct window *window = calloc(1, sizeof *window);
  if (window == NULL) return -ENOMEM;
  window->modules = modules;
  arena_init(&window->strings, STRINGS_BYTES_MAX);
  rows_init(&window->nodes, sizeof(struct batch_node), WINDOW_NODES_MAX);
  rows_init(&window->samples, sizeof(struct batch_sample), WINDOW_SAMPLES_MAX);
  rows_init(&window->threads, sizeof(struct batch_thread), WINDOW_THREADS_MAX);
  rows_init(&window->series, sizeof(struct series_row), WINDOW_SERIES_MAX);
  rows_init(&window->used_modules, sizeof(uint32_t), WINDOW_MODULES_MAX);
  *ret = window;
  return 0;
}

void window_free(struct window *window) {
  if (window == NULL) return;
  arena_fini(&window->strings);
  rows_fini(&window->nodes);
  rows_fini(&window->samples);
  rows_fini(&window->threads);
  rows_fini(&window->series);
  rows_fini(&window->used_modules);
  free(window);
}

/* A copy of at most MAX bytes of TEXT, cleaned for transport. */
static const char *keep_text(struct window *window, const char *text, size_t max) {
  if (text == NULL) return "";
  char *copy = arena_string(&window->strings, text, strnlen(text, max));
  if (copy != NULL) text_clean(copy);
  return copy;
}

static int find_module(struct window *window, uint32_t module, uint32_t *ret) {
  uint32_t cursor, at = table_find(&window->used_modules.index, module, &cursor);
  if (at == TABLE_NONE) return rows_add(&window->used_modules, module, &module, ret);
  *ret = at;
  return 0;
}

/* Splits "k=v\nk=v" into labels; words without '=' or without a name are left out. */
static int keep_labels(struct window *window, const char *text, struct batch_target *target) {
  struct label *labels = arena_array(&window->strings, LIMIT_LABELS, sizeof *labels);
  if (labels == NULL) return -ENOMEM;
  target->labels = labels;
  while (text != NULL && *text != '\0' && target->label_count < LIMIT_LABELS) {
    size_t len = strcspn(text, "\n");
    const char *equals = memchr(text, '=', len);
    if (equals != NULL && equals > text) {
      size_t name_len = (size_t)(equals - text), value_len = len - name_len - 1;
      if (name_len > LIMIT_NAME_BYTES) name_len = LIMIT_NAME_BYTES;
      if (value_len > LIMIT_VALUE_BYTES) value_len = LIMIT_VALUE_BYTES;
      char *name = arena_string(&window->strings, text, name_len);
      char *value = arena_string(&window->strings, equals + 1, value_len);
      if (name == NULL || value == NULL) return -ENOMEM;
      text_clean(name);
      text_clean(value);
      labels[target->label_count++] = (struct label){name, value};
    }
    text += len + (text[len] == '\n');
  }
  return 0;
}

static int add_series(struct window *window, uint64_t key, const struct window_series *series,
                      uint32_t *ret) {
  struct series_row row = {.id = series->target};
  struct batch_target *target = &row.target;
  target->service = keep_text(window, series->service, LIMIT_NAME_BYTES);
  target->exe = keep_text(window, series->exe, LIMIT_PATH_BYTES);
  target->sampler = keep_text(window, series->sampler, LIMIT_NAME_BYTES);
  target->why = keep_text(window, series->why, LIMIT_VALUE_BYTES);
  target->asked_mhz = series->asked_mhz;
  target->module = BATCH_NONE;
  if (!target->service || !target->exe || !target->sampler || !target->why) return -ENOSPC;
  if (keep_labels(window, series->labels, target) < 0) return -ENOSPC;
  if (series->exe_module != MODULE_NONE) {
    int error = find_module(window, series->exe_module, &target->module);
    if (error) return error;
  }
  return rows_add(&window->series, key, &row, ret);
}

static int find_series(struct window *window, const struct window_series *series, uint32_t *ret) {
  const char *exe = series->exe ? series->exe : "";
  uint64_t key = table_hash(series->service, strlen(series->service), series->target);
  key = table_hash(exe, strlen(exe), key);
  uint32_t cursor;
  for (uint32_t at = table_find(&window->series.index, key, &cursor); at != TABLE_NONE;
       at = table_next(&window->series.index, key, &cursor)) {
    const struct series_row *row = (const struct series_row *)window->series.items + at;
    /* The stored texts may have been truncated or cleaned: the 64-bit hash of the originals
       decides. */
    if (row->id != series->target) continue;
    *ret = at;
    return 0;
  }
  return add_series(window, key, series, ret);
}

static int find_thread(struct window *window, uint32_t target, const char *name, uint32_t *ret) {
  uint64_t key = table_hash(name, strlen(name), target);
  uint32_t cursor;
  for (uint32_t at = table_find(&window->threads.index, key, &cursor); at != TABLE_NONE;
       at = table_next(&window->threads.index, key, &cursor)) {
    const struct batch_thread *row = (const struct batch_thread *)window->threads.items + at;
    if (row->target != target) continue;
    *ret = at;
    return 0;
  }
  struct batch_thread row = {target, keep_text(window, name, LIMIT_NAME_BYTES)};
  return row.name ? rows_add(&window->threads, key, &row, ret) : -ENOSPC;
}

static int find_node(struct window *window, const struct batch_node *node, uint32_t *ret) {
  uint64_t key =
      node->address * 0x9e3779b97f4a7c15ULL ^ (uint64_t)node->parent << 32 ^ node->module;
  uint32_t cursor;
  for (uint32_t at = table_find(&window->nodes.index, key, &cursor); at != TABLE_NONE;
       at = table_next(&window->nodes.index, key, &cursor)) {
    const struct batch_node *row = (const struct batch_node *)window->nodes.items + at;
    if (row->parent != node->parent || row->module != node->module || row->address != node->address)
      continue;
    *ret = at;
    return 0;
  }
  return rows_add(&window->nodes, key, node, ret);
}

static int find_stack(struct window *window, const struct window_sample *sample, uint32_t *ret) {
  uint32_t node = BATCH_NONE;
  for (uint32_t i = sample->depth; i-- > 0;) {
    struct batch_node wanted = {.parent = node, .address = sample->frames[i].address};
    int error = find_module(window, sample->frames[i].module, &wanted.module);
    if (!error) error = find_node(window, &wanted, &node);
    if (error) return error;
  }
  *ret = node;
  return 0;
}

static bool is_alike(const struct batch_sample *row, const struct window_sample *sample) {
  return batch_is_alike(row->count, row->weight, sample->count, sample->weight);
}

static int add_weight(struct window *window, uint32_t node, uint32_t thread,
                      const struct window_sample *sample) {
  uint64_t key = (uint64_t)node << 32 | (uint64_t)sample->type << 24 | thread;
  uint32_t cursor, at = table_find(&window->samples.index, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&window->samples.index, key, &cursor)) {
    struct batch_sample *row = (struct batch_sample *)window->samples.items + at;
    if (!is_alike(row, sample)) continue;
    row->count += sample->count;
    row->weight += sample->weight;
    return 0;
  }
  struct batch_sample row = {.node = node,
                             .thread = thread,
                             .type = sample->type,
                             .count = sample->count,
                             .weight = sample->weight};
  return rows_add(&window->samples, key, &row, &at);
}

/* If any stack lacks an end reason, unmarked stacks cannot be assumed complete. */
static void note_end(struct window *window, uint32_t target, const struct window_sample *sample) {
  struct series_row *row = (struct series_row *)window->series.items + target;
  if (sample->type != SAMPLE_CPU || sample->count == 0) return;
  if (sample->end == STACK_UNTOLD)
    row->has_untold = true;
  else
    row->has_ends = true;
}

int window_add(struct window *window, const struct window_sample *sample) {
  uint32_t target = 0, thread = 0, node = 0;
  int error = find_series(window, sample->series, &target);
  if (!error) error = find_thread(window, target, sample->thread, &thread);
  if (!error) error = find_stack(window, sample, &node);
  if (!error) error = add_weight(window, node, thread, sample);
  if (error) return error;
  note_end(window, target, sample);
  if (window->start_ns == 0) window->start_ns = clock_boottime_ns();
  window->records += sample->count;
  return 0;
}

int window_mention(struct window *window, const struct window_series *series) {
  uint32_t at;
  return find_series(window, series, &at);
}

static uint32_t series_of(const struct window *window, const struct batch_sample *sample) {
  const struct batch_thread *threads = window->threads.items;
  return threads[sample->thread].target;
}

/* Returns the sum of SUMS and where the largest of them is. */
static uint64_t sum_up(const uint64_t sums[WINDOW_SERIES_MAX], uint32_t *ret_largest) {
  uint64_t all = 0;
  *ret_largest = 0;
  for (uint32_t i = 0; i < WINDOW_SERIES_MAX; i++) {
    all = sum_of(all, sums[i]);
    if (sums[i] > sums[*ret_largest]) *ret_largest = i;
  }
  return all;
}

uint32_t window_limit_weight(struct window *window, uint64_t span_ns, uint64_t times) {
  bool is_less = times == 0 || span_ns <= LIMIT_BATCH_WEIGHT_NS / times;
  uint64_t most_ns = is_less ? span_ns * times : LIMIT_BATCH_WEIGHT_NS;
  struct batch_sample *samples = window->samples.items;
  uint64_t sums[WINDOW_SERIES_MAX] = {0};
  bool is_cut[WINDOW_SERIES_MAX] = {false};
  uint32_t largest, cut = 0;
  for (uint32_t i = 0; i < window->samples.count; i++) {
    uint64_t *sum = &sums[series_of(window, &samples[i])];
    *sum = sum_of(*sum, samples[i].weight);
  }
  for (; sum_up(sums, &largest) > most_ns; cut++) {
    sums[largest] = 0;
    is_cut[largest] = true;
  }
  for (uint32_t i = 0; cut > 0 && i < window->samples.count; i++)
    if (is_cut[series_of(window, &samples[i])]) samples[i].weight = 0;
  return cut;
}

uint64_t window_records(const struct window *window) {
  return window->records;
}

bool window_is_empty(const struct window *window) {
  return window->samples.count == 0 && window->series.count == 0;
}

static bool is_nearly_full(const struct rows *rows) {
  return rows->count >= rows->max - rows->max / 4;
}

bool window_is_nearly_full(const struct window *window) {
  return is_nearly_full(&window->nodes) || is_nearly_full(&window->samples) ||
         is_nearly_full(&window->threads) || is_nearly_full(&window->series) ||
         is_nearly_full(&window->used_modules) ||
         window->strings.used_bytes > STRINGS_BYTES_MAX * 3 / 4;
}

uint64_t window_start_ns(const struct window *window) {
  return window->start_ns;
}

static int describe_modules(struct window *window, struct batch *batch) {
  uint32_t count = window->used_modules.count;
  const uint32_t *used = window->used_modules.items;
  struct batch_module *modules = arena_array(&window->strings, count + 1, sizeof *modules);
  if (modules == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    modules_describe(window->modules, used[i], &modules[i]);
    if (text_is_clean(span_of_string(modules[i].path))) continue;
    modules[i].path = keep_text(window, modules[i].path, LIMIT_PATH_BYTES);
    if (modules[i].path == NULL) return -ENOMEM;
  }
  batch->modules = modules;
  batch->module_count = count;
  return 0;
}

/* A text without room keeps the series's initial value. */
static void take_told(struct window *window, const struct window_told *told,
                      struct series_row *row) {
  struct batch_target *target = &row->target;
  const char *why = told->sampler ? keep_text(window, told->why, LIMIT_VALUE_BYTES) : NULL;
  target->achieved_mhz = told->achieved_mhz;
  target->marks = told->marks;
  if (told->asked_mhz != 0) target->asked_mhz = told->asked_mhz;
  if (told->sampler != NULL) target->sampler = told->sampler;
  if (why != NULL) target->why = why;
  row->is_told = true;
}

void window_tell_target(struct window *window, uint32_t target, const struct window_told *told) {
  struct series_row *series = window->series.items;
  for (uint32_t i = 0; i < window->series.count; i++)
    if (series[i].id == target && !series[i].is_told) take_told(window, told, &series[i]);
}

static int describe_targets(struct window *window, window_tell *tell, void *context,
                            struct batch *batch) {
  uint32_t count = window->series.count;
  struct series_row *series = window->series.items;
  struct batch_target *targets = arena_array(&window->strings, count + 1, sizeof *targets);
  if (targets == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    struct window_told told = {.sampler = NULL};
    if (!series[i].is_told) {
      tell(context, series[i].id, &told);
      window_tell_target(window, series[i].id, &told);
    }
    targets[i] = series[i].target;
    if (series[i].has_ends && !series[i].has_untold) targets[i].marks |= MARK_ENDS_TOLD;
  }
  batch->targets = targets;
  batch->target_count = count;
  return 0;
}

int window_batch(struct window *window, window_tell *tell, void *context, struct batch *ret) {
  struct batch batch = {.threads = window->threads.items,
                        .thread_count = window->threads.count,
                        .nodes = window->nodes.items,
                        .node_count = window->nodes.count,
                        .samples = window->samples.items,
                        .sample_count = window->samples.count};
  /* The batch's own memory was not used while the window filled: it is outside the window's
     limit. */
  window->strings.limit_bytes = 2 * STRINGS_BYTES_MAX;
  if (describe_modules(window, &batch) < 0) return -ENOMEM;
  if (describe_targets(window, tell, context, &batch) < 0) return -ENOMEM;
  *ret = batch;
  return 0;
}

void window_clear(struct window *window) {
  arena_fini(&window->strings);
  arena_init(&window->strings, STRINGS_BYTES_MAX);
  rows_clear(&window->nodes);
  rows_clear(&window->samples);
  rows_clear(&window->threads);
  rows_clear(&window->series);
  rows_clear(&window->used_modules);
  window->records = 0;
  window->start_ns = 0;
}
