/* SPDX-License-Identifier: Apache-2.0 */
/* All names that the files of a profile contain, by build-id. */
#ifndef REPORT_KEPT_NAMES_H
#define REPORT_KEPT_NAMES_H

#include "function_names.h"

#include "common/arena.h"
#include "common/table.h"

struct kept_function;
struct kept_place;
struct kept_text;
struct symbol_frame;

enum { KEPT_NAMES_MODULES_MAX = 65536 };

struct kept_names {
  struct arena arena; /* texts and frames */
  struct span *modules;
  struct kept_place *places;
  struct kept_function *functions; /* the functions that contain the places */
  struct kept_text *texts;
  uint32_t *by_start; /* functions by module and start, the longer first, after kept_names_sort */
  uint32_t module_count, place_count, function_count, text_count;
  uint32_t module_room, place_room, function_room, text_room;
  uint32_t sorted_count; /* of BY_START */
  struct table by_id, by_address, by_bounds, by_text;
  uint64_t seed;
};

/* SEED must be random, because hashed data is untrusted. */
void kept_names_init(struct kept_names *kept, uint64_t seed);
void kept_names_fini(struct kept_names *kept);

/* Copies the names of PAYLOAD that are new or better.  They are found after kept_names_sort.
   Returns 0; -EPROTO if a newer version wrote it; -EBADMSG if it is malformed, and nothing is
   added; -EOVERFLOW if there are too many names; or -ENOMEM. */
int kept_names_add(struct kept_names *kept, struct span payload);

/* Makes added names available to kept_names_find.  Returns 0 or -ENOMEM. */
int kept_names_sort(struct kept_names *kept);

struct kept_match {
  enum names_quality quality;
  uint32_t count;
  const struct symbol_frame *frames; /* innermost first; valid as long as the kept_names */
  bool is_whole; /* else only the function is known: file and line belong to another address */
};

/* Finds the best names of ADDRESS in module ID: the functions at that address, or else the
   innermost function that contains it.  Returns 0 or -ENOENT. */
int kept_names_find(const struct kept_names *kept, struct span id, uint64_t address,
                    struct kept_match *ret);

/* The quality of the name of ROOT, the last frame of an address, if its files have QUALITY. */
enum names_quality names_quality_of(const struct symbol_frame *root, enum names_quality quality);

#endif
