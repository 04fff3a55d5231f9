/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the sources uploaded for the builds of a function. */
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
  const char *path; /* as in the debug information */
  struct buf content;
  uint32_t *starts; /* start of each line, and of one past the last */
  uint32_t line_count;
};

struct source_text {
  struct arena *arena;
  struct source_bundle bundle;
  const char *build_id; /* hexadecimal, the build of the sources; NULL: none */
  struct source_text_file files[SOURCE_TEXT_FILES_MAX];
  unsigned file_count;
};

/* Opens the sources of the first of BUILDS that has some in STORE. To be ended by
   source_text_close, before ARENA is freed. */
void source_text_open(const struct source_store *store, const struct detail_rows *builds,
                      struct arena *arena, struct source_text *ret);
void source_text_close(struct source_text *text);

/* Finds LINE, counted from 1, of the file PATH (may be NULL). Returns whether it exists, with its
   bytes in RET, without the newline; valid until source_text_close. */
bool source_text_line(struct source_text *text, const char *path, uint32_t line, struct span *ret);

struct source_listing {
  const char *path;
  uint32_t first, last; /* lines, all available */
};

/* Chooses the lines to show of a function with samples in LINES, heaviest first. They are from the
   file of the first available line: the range of its lines with samples, and some around. Returns
   whether there is an available line. */
bool source_text_choose(struct source_text *text, const struct detail_rows *lines,
                        struct source_listing *ret);

#endif
