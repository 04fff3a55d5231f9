/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the sources that were uploaded for the builds of a function. */
#ifndef HTTP_SOURCE_TEXT_H
#define HTTP_SOURCE_TEXT_H

#include "common/buf.h"
#include "proto/source_bundle.h"

struct arena;
struct detail_rows;
struct source_store;

enum {
  SOURCE_TEXT_FILES_MAX = 8,     /* of one answer */
  SOURCE_TEXT_LINE_BYTES = 1024, /* a longer line is cut */
  SOURCE_TEXT_LINES_MAX = 5000,  /* of a listing */
};

struct source_text_file {
  const char *path; /* as debug information has it */
  struct buf content;
  uint32_t *starts; /* where each line begins, and where one more would */
  uint32_t line_count;
};

struct source_text {
  struct arena *arena;
  struct source_bundle bundle;
  const char *build_id; /* hexadecimal, whose sources these are; NULL: there are none */
  struct source_text_file files[SOURCE_TEXT_FILES_MAX];
  unsigned file_count;
};

/* Opens the sources of the first of BUILDS that has some in STORE.  To be ended by
   source_text_close, before ARENA is. */
void source_text_open(const struct source_store *store, const struct detail_rows *builds,
                      struct arena *arena, struct source_text *ret);
void source_text_close(struct source_text *text);

/* Finds LINE, counted from 1, of the file PATH (may be NULL).  Returns whether it is there, with
   its bytes in RET, without the end of the line; valid until source_text_close. */
bool source_text_line(struct source_text *text, const char *path, uint32_t line, struct span *ret);

struct source_listing {
  const char *path;
  uint32_t first, last; /* lines, of which each is there */
};

/* Chooses what to show of a function whose samples lie in LINES, heaviest first: all of them that
   are in the file of the first one, and some around.  Returns whether there is such a file here. */
bool source_text_choose(struct source_text *text, const struct detail_rows *lines,
                        struct source_listing *ret);

#endif
