/* SPDX-License-Identifier: Apache-2.0 */
/* There are two sources, and neither is always better.

   A local file with the sampled build-id has all names.  They may be better than at run time, if a
   debug package was installed since.  But `strip` keeps the build-id, and the file may be missing
   or rebuilt: then only the names that the run wrote into its profile are left.

   The better quality wins: names of debug information, then of a full symbol table, then exported
   names, then bounds.  Among equals the order is local files, the profile, then the profile it is
   compared with.  But a source with the exact address, and so its inlined functions, precedes a
   source with only its function. */
#include "best_name.h"
#include "namer.h"

#include "symbol/symbol_index.h"

#include <errno.h>

struct best {
  enum names_quality quality;
  bool is_whole; /* the inlined functions are known, if they can be */
  struct symbol_frame *frames;
  int count;
};

static bool is_better(const struct kept_match *match, const struct best *best) {
  if (match->quality != best->quality) return match->quality > best->quality;
  return match->is_whole && !best->is_whole;
}

static void ask_here(struct namer *namer, const struct profile *profile,
                     const struct profile_frame *frame, struct best *best) {
  const struct profile_module *module = &profile->modules[frame->module];
  const char *why;
  if (namer == NULL || namer_load(namer, frame->module, module, &why) != 0) return;
  int count = namer_chain(namer, frame->module, frame->address, best->frames);
  if (count <= 0) return;
  best->count = count;
  best->is_whole = true;
  best->quality = names_quality_of(&best->frames[count - 1], namer_quality(namer, frame->module));
}

/* Uses the names that KEPT has for ADDRESS if they are better. */
static void ask(const struct kept_names *kept, struct span id, uint64_t address,
                struct best *best) {
  struct kept_match match;
  if (kept == NULL || kept_names_find(kept, id, address, &match) != 0) return;
  if (!is_better(&match, best)) return;
  best->quality = match.quality;
  best->is_whole = match.is_whole;
  best->count = (int)match.count;
  memcpy(best->frames, match.frames, match.count * sizeof *match.frames);
  if (match.is_whole) return;
  best->frames[0].file = NULL;
  best->frames[0].line = 0;
}

int best_name_chain(const struct profile *profile, struct namer *namer,
                    const struct profile_frame *frame, struct symbol_frame *frames,
                    enum names_quality *ret_quality) {
  const struct profile_module *module = &profile->modules[frame->module];
  struct best best = {.frames = frames};
  if (module->kind != MODULE_ELF) return -ENOENT;
  ask_here(namer, profile, frame, &best);
  ask(&profile->kept_names, module->id, frame->address, &best);
  ask(profile->other_names, module->id, frame->address, &best);
  if (best.count == 0) return -ENOENT;
  /* A function without inlined ones is no better than a symbol table's, whatever its source. */
  *ret_quality = best.quality == NAMES_DEBUG && !best.is_whole ? NAMES_ALL : best.quality;
  return best.count;
}

bool best_name_is_there(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  return best_name_chain(profile, namer, frame, frames, &quality) > 0 && quality > NAMES_BOUNDS;
}
