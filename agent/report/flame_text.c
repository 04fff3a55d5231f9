/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph is drawn sideways: a line per call, callees below and to the right of their
   caller.  So names are readable from top to bottom on any terminal, also on a serial console.

      100.0 %  ---------------------------####  main
       60.0 %  ################                  compress
       25.0 %                  ----###           parse
       15.0 %                  ####               next_word

   A bar is below its caller's bar, and siblings are side by side: '-' is time of callees in the
   lines below, '#' is the function's own time.  Block characters are used if the locale has UTF-8.

   The heaviest calls get a line each; the rest of a caller, small or too deep, shares one line.  A
   parent weighs at least as much as its children, so the heaviest nodes form a tree.  Input is
   untrusted: a tree that does not add up is drawn within its bounds. */
#include "flame_text.h"
#include "ascii_text.h"
#include "name_fit.h"

#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"
#define OWN_BLOCK "\xe2\x96\x88"    /* U+2588, full */
#define CALLED_BLOCK "\xe2\x96\x91" /* U+2591, a quarter */

enum {
  USUAL_COLUMNS = 80,
  SHARE_COLUMNS = 9,   /* "100.0 %  " */
  BETWEEN_COLUMNS = 2, /* bar and name */
  BAR_LEAST = 10,
  WIDE_COLUMNS = 120, /* from this width a level is indented by two columns */
};

static const double worth_a_line = 0.01;  /* of all: a share that a bar can show */
static const double worth_a_rest = 0.005; /* of all: for a line that sums up many calls */
static const double worth_a_look = 0.1;

struct drawing {
  const struct flame *flame;
  const struct top_text *style;
  const uint32_t **kept; /* by node: the first of its children with a line */
  uint32_t *kept_count;
  uint32_t *light_count; /* by node: its children without a line */
  unsigned columns, bar;
  struct buf *out;
};

/* A node that is drawn, and the start of its bar as a weight. */
struct place {
  uint32_t node;
  unsigned depth;
  uint64_t from;
};

static uint64_t whole(const struct drawing *drawing) {
  return drawing->flame->nodes[0].total;
}

static double share_of(const struct drawing *drawing, uint64_t weight) {
  return (double)weight / (double)whole(drawing);
}

/* The column where a bar of WEIGHT ends. */
static unsigned column_of(const struct drawing *drawing, uint64_t weight) {
  double share = share_of(drawing, weight);
  return share >= 1 ? drawing->bar : (unsigned)(share * drawing->bar + 0.5);
}

static void print_cells(const struct drawing *drawing, const char *cell, unsigned count) {
  for (; count > 0; count--) buf_append_string(drawing->out, cell);
}

/* Prints a bar from FROM to FROM + TOTAL; its last SELF is the function's own time. */
static void print_bar(const struct drawing *drawing, uint64_t from, uint64_t total, uint64_t self) {
  bool is_utf8 = drawing->style->is_utf8, has_colour = drawing->style->has_colour;
  if (self > total) self = total;
  unsigned start = column_of(drawing, from), end = column_of(drawing, from + total);
  if (start == drawing->bar) start--;
  if (end <= start) end = start + 1;
  unsigned own = column_of(drawing, from + (total - self));
  if (own < start || total == self) own = start;
  if (own > end) own = end;
  print_cells(drawing, " ", start);
  if (has_colour) buf_append_string(drawing->out, DIM);
  print_cells(drawing, is_utf8 ? CALLED_BLOCK : "-", own - start);
  if (has_colour) buf_append_string(drawing->out, PLAIN);
  print_cells(drawing, is_utf8 ? OWN_BLOCK : "#", end - own);
  print_cells(drawing, " ", drawing->bar - end + BETWEEN_COLUMNS);
}

/* Indents by DEPTH, on a terminal only as far as a name fits.  Returns the number of columns
   used. */
static unsigned print_indent(const struct drawing *drawing, unsigned depth) {
  unsigned used = SHARE_COLUMNS + drawing->bar + BETWEEN_COLUMNS;
  unsigned room = drawing->columns > used + NAME_FIT_LEAST ? drawing->columns - used : 0;
  unsigned indent = drawing->columns >= WIDE_COLUMNS ? 2 * depth : depth;
  unsigned most = room > NAME_FIT_LEAST ? room - NAME_FIT_LEAST : 0;
  if (drawing->style->columns > 0 && indent > most) indent = most;
  print_cells(drawing, " ", indent);
  return used + indent;
}

static void print_name(const struct drawing *drawing, const struct flame_node *node,
                       unsigned depth) {
  const struct top_text_row row = {
      .name = node->name, .module = node->module, .self = {.share = share_of(drawing, node->self)}};
  unsigned used = print_indent(drawing, depth);
  size_t start = drawing->out->len;
  top_text_print_name(&row, used, drawing->style, drawing->out);
  if (!drawing->style->is_utf8) ascii_text_keep(drawing->out, start);
}

static void print_line(const struct drawing *drawing, const struct place *place) {
  const struct flame_node *node = &drawing->flame->nodes[place->node];
  double share = share_of(drawing, node->total);
  bool is_strong = drawing->style->has_colour && share_of(drawing, node->self) >= worth_a_look;
  buf_printf(drawing->out, "%s%5.1f %%%s  ", is_strong ? BOLD : "", 100 * share,
             is_strong ? PLAIN : "");
  print_bar(drawing, place->from, node->total, node->self);
  print_name(drawing, node, place->depth);
}

