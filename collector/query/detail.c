/* SPDX-License-Identifier: Apache-2.0 */
/* A stack counts in a function's self if the innermost function at its leaf is the requested
   one, and in its total if any function at any of its frames is. The function table counts the
   same way, so the sums here equal that table's row.

   Lines are of the function's own source: the place of the next instruction at the time, or of
   the call, even a call into an inlined function. Offsets are of machine code, from the start of
   the function that the linker has: for an inlined function that is the function it was inlined
   into.

   Most stacks do not pass through the function. Whether the function is above a stored node is
   determined once for each node, board and day, upwards until it is known; so is whether the
   stack is short.

   The intervals are those of the function table: weight that may be the function's own, or below
   it, is summed separately by sampling unit. */
#include "detail.h"

#include "asked_name.h"
#include "common/arena.h"
#include "common/hex_text.h"
#include "detail_spot.h"
#include "naming.h"
#include "tally.h"
#include "view/pseudo_hints.h"
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum has {
  UNKNOWN,
  HAS_NOT,
  IS_SHORT,
  HAS
}; /* IS_SHORT: the stack is short and lacks the
      function */
/* Weights by sampling unit: the function's own, and weight that may be its. */
enum key {
  KEY_ELSEWHERE,
  KEY_BELOW,
  KEY_SELF,
  KEY_UNSAMPLED,
  KEY_PLACELESS, /* and sampled */
  KEY_KERNEL,    /* by clocks */
  KEY_SHORT,     /* stacks */
  KEYS
};

struct looker {
  const struct detail_question *question;
  struct naming naming;
  struct function_table functions, texts; /* texts: of boards, threads, builds */
  struct place_table places;
  bool *is_asked; /* by function: it is a requested one; the first JUDGED of them are set */
  uint32_t judged, asked_room;
  uint8_t *has; /* by stored node: enum has, of it and all nodes above */
  uint32_t has_room;
  uint32_t *path;
  uint32_t path_room;
  uint32_t *builds; /* by module of the forest: its number in texts + 1; 0: not looked up */
  uint32_t build_room;
  struct groups units;
  struct detail_spots spots;
  struct tally of_function, of_line, of_build, of_board, of_thread;
  uint64_t stack;         /* number of the current stack */
  uint32_t board, thread; /* of the block, in texts */
  uint64_t self_count, total_count;
  wide_sum self, total, elsewhere[KEYS]; /* weights by kind of stacks that may belong to the
                                            function */
};

static int grow(void **array, uint32_t *room, uint32_t needed, size_t entry_bytes) {
  if (needed <= *room) return 0;
  uint32_t wanted = *room > 0 ? *room : 256;
  while (wanted < needed) wanted = wanted < UINT32_MAX / 2 ? wanted * 2 : needed;
  void *more = reallocarray(*array, wanted, entry_bytes);
  if (more == NULL) return -ENOMEM;
  *array = more;
  *room = wanted;
  return 0;
}

/* ---- functions and nodes ---- */

/* Determines which functions named since the last call are requested. */
static int judge(struct looker *looker) {
  const struct detail_question *question = looker->question;
  void *asked = looker->is_asked;
  int error = grow(&asked, &looker->asked_room, looker->functions.count, sizeof *looker->is_asked);
  looker->is_asked = asked;
  for (; error == 0 && looker->judged < looker->functions.count; looker->judged++) {
    const struct view_function *function = &looker->functions.functions[looker->judged];
    looker->is_asked[looker->judged] =
        asked_function_is(question->function, function) &&
        (question->module == NULL || strcmp(function->module, question->module) == 0);
  }
  return error;
}

static int find_chain(struct looker *looker, const struct walk_block *block, uint32_t node,
                      struct naming_chain *ret) {
  int error = naming_chain(&looker->naming, block->forest, &block->forest->nodes[node], ret);
  return error != 0 ? error : judge(looker);
}

/* Whether the function is at NODE itself: 1, 0 or -errno. */
static int is_at(struct looker *looker, const struct walk_block *block, uint32_t node) {
  struct naming_chain chain;
  int error = find_chain(looker, block, node, &chain);
  for (uint32_t i = 0; error == 0 && i < chain.count; i++)
    if (looker->is_asked[chain.steps[i].function]) return 1;
  return error;
}

