/* SPDX-License-Identifier: Apache-2.0 */
/* Details of one function: by offset, line, build, board and thread. */
#ifndef QUERY_DETAIL_H
#define QUERY_DETAIL_H

#include "near_names.h"
#include "query.h"

struct detail_question {
  const char *function; /* its name as in the function table */
  const char *module;   /* NULL: any module */
};

/* A place in a function, with self time only. All offsets together add up to the function's self
   time. */
struct detail_offset {
  const char *build_id; /* hexadecimal; "" for code in no file */
  const char *module;
  const char *function; /* of the machine code; differs from the requested one if inlined */
  uint64_t address;     /* in the module */
  uint64_t offset;      /* from the start of that function, valid if HAS_OFFSET */
  bool has_offset;
  uint64_t count;
  wide_sum weight;
};

/* SELF of all rows adds up to the function's self time. In TOTAL a stack counts once a row, and so
   in each of several lines or builds that it passes through. */
struct detail_row {
  const char *name;   /* of the board, thread, source file (may be NULL), or build-id */
  const char *module; /* of builds and definitions; otherwise "" */
  uint32_t line;
  wide_sum self, total;
  uint64_t self_count;
};

struct detail_rows {
  uint32_t count;
  struct detail_row *rows; /* by self, then total, heaviest first */
};

struct query_detail {
  struct view_tree whole; /* only its sums; it has no nodes */
  wide_sum self, total;
  uint64_t self_count, total_count;
  struct view_share self_share, total_share;
  enum ratio_lack lack;    /* as in the function table */
  struct view_basis basis; /* of their intervals */
  uint32_t offset_count;
  struct detail_offset *offsets; /* heaviest first */
  /* DEFINITIONS: the functions of that name, each with its module and the file and line of its
     declaration. */
  struct detail_rows definitions, lines, builds, boards, threads;
  const char *near_names[NEAR_NAMES_MAX]; /* suggestions if there is no such function */
  unsigned near_count;
};

/* Answers QUESTION for the selection of RANGE, in ARENA. Functions of one name in several modules
   are combined. Returns as query_tree, or -ENOENT if the selection has no such function. */
int query_detail(const struct query_source *source, const struct query_range *range,
                 const struct detail_question *question, struct arena *arena,
                 struct query_detail *ret);

#endif
