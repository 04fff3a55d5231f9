/* SPDX-License-Identifier: Apache-2.0 */
/* A stripped program is the usual reason for rows like `redis-server+0x1234`, and the remedy is
   usually one package.  Only modules with significant weight are reported, the heaviest twelve at
   most: finding the package that owns a file reads all of dpkg's lists.

   These hints are printed only on a terminal or with --verbose.  A profiled file that is missing is
   always reported.  Then each row is one address, two builds cannot be compared, and nothing in the
   table looks wrong. */
#include "report_names.h"
#include "report/best_name.h"
#include "report/debug_hint.h"
#include "report/namer.h"
#include "report/translator.h"

#include "common/hex_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOLD_MAX = 12, ID_BYTES = 8, ID_TEXT_BYTES = 2 * ID_BYTES + 1 };

static const double worth_a_word = 0.01; /* of all weight */

struct nameless {
  uint64_t *weights; /* by module */
  uint64_t *all;     /* by module, named or not */
  bool is_all_told;
};

static bool has_name(const struct profile *profile, uint32_t at, struct namer *namer,
                     const struct answer *names) {
  if (names != NULL && translator_names_has(names, at)) return true;
  return best_name_is_there(profile, namer, &profile->frames[at]);
}

static const char *print_id(const struct profile_module *module, char ret[ID_TEXT_BYTES]) {
  hex_text_print(module->id, ret, ID_TEXT_BYTES);
  return ret;
}

/* Reports why module INDEX has no names. */
static void tell(const struct profile *profile, uint32_t index, struct namer *namer,
                 const struct nameless *nameless) {
  const struct profile_module *module = &profile->modules[index];
  double percent = 100 * (double)nameless->weights[index] / (double)profile->weight;
  char hint[DEBUG_HINT_BYTES], id[ID_TEXT_BYTES];
  const char *why;
  bool is_here = namer_load(namer, index, module, &why) == 0;
  bool is_unread = !is_here && namer_is_unread(namer, index);
  bool is_other = !is_here && !is_unread && module->path[0] == '/';
  if (!is_other && !is_unread && !nameless->is_all_told) return;
  debug_hint_print("", module, hint);
  if (is_unread)
    fprintf(stderr, "fleetprof: report: %s: %.1f %% of all has no function names: %s\n",
            module->path, percent, why);
  else if (is_other)
    fprintf(stderr,
            "fleetprof: report: %s (build-id %s..): %.1f %% of all has no function names: %s, and "
            "the profile holds none; %s (the file as it was when it ran will do)\n",
            module->path, print_id(module, id), percent,
            access(module->path, F_OK) == 0 ? "another file is there by now" : "it is not here",
            hint);
  else
    fprintf(stderr, "fleetprof: report: %s: %.1f %% of all has no function names: %s; %s\n",
            module->path, percent, is_here ? "its file is stripped" : why, hint);
}

/* Reports modules with incomplete debug information: names are good, but details are missing. */
static void tell_lacks(const struct profile *profile, const struct namer *namer,
                       const struct nameless *nameless) {
  for (uint32_t i = 0, told = 0; i < profile->module_count && told < TOLD_MAX; i++) {
    const char *lacks = namer_lacks(namer, i);
    double share = (double)nameless->all[i] / (double)profile->weight;
    if (*lacks == '\0' || share < worth_a_word) continue;
    fprintf(stderr, "fleetprof: report: %s: %.1f %% of all: %s\n", profile->modules[i].path,
            100 * share, lacks);
    told++;
  }
}

static void nameless_fini(struct nameless *nameless) {
  free(nameless->weights);
  free(nameless->all);
}

void report_names_tell(const struct profile *profile, struct namer *namer,
                       const struct answer *names, bool is_all_told) {
  struct nameless nameless = {.is_all_told = is_all_told};
  nameless.weights = calloc(profile->module_count + 1, sizeof *nameless.weights);
  nameless.all = calloc(profile->module_count + 1, sizeof *nameless.all);
  if (nameless.weights == NULL || nameless.all == NULL || profile->weight == 0) {
    nameless_fini(&nameless);
    return;
  }
  for (uint32_t i = 0; i < profile->frame_count; i++) {
    const struct profile_frame *frame = &profile->frames[i];
    if (profile->modules[frame->module].kind != MODULE_ELF) continue;
    nameless.all[frame->module] += frame->weight;
    if (!has_name(profile, i, namer, names)) nameless.weights[frame->module] += frame->weight;
  }
  for (int told = 0; told < TOLD_MAX; told++) {
    uint32_t heaviest = 0;
    for (uint32_t i = 1; i < profile->module_count; i++)
      if (nameless.weights[i] > nameless.weights[heaviest]) heaviest = i;
    double share = (double)nameless.weights[heaviest] / (double)profile->weight;
    if (share < worth_a_word) break;
    tell(profile, heaviest, namer, &nameless);
    nameless.weights[heaviest] = 0;
  }
  if (is_all_told) tell_lacks(profile, namer, &nameless);
  nameless_fini(&nameless);
}