/* Prints the rest of the node at PLACE that has no lines.  FROM: the start of its bar. */
static void print_rest(const struct drawing *drawing, const struct place *place, uint64_t from,
                       uint64_t weight) {
  uint32_t count = drawing->light_count[place->node];
  if (count == 0 || share_of(drawing, weight) < worth_a_rest) return;
  buf_printf(drawing->out, "%5.1f %%  ", 100 * share_of(drawing, weight));
  print_bar(drawing, from, weight, 0);
  print_indent(drawing, place->depth + 1);
  buf_printf(drawing->out, "(%s%u more%s)\n", drawing->flame->is_partial ? "at least " : "", count,
             place->depth >= drawing->flame->depth ? ", deeper: --depth" : "");
}

/* Draws the node at PLACE and its subtree.  Recursion is limited to the depth of the lines. */
static void draw(const struct drawing *drawing, const struct place *place) {
  const struct flame_node *node = &drawing->flame->nodes[place->node];
  uint64_t rest = node->total > node->self ? node->total - node->self : 0, from = place->from;
  print_line(drawing, place);
  for (uint32_t i = 0; i < drawing->kept_count[place->node]; i++) {
    uint32_t child = drawing->kept[place->node][i];
    uint64_t weight = drawing->flame->nodes[child].total;
    draw(drawing, &(struct place){child, place->depth + 1, from});
    if (weight > rest) weight = rest;
    rest -= weight;
    from += weight;
  }
  print_rest(drawing, place, from, rest);
}

/* ---- selection of lines ---- */

struct ranked {
  uint64_t weight;
  uint32_t node, parent;
};

/* The heaviest first, and parents before children. */
static int by_weight(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
  return (a->node > b->node) - (a->node < b->node);
}

static int by_parent(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  if (a->parent != b->parent) return a->parent < b->parent ? -1 : 1;
  return by_weight(left, right);
}

/* Fills in RANKED with the nodes that deserve a line.  Returns their number.  DEPTHS: by node;
   UINT32_MAX if it is not connected to the root. */
static uint32_t rank(const struct drawing *drawing, uint32_t *depths, struct ranked *ranked) {
  const struct flame *flame = drawing->flame;
  uint32_t count = 0;
  for (uint32_t i = 1; i < flame->count; i++) {
    const struct flame_node *node = &flame->nodes[i];
    bool is_below = node->parent < i && depths[node->parent] != UINT32_MAX;
    depths[i] = is_below ? depths[node->parent] + 1 : UINT32_MAX;
    if (!is_below) continue;
    drawing->light_count[node->parent]++;
    if (depths[i] <= flame->depth && share_of(drawing, node->total) >= worth_a_line)
      ranked[count++] = (struct ranked){node->total, i, node->parent};
  }
  return count;
}

/* Keeps the heaviest of the COUNT RANKED with a kept caller, up to the limit of lines, sorted by
   caller.  Returns their number. */
static uint32_t choose(const struct drawing *drawing, uint32_t *depths, struct ranked *ranked,
                       uint32_t count) {
  uint32_t kept = 0;
  qsort(ranked, count, sizeof *ranked, by_weight);
  for (uint32_t i = 0; i < count && kept + 1 < drawing->style->limit; i++) {
    if (ranked[i].parent != 0 && depths[ranked[i].parent] != 0) continue;
    depths[ranked[i].node] = 0; /* it has a line: its depth is not needed any more */
    ranked[kept++] = ranked[i];
  }
  qsort(ranked, kept, sizeof *ranked, by_parent);
  return kept;
}

/* Assigns to each node its children with lines.  CHILDREN gets them in the order of RANKED. */
static void deal_out(const struct drawing *drawing, const struct ranked *ranked, uint32_t count,
                     uint32_t *children) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t parent = ranked[i].parent;
    children[i] = ranked[i].node;
    if (drawing->kept_count[parent]++ == 0) drawing->kept[parent] = &children[i];
    drawing->light_count[parent]--;
  }
}

static int arrange_and_draw(struct drawing *drawing) {
  size_t count = drawing->flame->count;
  uint32_t *depths = calloc(count, sizeof *depths), *children = calloc(count, sizeof *children);
  struct ranked *ranked = calloc(count, sizeof *ranked);
  drawing->kept = calloc(count, sizeof *drawing->kept);
  drawing->kept_count = calloc(count, sizeof *drawing->kept_count);
  drawing->light_count = calloc(count, sizeof *drawing->light_count);
  bool has_all = depths != NULL && children != NULL && ranked != NULL && drawing->kept != NULL &&
                 drawing->kept_count != NULL && drawing->light_count != NULL;
  if (has_all) {
    uint32_t kept = choose(drawing, depths, ranked, rank(drawing, depths, ranked));
    deal_out(drawing, ranked, kept, children);
    draw(drawing, &(struct place){0, 0, 0});
  }
  free(depths);
  free(children);
  free(ranked);
  free(drawing->kept);
  free(drawing->kept_count);
  free(drawing->light_count);
  return has_all && !drawing->out->failed ? 0 : -ENOMEM;
}

int flame_text_print(const struct flame *flame, const struct top_text *style, struct buf *ret) {
  struct drawing drawing = {.flame = flame, .style = style, .out = ret};
  if (flame->count == 0 || flame->nodes[0].total == 0) return 0;
  drawing.columns = style->columns > 0 ? style->columns : USUAL_COLUMNS;
  drawing.bar = drawing.columns * 2 / 5;
  if (drawing.bar < BAR_LEAST) drawing.bar = BAR_LEAST;
  buf_printf(ret, "  total  %s its own time, %s that of what it calls\n",
             style->is_utf8 ? OWN_BLOCK : "#", style->is_utf8 ? CALLED_BLOCK : "-");
  return arrange_and_draw(&drawing);
}