/* The initial state at the outermost frame: whether the stack is short. */
static uint8_t begin(const struct walk_block *block, uint32_t node) {
  const struct store_module *module = &block->forest->modules[block->forest->nodes[node].module];
  bool is_short = module->kind != MODULE_ELF && stack_end_of(module->path) != STACK_UNTOLD;
  return is_short ? IS_SHORT : HAS_NOT;
}

/* Whether the function is at NODE or above: enum has, or -errno. */
static int find_on_stack(struct looker *looker, const struct walk_block *block, uint32_t node) {
  uint32_t depth = 0, at = node;
  for (; at != BATCH_NONE && looker->has[at] == UNKNOWN; at = block->forest->nodes[at].parent) {
    void *path = looker->path;
    int error = grow(&path, &looker->path_room, depth + 1, sizeof *looker->path);
    looker->path = path;
    if (error != 0) return error;
    looker->path[depth++] = at;
  }
  uint8_t above = at != BATCH_NONE ? looker->has[at] : begin(block, looker->path[depth - 1]);
  while (depth > 0) {
    at = looker->path[--depth];
    int is_here = is_at(looker, block, at);
    if (is_here < 0) return is_here;
    if (is_here == 1) above = HAS;
    looker->has[at] = above;
  }
  return above;
}

/* ---- counting a stack ---- */

/* Frames are many and modules few: a build-id is formatted once for each module. */
static int find_build(struct looker *looker, const struct walk_block *block, uint32_t node,
                      uint32_t *ret) {
  uint32_t index = block->forest->nodes[node].module, *known = &looker->builds[index];
  const struct store_module *module = &block->forest->modules[index];
  char id[2 * LIMIT_MODULE_ID_BYTES + 1];
  *ret = *known - 1;
  if (*known != 0) return 0;
  hex_text_print(module->id, id, sizeof id);
  const struct view_function build = {.name = id, .module = walk_module_name(module)};
  int error = function_table_intern(&looker->texts, &build, false, ret);
  if (error == 0) *known = *ret + 1;
  return error;
}

/* Counts the requested functions of the chain at NODE, in total. */
static int count_frame(struct looker *looker, const struct walk_block *block, uint32_t node,
                       uint64_t weight) {
  struct naming_chain chain;
  uint32_t build;
  int error = find_chain(looker, block, node, &chain);
  for (uint32_t i = 0; error == 0 && i < chain.count; i++) {
    const struct tree_step *step = &chain.steps[i];
    if (!looker->is_asked[step->function]) continue;
    error = tally_total(&looker->of_function, step->function, looker->stack, weight);
    if (error == 0) error = tally_total(&looker->of_line, step->place, looker->stack, weight);
    if (error == 0) error = find_build(looker, block, node, &build);
    if (error == 0) error = tally_total(&looker->of_build, build, looker->stack, weight);
  }
  return error;
}

static int count_total(struct looker *looker, const struct walk_block *block,
                       const struct store_row *row) {
  bool is_stack = block->series->type != SAMPLE_CPU_LR;
  int error = 0;
  looker->stack++;
  looker->total += row->weight;
  looker->total_count = sum_of(looker->total_count, row->count);
  for (uint32_t at = row->node; error == 0 && at != BATCH_NONE;
       at = block->forest->nodes[at].parent) {
    if (is_stack && looker->has[at] != HAS) break;
    error = count_frame(looker, block, at, row->weight);
    if (!is_stack) break;
  }
  if (error == 0) error = tally_total(&looker->of_board, looker->board, looker->stack, row->weight);
  if (error == 0)
    error = tally_total(&looker->of_thread, looker->thread, looker->stack, row->weight);
  return error;
}

