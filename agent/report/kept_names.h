/* SPDX-License-Identifier: Apache-2.0 */
/* All names that the files of a profile keep, by build-id. */
#ifndef REPORT_KEPT_NAMES_H
#define REPORT_KEPT_NAMES_H

#include "function_names.h"

#include "common/arena.h"
#include "common/table.h"

struct symbol_match;
struct kept_module;

enum { KEPT_NAMES_MODULES_MAX = 65536 };

struct kept_names {
  struct arena arena;
  struct kept_module *modules;
  uint32_t count, room;
  struct table by_id;
  uint64_t seed;
};

/* SEED is random: strangers choose the ids. */
void kept_names_init(struct kept_names *kept, uint64_t seed);
void kept_names_fini(struct kept_names *kept);

/* Adds what is in PAYLOAD, copied.  Returns 0; -EPROTO when a newer version wrote it; -EBADMSG when
   it is malformed: nothing of it is added; -EOVERFLOW when there are more names than can be held;
   or -ENOMEM. */
int kept_names_add(struct kept_names *kept, struct span payload);

/* Finds the function of module ID that ADDRESS lies in: one with a name before one without, of all
   symbols before one of those that are exported.  Returns 0 with RET, valid as long as KEPT, and
   its quality, or -ENOENT. */
int kept_names_find(const struct kept_names *kept, struct span id, uint64_t address,
                    struct symbol_match *ret, enum names_quality *ret_quality);

#endif
