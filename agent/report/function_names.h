/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a profile file keeps of what was sampled: the payload of a MARK with a payload
   (spool/profile_file.h), packed with zstd.  Numbers are varints:

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

   A text is told by its number and one more; 0 is none.  A place is an address that was sampled,
   with all functions that are there; of code of which nothing but its name or bounds is known one
   address stands for all.  Texts are clean (symbol/name_text.h).  A module may come again, with
   other places or better names.

   Version 1 had functions alone, without lines and without what was inlined.  A reader passes over
   a payload of a version that it does not know. */
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

/* What a name is worth. */
enum names_quality {
  NAMES_NONE,
  NAMES_BOUNDS,   /* of a function whose name was stripped */
  NAMES_EXPORTED, /* of a stripped file: those that others may call */
  NAMES_ALL,      /* of a symbol table */
  NAMES_DEBUG,    /* of debug information: with lines, and with what was inlined */
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
  bool is_of_functions;       /* version 1: a place says only which code there is */
  uint32_t count;
  const struct place_name *places;
};

/* A payload in the making.  All-zero is an empty one. */
struct function_names {
  struct text_ids texts; /* borrowed, up to function_names_end */
  struct table by_parts;
  struct named_function *functions;
  uint32_t function_count, function_room;
  struct buf modules;
  struct buf places; /* of the module in hand: */
  struct span id;
  enum names_quality quality;
  uint32_t count;
  uint64_t start, size, address; /* of the place before */
  size_t text_bytes;
  bool failed; /* memory ran out */
};

void function_names_fini(struct function_names *names);

/* Goes on with module ID, whose files have QUALITY; borrowed up to function_names_end. */
void function_names_begin(struct function_names *names, struct span id, enum names_quality quality);

/* Adds PLACE to the module in hand; those with the same code come together, ascending by start and
   then by address. */
void function_names_add(struct function_names *names, const struct place_name *place);

/* Returns about how long the payload is by now; 0: there is nothing in it. */
size_t function_names_bytes(const struct function_names *names);

/* Appends the payload to RET and begins an empty one, without a module in hand.  Running out of
   memory is remembered in RET. */
void function_names_end(struct function_names *names, struct buf *ret);

/* Decodes a payload into ARENA.  Returns 0; -EPROTO for a later version; -EBADMSG; -EOVERFLOW when
   it holds more than ARENA or FUNCTION_NAMES_MODULES_MAX; or -ENOMEM.  Ids stay PAYLOAD's. */
int function_names_decode(struct span payload, struct arena *arena, struct module_names **ret,
                          uint32_t *ret_count);

#endif