static int count_self(struct looker *looker, const struct walk_block *block,
                      const struct store_row *row, const struct naming_chain *chain) {
  const struct tree_step *step = &chain->steps[chain->count - 1];
  const struct store_node *leaf = &block->forest->nodes[row->node];
  struct detail_spot spot = {
      .code = chain->steps[0].function, .weight = row->weight, .count = row->count};
  int error = find_build(looker, block, row->node, &spot.build);
  looker->self += row->weight;
  looker->self_count = sum_of(looker->self_count, row->count);
  if (error == 0) error = tally_self(&looker->of_function, step->function, row->count, row->weight);
  if (error == 0) error = tally_self(&looker->of_line, step->place, row->count, row->weight);
  if (error == 0) error = tally_self(&looker->of_build, spot.build, row->count, row->weight);
  if (error == 0) error = tally_self(&looker->of_board, looker->board, row->count, row->weight);
  if (error == 0) error = tally_self(&looker->of_thread, looker->thread, row->count, row->weight);
  if (error != 0) return error;
  detail_spot_place(&looker->naming, block->forest, leaf, &spot);
  return detail_spots_add(&looker->spots, &spot);
}

/* How the weight of ROW, whose stack lacks the function, may belong to it. */
static enum key key_of(const struct walk_block *block, const struct store_row *row, int has) {
  const struct store_node *node = &block->forest->nodes[row->node];
  const struct store_module *module = &block->forest->modules[node->module];
  bool is_pseudo = module->kind != MODULE_ELF && node->parent == BATCH_NONE;
  if (is_pseudo && pseudo_is_placeless(module->path))
    return row->count == 0 ? KEY_UNSAMPLED : KEY_PLACELESS;
  if (is_pseudo && row->count == 0) return KEY_KERNEL;
  return has == IS_SHORT ? KEY_SHORT : KEY_ELSEWHERE;
}

static int look_at(struct looker *looker, const struct walk_block *block,
                   const struct store_row *row) {
  struct naming_chain leaf;
  bool is_stack = block->series->type != SAMPLE_CPU_LR; /* otherwise only the leaf is known */
  int has = is_stack ? find_on_stack(looker, block, row->node) : is_at(looker, block, row->node);
  if (has < 0) return has;
  if (has != (is_stack ? HAS : 1)) {
    enum key key = key_of(block, row, has);
    looker->elsewhere[key] += row->weight;
    return groups_add(&looker->units, key, row->weight);
  }
  int error = count_total(looker, block, row);
  if (error == 0) error = find_chain(looker, block, row->node, &leaf);
  if (error != 0) return error;
  bool is_self = looker->is_asked[leaf.steps[leaf.count - 1].function];
  error = groups_add(&looker->units, is_self ? KEY_SELF : KEY_BELOW, row->weight);
  return error == 0 && is_self ? count_self(looker, block, row, &leaf) : error;
}

static int intern(struct looker *looker, const char *text, uint32_t *ret) {
  const struct view_function named = {.name = text != NULL ? text : "", .module = ""};
  return function_table_intern(&looker->texts, &named, false, ret);
}

static int turn_to(struct looker *looker, const struct walk_block *block) {
  void *has = looker->has;
  int error = intern(looker, block->board, &looker->board);
  if (error == 0)
    error = intern(looker, store_series_label(block->series, "thread"), &looker->thread);
  walk_turn(&looker->units, block);
  int holds = error == 0 ? naming_turn(&looker->naming, block->board, block->forest) : error;
  if (holds != 0) return holds < 0 ? holds : 0;
  error = grow(&has, &looker->has_room, block->forest->node_count, sizeof *looker->has);
  looker->has = has;
  if (error == 0 && has != NULL) memset(looker->has, UNKNOWN, looker->has_room);
  void *builds = looker->builds;
  if (error == 0)
    error = grow(&builds, &looker->build_room, block->forest->module_count, sizeof *looker->builds);
  looker->builds = builds;
  if (error == 0 && builds != NULL) memset(builds, 0, looker->build_room * sizeof *looker->builds);
  return error;
}

static int on_block(void *context, const struct walk_block *block) {
  struct looker *looker = context;
  bool is_stack = block->series->type != SAMPLE_CPU_LR;
  int error = turn_to(looker, block);
  if (error == 0)
    error = naming_prepare(&looker->naming, block->forest, block->rows, block->count, is_stack);
  for (size_t i = 0; i < block->count && error == 0; i++)
    error = look_at(looker, block, &block->rows[i]);
  return error;
}

/* ---- the answer ---- */

static int heaviest_spot_first(const void *left, const void *right) {
  const struct detail_spot *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  if (a->build != b->build) return a->build < b->build ? -1 : 1;
  if (a->code != b->code) return a->code < b->code ? -1 : 1;
  return a->address < b->address ? -1 : a->address > b->address;
}

