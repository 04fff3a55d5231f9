/* SPDX-License-Identifier: Apache-2.0 */
/* Two sources, and neither is always the better one.

   A file of this machine with the build-id that was sampled has all names of it, maybe better ones
   than there were when the program ran (a debug package that was installed since).  But `strip`
   keeps the build-id, the file may be gone, or be another one since the last build: then what the
   run wrote into its profile is what there is.

     a name of this machine, from all symbols      first
     a name in the profile, or in the one that it is compared with, from all symbols
     a name of either, from exported symbols       this machine's before the profile's
     bounds of either */
#include "best_name.h"
#include "namer.h"

#include "symbol/symbol_index.h"

#include <errno.h>

struct best {
  int rank;     /* 0: nothing */
  bool is_here; /* of a file of this machine */
  struct symbol_match match;
};

/* How much a match is worth, in the order above. */
static int rank_of(const struct symbol_match *match, bool is_exported_only) {
  if (match->name[0] == '\0') return 1;
  return is_exported_only ? 2 : 3;
}

/* Takes what KEPT says of ADDRESS when that is better than RET. */
static void ask(const struct kept_names *kept, struct span id, uint64_t address, struct best *ret) {
  struct symbol_match match;
  enum names_quality quality;
  if (kept == NULL || kept_names_find(kept, id, address, &match, &quality) != 0) return;
  int rank = rank_of(&match, quality == NAMES_EXPORTED);
  if (rank > ret->rank) *ret = (struct best){rank, false, match};
}

static struct best find(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame) {
  const struct profile_module *module = &profile->modules[frame->module];
  struct best best = {.rank = 0};
  const char *why;
  if (module->kind != MODULE_ELF) return best;
  if (namer != NULL && namer_load(namer, frame->module, module, &why) == 0 &&
      namer_find(namer, frame->module, frame->address, &best.match) == 0)
    best.rank = rank_of(&best.match, namer_is_exported_only(namer, frame->module));
  best.is_here = best.rank > 0;
  ask(&profile->kept_names, module->id, frame->address, &best);
  ask(profile->other_names, module->id, frame->address, &best);
  return best;
}

int best_name_find(const struct profile *profile, struct namer *namer,
                   const struct profile_frame *frame, struct symbol_match *ret) {
  struct best best = find(profile, namer, frame);
  if (best.rank == 0) return -ENOENT;
  *ret = best.match;
  return 0;
}

int best_name_chain(const struct profile *profile, struct namer *namer,
                    const struct profile_frame *frame, struct symbol_frame *frames) {
  struct best best = find(profile, namer, frame);
  if (best.rank == 0) return -ENOENT;
  int count = best.is_here ? namer_chain(namer, frame->module, frame->address, frames) : 0;
  if (count > 0) return count;
  frames[0] = (struct symbol_frame){
      .name = best.match.name, .start = best.match.start, .size = best.match.size};
  return 1;
}

bool best_name_is_there(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame) {
  struct symbol_match match;
  return best_name_find(profile, namer, frame, &match) == 0 && match.name[0] != '\0';
}
