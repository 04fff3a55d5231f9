/* SPDX-License-Identifier: Apache-2.0 */
/* All names that the files of a profile keep, by build-id. */
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
  struct kept_function *functions; /* those that the places are in */
  struct kept_text *texts;
  uint32_t *by_start; /* functions by module and start, the longer first, once they are sorted */
  uint32_t module_count, place_count, function_count, text_count;
  uint32_t module_room, place_room, function_room, text_room;
  uint32_t sorted_count; /* of BY_START */
  struct table by_id, by_address, by_bounds, by_text;
  uint64_t seed;
};

/* SEED is random: strangers choose what is hashed. */
void kept_names_init(struct kept_names *kept, uint64_t seed);
void kept_names_fini(struct kept_names *kept);

/* Adds what is in PAYLOAD and not known better, copied: found after kept_names_sort.  Returns 0;
   -EPROTO when a newer version wrote it; -EBADMSG when it is malformed: nothing of it is added;
   -EOVERFLOW when there are more names than can be held; or -ENOMEM. */
int kept_names_add(struct kept_names *kept, struct span payload);

/* To be called when what was added is to be found.  Returns 0 or -ENOMEM. */
int kept_names_sort(struct kept_names *kept);

struct kept_match {
  enum names_quality quality;
  uint32_t count;
  const struct symbol_frame *frames; /* innermost first; valid as long as what was asked */
  bool is_whole; /* else only the function is known: the file and line are another address's */
};

/* Finds what is known best of ADDRESS in module ID: the functions there, or else the innermost one
   that it lies in.  Returns 0 or -ENOENT. */
int kept_names_find(const struct kept_names *kept, struct span id, uint64_t address,
                    struct kept_match *ret);

/* What the name of ROOT, the last frame of an address, is worth where its files have QUALITY. */
enum names_quality names_quality_of(const struct symbol_frame *root, enum names_quality quality);

#endif