static int list_offsets(struct looker *looker, struct arena *arena, struct query_detail *ret) {
  struct detail_spots *spots = &looker->spots;
  struct detail_offset *offsets = arena_array(arena, spots->count, sizeof *offsets);
  if (offsets == NULL) return -ENOMEM;
  if (spots->count > 0)
    qsort(spots->spots, spots->count, sizeof *spots->spots, heaviest_spot_first);
  for (uint32_t i = 0; i < spots->count; i++) {
    const struct detail_spot *spot = &spots->spots[i];
    const struct view_function *build = &looker->texts.functions[spot->build];
    offsets[i] = (struct detail_offset){.build_id = build->name,
                                        .module = build->module,
                                        .function = looker->functions.functions[spot->code].name,
                                        .address = spot->address,
                                        .offset = spot->offset,
                                        .has_offset = spot->has_offset,
                                        .weight = spot->weight,
                                        .count = spot->count};
  }
  ret->offsets = offsets;
  ret->offset_count = spots->count;
  return 0;
}

static int heaviest_row_first(const void *left, const void *right) {
  const struct detail_row *a = left, *b = right;
  if (a->self != b->self) return a->self > b->self ? -1 : 1;
  if (a->total != b->total) return a->total > b->total ? -1 : 1;
  int order = strcmp(a->name != NULL ? a->name : "", b->name != NULL ? b->name : "");
  return order != 0 ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* The row of number AT. */
typedef struct detail_row row_of(const struct looker *looker, uint32_t at);

static struct detail_row text_row(const struct looker *looker, uint32_t at) {
  const struct view_function *text = &looker->texts.functions[at];
  return (struct detail_row){.name = text->name, .module = text->module};
}

static struct detail_row line_row(const struct looker *looker, uint32_t at) {
  const struct view_place *place = &looker->places.places[at];
  return (struct detail_row){.name = place->file, .module = "", .line = place->line};
}

static struct detail_row definition_row(const struct looker *looker, uint32_t at) {
  const struct view_function *function = &looker->functions.functions[at];
  return (struct detail_row){
      .name = function->file, .module = function->module, .line = function->line};
}

static int list_rows(const struct looker *looker, const struct tally *tally, row_of *make,
                     struct arena *arena, struct detail_rows *ret) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < tally->room; i++) count += tally->sums[i].stack > 0;
  ret->rows = arena_array(arena, count, sizeof *ret->rows);
  if (ret->rows == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < tally->room; i++) {
    const struct tally_sum *sum = &tally->sums[i];
    if (sum->stack == 0) continue;
    struct detail_row row = make(looker, i);
    row.self = sum->self;
    row.self_count = sum->self_count;
    row.total = sum->total;
    ret->rows[ret->count++] = row;
  }
  qsort(ret->rows, ret->count, sizeof *ret->rows, heaviest_row_first);
  return 0;
}

static double part_of(const struct query_detail *detail, wide_sum weight) {
  wide_sum whole = detail->whole.total_weight;
  return whole > 0 ? (double)weight / (double)whole : 0;
}

/* The largest share that may be the function's own or, with IS_TOTAL, below it. */
static double find_hidden(const struct looker *looker, const struct ratio *ratio,
                          const struct query_detail *detail, bool is_total) {
  static const enum key keys[] = {KEY_UNSAMPLED, KEY_PLACELESS, KEY_KERNEL, KEY_SHORT};
  const char *asked = looker->question->function;
  uint64_t parts[GROUPS_MAX];
  double hidden = 0;
  if (pseudo_is_placeless(asked) || strcmp(asked, PSEUDO_KERNEL) == 0) return 0;
  for (unsigned i = 0; i < (is_total ? 4 : 2); i++) {
    groups_weights(&looker->units, keys[i], parts);
    if (looker->elsewhere[keys[i]] > 0)
      hidden += ratio_reach(ratio, part_of(detail, looker->elsewhere[keys[i]]),
                            ratio_variance(ratio, parts));
  }
  return hidden;
}

/* Strata are only of samples, but a row of the kernel may have time of clocks, too. */
static double variance_of(const struct looker *looker, const struct ratio *ratio,
                          const uint64_t parts[GROUPS_MAX]) {
  bool is_pseudo = looker->question->function[0] == '[';
  return is_pseudo && !ratio->is_grouped ? 0 : ratio_variance(ratio, parts);
}

