/* SPDX-License-Identifier: Apache-2.0 */
/* One function from inside: by offset, line, build, board and thread. */
#ifndef QUERY_DETAIL_H
#define QUERY_DETAIL_H

#include "near_names.h"
#include "query.h"

struct detail_question {
  const char *function; /* by its name, as in the function table */
  const char *module;   /* NULL: in any */
};

/* Where in a function.  Its own time alone, which all offsets add up to. */
struct detail_offset {
  const char *build_id; /* hexadecimal; "" for code in no file */
  const char *module;
  const char *function; /* the machine code's: the question's own unless that was inlined there */
  uint64_t address;     /* in the module */
  uint64_t offset;      /* from that function's start, */
  bool has_offset;      /* where it is known */
  uint64_t count;
  wide_sum weight;
};

/* SELF of all rows add up to the function's; in TOTAL a stack counts once a row, and so in several
   lines or builds where it passes through several. */
struct detail_row {
  const char *name;   /* of the board, thread, source file (may be NULL), or build-id */
  const char *module; /* of builds and definitions; else "" */
  uint32_t line;
  wide_sum self, total;
  uint64_t self_count;
};

struct detail_rows {
  uint32_t count;
  struct detail_row *rows; /* by self, then total, heaviest first */
};

struct query_detail {
  struct view_tree whole; /* its sums; no nodes */
  wide_sum self, total;
  uint64_t self_count, total_count;
  struct view_share self_share, total_share;
  enum ratio_lack lack;    /* as in the function table */
  struct view_basis basis; /* of their intervals */
  uint32_t offset_count;
  struct detail_offset *offsets; /* heaviest first */
  /* DEFINITIONS: the functions of that name, each with module, and file and line of its
     declaration. */
  struct detail_rows definitions, lines, builds, boards, threads;
  const char *near_names[NEAR_NAMES_MAX]; /* when there is no such function */
  unsigned near_count;
};

/* Answers QUESTION for what RANGE selects, in ARENA.  Functions of one name in several modules are
   taken as one.  Returns as query_tree, or -ENOENT when the selection has no such function. */
int query_detail(const struct query_source *source, const struct query_range *range,
                 const struct detail_question *question, struct arena *arena,
                 struct query_detail *ret);

#endif
