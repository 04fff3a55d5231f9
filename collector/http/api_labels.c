/* SPDX-License-Identifier: Apache-2.0 */
/* The names of labels, and the values of one label, for use in selectors. The store shows each
   series of the range once. Strings are deduplicated, then sorted. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/table.h"
#include "query/selector.h"
#include "query_answer.h"
#include "request.h"
#include "selection.h"
#include "store/store_read.h"

#include <errno.h>
#include <stdlib.h>

enum { VALUES_MAX = SELECTION_LIMIT_MAX /* distinct strings in one answer */ };

struct label_walk {
  const struct selector *selector;
  const char *label; /* the label whose values are listed; NULL: lists names */
  struct arena *arena;
  struct table seen;
  const char **texts;
  uint32_t count;
  int error;
};

static void add(struct label_walk *walk, const char *text) {
  uint64_t key = table_hash(text, strlen(text), 0);
  uint32_t cursor, at;
  for (at = table_find(&walk->seen, key, &cursor); at != TABLE_NONE;
       at = table_next(&walk->seen, key, &cursor))
    if (strcmp(walk->texts[at], text) == 0) return;
  if (walk->count == VALUES_MAX) {
    walk->error = -EOVERFLOW;
    return;
  }
  const char *kept = arena_string(walk->arena, text, strlen(text));
  if (kept == NULL || table_add(&walk->seen, key, walk->count) != 0)
    walk->error = -ENOMEM;
  else
    walk->texts[walk->count++] = kept;
}

/* Called once for each series. Returns 0: its blocks are not needed. */
static int on_series(void *context, const struct store_series *series) {
  struct label_walk *walk = context;
  if (walk->error || (walk->selector && !selector_matches(walk->selector, series))) return 0;
  for (uint32_t i = 0; i < series->label_count; i++) {
    const struct label *label = &series->labels[i];
    if (walk->label == NULL)
      add(walk, label->name);
    else if (strcmp(walk->label, label->name) == 0)
      add(walk, label->value);
  }
  return 0;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int walk_series(struct request *request, const struct selection *selection,
                       struct label_walk *walk) {
  walk->arena = &request->arena;
  walk->selector = selection->selector;
  walk->texts = arena_array(&request->arena, VALUES_MAX, sizeof *walk->texts);
  if (walk->texts == NULL) return -ENOMEM;
  struct store_scan scan = {.from_ms = selection->from_ms,
                            .to_ms = selection->to_ms,
                            .types = selection->types,
                            .matches = on_series,
                            .cutoff = query_answer_cutoff(request),
                            .context = walk};
  int error = store_scan(request->service->parts.store, &scan);
  qsort(walk->texts, walk->count, sizeof *walk->texts, compare_texts);
  return error ? error : walk->error;
}

static void write_texts(struct request *request, const struct label_walk *walk, uint32_t limit) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  json_key(&json, "data");
  json_open(&json, '[');
  for (uint32_t i = 0; i < walk->count && i < limit && !json.is_full; i++)
    json_string(&json, walk->texts[i]);
  json_close(&json, ']');
  answer_end_json(&request->answer, &json);
}

static void answer_texts(struct request *request, const char *label) {
  struct selection selection;
  struct selection_fault fault;
  if (selection_parse(&request->parameters, clock_judged_ns(), &selection, &fault) != 0) {
    answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
    return;
  }
  struct label_walk walk = {.label = label};
  int error = walk_series(request, &selection, &walk);
  if (error == -EOVERFLOW)
    answer_problem(&request->answer, 422, NULL, "more than %d values: narrow match", VALUES_MAX);
  else if (error != 0)
    query_answer_end(request, error);
  else
    write_texts(request, &walk, selection.has_limit ? selection.limit : VALUES_MAX);
  table_fini(&walk.seen);
  selection_fini(&selection);
}

void api_labels(struct request *request) {
  answer_texts(request, NULL);
}

void api_label_values(struct request *request) {
  answer_texts(request, request->argument);
}