static void find_shares(const struct looker *looker, struct query_detail *ret) {
  const struct groups *units = &looker->units;
  const struct ratio_whole whole = {.groups = units,
                                    .weight = ret->whole.total_weight,
                                    .unsampled = looker->elsewhere[KEY_UNSAMPLED],
                                    .evidence = &ret->whole.evidence};
  uint64_t own[GROUPS_MAX], through[GROUPS_MAX];
  struct ratio ratio;
  ratio_init_whole(&ratio, &whole);
  groups_weights(units, KEY_SELF, own);
  groups_weights(units, KEY_BELOW, through);
  for (unsigned i = 0; i < units->count; i++) through[i] += own[i];
  double self = part_of(ret, ret->self), total = part_of(ret, ret->total);
  double of_self = variance_of(looker, &ratio, own);
  double of_total = variance_of(looker, &ratio, through);
  ret->basis = ratio_basis(&ratio);
  ret->self_share = ratio_interval(&ratio, self, of_self);
  ret->total_share = ratio_interval(&ratio, total, of_total);
  ret->lack = self > 0 ? ratio_lack(&ratio, self, of_self) : ratio_lack(&ratio, total, of_total);
  ratio_raise(&ret->self_share, find_hidden(looker, &ratio, ret, false));
  ratio_raise(&ret->total_share, find_hidden(looker, &ratio, ret, true));
}

static int list(struct looker *looker, struct arena *arena, struct query_detail *ret) {
  ret->self = looker->self;
  ret->total = looker->total;
  ret->self_count = looker->self_count;
  ret->total_count = looker->total_count;
  find_shares(looker, ret);
  int error = list_offsets(looker, arena, ret);
  if (error == 0)
    error = list_rows(looker, &looker->of_function, definition_row, arena, &ret->definitions);
  if (error == 0) error = list_rows(looker, &looker->of_line, line_row, arena, &ret->lines);
  if (error == 0) error = list_rows(looker, &looker->of_build, text_row, arena, &ret->builds);
  if (error == 0) error = list_rows(looker, &looker->of_board, text_row, arena, &ret->boards);
  if (error == 0) error = list_rows(looker, &looker->of_thread, text_row, arena, &ret->threads);
  return error;
}

static int init(struct looker *looker, const struct query_source *source,
                const struct query_range *range, struct arena *arena) {
  int error = function_table_init(&looker->functions, arena);
  if (error == 0) error = function_table_init(&looker->texts, arena);
  if (error == 0) error = place_table_init(&looker->places);
  looker->spots.seed = looker->functions.seed;
  naming_init(&looker->naming, source->symbolizer, &looker->functions, &looker->places);
  looker->naming.cutoff = range->cutoff;
  return error;
}

static void fini(struct looker *looker) {
  naming_fini(&looker->naming);
  function_table_fini(&looker->functions);
  function_table_fini(&looker->texts);
  place_table_fini(&looker->places);
  groups_fini(&looker->units);
  detail_spots_fini(&looker->spots);
  tally_fini(&looker->of_function);
  tally_fini(&looker->of_line);
  tally_fini(&looker->of_build);
  tally_fini(&looker->of_board);
  tally_fini(&looker->of_thread);
  free(looker->is_asked);
  free(looker->has);
  free(looker->builds);
  free(looker->path);
}

int query_detail(const struct query_source *source, const struct query_range *range,
                 const struct detail_question *question, struct arena *arena,
                 struct query_detail *ret) {
  struct looker looker = {.question = question};
  struct query_detail detail = {.self = 0};
  const struct walk walk = {.on_block = on_block, .context = &looker, .need = {.boards = true}};
  int error = init(&looker, source, range, arena);
  if (error == 0) error = walk_run(source, range, &walk, arena, &detail.whole);
  if (error == 0) error = list(&looker, arena, &detail);
  if (error == 0 && looker.stack == 0) {
    detail.near_count = near_names_find(looker.functions.functions, looker.functions.count,
                                        question->function, range->cutoff, detail.near_names);
    error = -ENOENT;
  }
  fini(&looker);
  if (error == 0 || error == -ENOENT) *ret = detail;
  return error;
}
