/* SPDX-License-Identifier: Apache-2.0 */
/* Two sources, and neither is always the better one.

   A file of this machine with the build-id that was sampled has all names of it, maybe better ones
   than there were when the program ran (a debug package that was installed since).  But `strip`
   keeps the build-id, the file may be gone, or be another one since the last build: then what the
   run wrote into its profile is what there is.

   The better quality counts: names of debug information before those of all symbols before exported
   ones before bounds.  Of equals this machine's come first, then those in the profile, then those
   in the one that it is compared with; but who knows the very address, and so what is inlined
   there, before who knows its function. */
#include "best_name.h"
#include "namer.h"

#include "symbol/symbol_index.h"

#include <errno.h>

struct best {
  enum names_quality quality;
  bool is_whole; /* what is inlined there is known, if anything can be */
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

/* Takes what KEPT says of ADDRESS when that is better. */
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
  /* A function alone is what a symbol table tells, whoever knows its name. */
  *ret_quality = best.quality == NAMES_DEBUG && !best.is_whole ? NAMES_ALL : best.quality;
  return best.count;
}

bool best_name_is_there(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  return best_name_chain(profile, namer, frame, frames, &quality) > 0 && quality > NAMES_BOUNDS;
}
