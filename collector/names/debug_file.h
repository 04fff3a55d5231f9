/* SPDX-License-Identifier: Apache-2.0 */
/* One debug file of the store, and its quality. */
#ifndef NAMES_DEBUG_FILE_H
#define NAMES_DEBUG_FILE_H

#include "common/span.h"
#include <stdbool.h>

#include <stdint.h>

/* The quality of names, ascending. */
enum debug_quality {
  DEBUG_SUPPLEMENT = -1, /* has no names by itself: other files refer to it (supplements.h) */
  DEBUG_NONE = 0,
  DEBUG_BAD = 1,    /* the worker rejected it or crashed */
  DEBUG_BOUNDS = 2, /* no function has a name */
  DEBUG_MAP = 3,    /* a list of symbols: all functions, seldom with sizes, by the sender's claim */
  DEBUG_DYNSYM = 4, /* exported functions */
  DEBUG_SYMTAB = 5,
  DEBUG_DWARF = 6, /* inlined functions, files and lines, too */
};

const char *debug_quality_name(enum debug_quality quality);

/* Whether a file of QUALITY has every function of its module. */
bool debug_quality_is_whole(enum debug_quality quality);

struct debug_file {
  char path[512];       /* of the file on disk */
  char index_path[512]; /* of the index of its symbols */
  char dwarf_path[512]; /* of the index that also has its debug information; valid from DEBUG_DWARF
                           on */
  uint8_t sha256[32];
  enum debug_quality quality; /* DEBUG_NONE until the worker has read it */
  uint64_t bytes;
  uint32_t sender; /* below INDEX_TEXTS_SENDERS (index_texts.h) */
};

enum {
  DEBUG_PUBLIC_MAX = 8,  /* files of one module that are considered for all boards */
  DEBUG_SOURCES_MAX = 5, /* files that name one module: one of each quality */
};

/* A file that was sent to the store. */
struct debug_known {
  struct span id;
  uint8_t sha256[32];
  uint64_t bytes;
  enum debug_quality quality;
  bool is_seen; /* a board has used its module */
};

#endif
