/* SPDX-License-Identifier: Apache-2.0 */
/* Answers "Why is my stack short?". An incomplete stack stands below a pseudo frame that gives its
   end (proto/stack_end.h). The frame directly below that is the outermost known one, so its module
   is the place to look.

     root > [no table] > png_read_row > inflate     ends in libpng, which lacks a table

   A cut stack ends at the limit of its copy, mostly in the module that recurses. */
#include "stacks.h"
#include "text_ids.h"

#include "common/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

wide_sum stacks_total(const struct view_tree *tree) {
  wide_sum total = 0;
  for (unsigned i = 0; i < STACK_END_COUNT; i++) total += tree->stacks_weight[i];
  return total;
}

/* Returns the end of the stacks with node AT as outermost frame; UNTOLD if it is no outermost frame
   of a short stack. */
static enum stack_end end_at(const struct view_tree *tree, uint32_t at) {
  uint32_t parent = tree->nodes[at].parent;
  if (at == 0 || parent == 0 || tree->nodes[parent].parent != 0) return STACK_UNTOLD;
  return tree->functions[tree->nodes[parent].function].end;
}

static const char *module_of(const struct view_tree *tree, uint32_t at) {
  return tree->functions[tree->nodes[at].function].module;
}

static int heaviest_first(const void *left, const void *right) {
  const struct stacks_row *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  int by_name = strcmp(a->module, b->module);
  return by_name != 0 ? by_name : (a->end > b->end) - (a->end < b->end);
}

/* Fills ROWS, one for each end and each of MODULES. */
static void sum_up(const struct view_tree *tree, struct text_ids *modules,
                   struct stacks_row *rows) {
  for (uint32_t i = 0; i < modules->count * STACK_END_COUNT; i++) {
    rows[i].module = modules->texts[i / STACK_END_COUNT];
    rows[i].end = (enum stack_end)(i % STACK_END_COUNT);
  }
  for (uint32_t i = 1; i < tree->node_count; i++) {
    enum stack_end end = end_at(tree, i);
    if (end == STACK_UNTOLD) continue;
    uint32_t module = text_ids_of(modules, module_of(tree, i), NULL);
    rows[module * STACK_END_COUNT + end].weight += tree->nodes[i].total_weight;
  }
}

int stacks_ends_in(const struct view_tree *tree, struct arena *arena, struct stacks_row **ret,
                   uint32_t *ret_count) {
  struct text_ids modules = {.count = 0};
  struct stacks_row *rows = NULL;
  uint32_t count = 0;
  for (uint32_t i = 1; i < tree->node_count; i++)
    if (end_at(tree, i) != STACK_UNTOLD) text_ids_of(&modules, module_of(tree, i), NULL);
  size_t room = (size_t)modules.count * STACK_END_COUNT;
  if (!modules.failed) rows = arena_array(arena, room + 1, sizeof *rows);
  if (rows != NULL) {
    sum_up(tree, &modules, rows);
    qsort(rows, room, sizeof *rows, heaviest_first);
  }
  text_ids_fini(&modules);
  if (rows == NULL) return -ENOMEM;
  while (count < room && count < STACKS_ENDS_IN_MAX && rows[count].weight > 0) count++;
  *ret = rows;
  *ret_count = count;
  return 0;
}

const char *stacks_meaning(enum stack_end end) {
  switch (end) {
  case STACK_TRUNCATED:
    return "cut before the first function: more frames than are kept of a stack, or more bytes "
           "than perf copies of one (16 KiB, fewer above 512 Hz; --sampler timer copies nothing); "
           "who was running, and the nearest callers, are right";
  case STACK_NO_TABLE:
    return "ended in code without frame pointers, whose unwind table was not made in time (what "
           "helps: a longer run, or a lasting daemon in place of --output; --unwind fp makes none) "
           "or that has none that can be read (.eh_frame, .debug_frame, .ARM.exidx: build it with "
           "-funwind-tables or -fno-omit-frame-pointer)";
  case STACK_BAD:
    return "ended where what was found can be no frame: code that changes stacks by itself "
           "(coroutines, assembly), a table that is wrong, or a stack that was overwritten";
  case STACK_OTHER:
    return "ended at memory of a stack that is not the thread's own (a coroutine's, or what a "
           "signal's handler on an alternate stack interrupted), where by timer only unwind tables "
           "are followed, and of which perf copies only the stack of the moment; who was running, "
           "and the nearest callers, are right (what helps: for coroutines --sampler perf; for "
           "handlers --sampler timer; code with unwind tables)";
  case STACK_UNTOLD:
    return "nobody can say whether they are whole: walked along frame pointers alone or not at "
           "all (--unwind auto knows), or by a daemon of an earlier version";
  default:
    return "";
  }
}

const char *stacks_why(const struct stacks_row *row) {
  if (row->end == STACK_TRUNCATED) return "was at work where what is kept of the stack ends";
  if (row->end == STACK_BAD) return "stands above what can be no frame";
  if (row->end == STACK_OTHER) return "was at work where memory of another stack begins";
  if (strcmp(row->module, "[anon]") == 0)
    return "is in no file: made at run time, without frame pointers";
  if (strcmp(row->module, "[unknown]") == 0) return "was gone before anyone could look at it";
  return "has no unwind table that was made in time, or none that can be read, and no frame "
         "pointers";
}
