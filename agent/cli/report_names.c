/* SPDX-License-Identifier: Apache-2.0 */
/* A stripped program is the usual reason for rows like `redis-server+0x1234`, and the mend is
   usually one package.  Only what weighs something is told of, the heaviest dozen at most: looking
   up who owns a file reads all of dpkg's lists. */
#include "report_names.h"
#include "report/debug_hint.h"
#include "report/namer.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOLD_MAX = 12 };

static const double worth_a_word = 0.01; /* of all */

static bool has_name(const struct profile_frame *frame, const struct namer *namer,
                     const struct frame_name *told) {
  if (told != NULL && told->name != NULL) return true;
  return namer_has_name(namer, frame->module, frame->address);
}

static void tell(const struct profile *profile, uint32_t index, struct namer *namer, double share) {
  const struct profile_module *module = &profile->modules[index];
  char hint[DEBUG_HINT_BYTES];
  const char *why;
  if (namer_load(namer, index, module, &why) == 0) why = "its file is stripped";
  debug_hint_print("", module, hint);
  fprintf(stderr, "fleetprof: report: %s: %.1f %% of all has no function names: %s; %s\n",
          module->path, 100 * share, why, hint);
}

void report_names_tell(const struct profile *profile, struct namer *namer,
                       const struct frame_name *names) {
  uint64_t *nameless = calloc(profile->module_count + 1, sizeof *nameless);
  if (nameless == NULL || profile->weight == 0) {
    free(nameless);
    return;
  }
  for (uint32_t i = 0; i < profile->frame_count; i++) {
    const struct profile_frame *frame = &profile->frames[i];
    if (profile->modules[frame->module].kind != MODULE_ELF) continue;
    if (!has_name(frame, namer, names != NULL ? &names[i] : NULL))
      nameless[frame->module] += frame->weight;
  }
  for (int told = 0; told < TOLD_MAX; told++) {
    uint32_t heaviest = 0;
    for (uint32_t i = 1; i < profile->module_count; i++)
      if (nameless[i] > nameless[heaviest]) heaviest = i;
    double share = (double)nameless[heaviest] / (double)profile->weight;
    if (share < worth_a_word) break;
    tell(profile, heaviest, namer, share);
    nameless[heaviest] = 0;
  }
  free(nameless);
}
