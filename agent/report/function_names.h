/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a profile file keeps: the payload of a MARK with a payload (spool/profile_file.h),
   compressed with zstd.  Numbers are varints:

      version (FUNCTION_NAMES_VERSION)
      count of texts, then each length and bytes
      count of functions of the source, then each
        name, name as its file has it (0: the same), file that declares it, line there
      modules until the end, each
        quality (enum names_quality less NAMES_EXPORTED), length of the build-id, build-id,
        count of places, then each
          count of its frames * 2 + 1 when it is in the same code as the place before, else * 2
          the same: its address less that of the place before
          else: start of the code less that of the place before, size, address less the start
          of each frame, innermost first: function, source file, line

   A text is referred to by its index plus 1; 0 is none.  A place is a sampled address with all its
   functions.  If only the name or bounds of the code are known, one address stands for all.  Texts
   are clean (symbol/name_text.h).  A module may occur again, with other places or better names.

   Version 1 had only functions, without lines or inlined functions.  A reader skips a payload of an
   unknown version. */
#ifndef REPORT_FUNCTION_NAMES_H
#define REPORT_FUNCTION_NAMES_H

#include "common/buf.h"
#include "common/span.h"
#include "common/table.h"
#include "view/text_ids.h"

#include <stdbool.h>

struct arena;
struct symbol_frame;

enum { FUNCTION_NAMES_VERSION = 2, FUNCTION_NAMES_MODULES_MAX = 65536 };

/* Quality of a name. */
enum names_quality {
  NAMES_NONE,
  NAMES_BOUNDS,   /* of a function with a stripped name */
  NAMES_EXPORTED, /* of a stripped file: only exported names */
  NAMES_ALL,      /* of a full symbol table */
  NAMES_DEBUG,    /* of debug information: with lines and inlined functions */
};

/* The functions at an address. */
struct place_name {
  uint64_t address;
  uint32_t count;                    /* of FRAMES: 1 to SYMBOL_CHAIN_MAX */
  const struct symbol_frame *frames; /* innermost first */
};

struct module_names {
  struct span id;
  enum names_quality quality; /* NAMES_EXPORTED or better */
  bool is_of_functions;       /* version 1: a place only stands for its function */
  uint32_t count;
  const struct place_name *places;
};

/* A payload being built.  All-zero is empty. */
struct function_names {
  struct text_ids texts; /* borrowed until function_names_end */
  struct table by_parts;
  struct named_function *functions;
  uint32_t function_count, function_room;
  struct buf modules;
  struct buf places; /* of the current module */
  struct span id;
  enum names_quality quality;
  uint32_t count;
  uint64_t start, size, address; /* of the previous place */
  size_t text_bytes;
  bool failed; /* memory ran out */
};

void function_names_fini(struct function_names *names);

/* Starts module ID with names of QUALITY.  ID is borrowed until function_names_end. */
void function_names_begin(struct function_names *names, struct span id, enum names_quality quality);

/* Adds PLACE to the current module.  Places of the same code must be consecutive, ascending by
   start and then by address. */
void function_names_add(struct function_names *names, const struct place_name *place);

/* Returns the approximate length of the payload so far; 0 if it is empty. */
size_t function_names_bytes(const struct function_names *names);

/* Appends the payload to RET and starts an empty one without a module.  If memory runs out, RET is
   marked as failed. */
void function_names_end(struct function_names *names, struct buf *ret);

/* Decodes a payload into ARENA.  Returns 0; -EPROTO for a later version; -EBADMSG if malformed;
   -EOVERFLOW if it exceeds ARENA or FUNCTION_NAMES_MODULES_MAX; or -ENOMEM.  Ids point into
   PAYLOAD. */
int function_names_decode(struct span payload, struct arena *arena, struct module_names **ret,
                          uint32_t *ret_count);

#endif
