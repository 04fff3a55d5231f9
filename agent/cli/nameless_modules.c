/* SPDX-License-Identifier: Apache-2.0 */
/* Rows like `shop+0x1f40` look like a fault of the profiler, but come from a file without symbols.
   The collector reports missing symbols by module (GET /api/v1/debug).  An answer identifies a
   module by its file name alone, so of several builds the first with a reason is used.

   Rows that a limit left out count as named: the reported share is a lower bound. */
#include "nameless_modules.h"

#include "answer_text.h"
#include "api_client.h"
#include "common/buf.h"
#include "common/path.h"
#include "field.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_SHOWN = 100, REASON_BYTES_SHOWN = 300 };

static const double worth_a_word = 0.01; /* of all weight */

/* Whether the name of ROW is an address: MODULE+0x1f40. */
static bool is_nameless(const cJSON *row, const char *module) {
  const char *name = field_text(row, "name");
  size_t len = strlen(module);
  if (len == 0 || *module == '[') return false; /* [kernel] and similar modules have no file */
  return strncmp(name, module, len) == 0 && strncmp(name + len, "+0x", 3) == 0;
}

/* Adds up the rows of LIST by module in SUMS, which has room for all.  Returns the number of
   modules. */
static unsigned add_up(const cJSON *list, struct nameless_module *sums) {
  unsigned count = 0;
  const cJSON *row;
  cJSON_ArrayForEach(row, list) {
    const char *module = field_text(row, "module");
    unsigned at = 0;
    if (!is_nameless(row, module)) continue;
    while (at < count && strcmp(sums[at].name, module) != 0) at++;
    if (at == count) sums[count++] = (struct nameless_module){.name = module};
    sums[at].share += field_number(row, "self");
  }
  return count;
}

static int heaviest_first(const void *left, const void *right) {
  const struct nameless_module *a = left, *b = right;
  return a->share < b->share ? 1 : a->share > b->share ? -1 : strcmp(a->name, b->name);
}

unsigned nameless_modules_find(const cJSON *answer,
                               struct nameless_module ret[NAMELESS_MODULES_MAX]) {
  const cJSON *list = field_find(answer, "functions");
  double total = field_number(answer, "total");
  if (list == NULL) list = field_find(answer, "nodes");
  struct nameless_module *sums = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *sums);
  unsigned count = sums != NULL ? add_up(list, sums) : 0, found = 0;
  if (count > 0) qsort(sums, count, sizeof *sums, heaviest_first);
  for (; found < count && found < NAMELESS_MODULES_MAX; found++) {
    sums[found].share /= total > 0 ? total : 1;
    if (sums[found].share < worth_a_word) break;
    ret[found] = sums[found];
  }
  free(sums);
  return found;
}

/* Returns the reason in KNOWN why the module NAME lacks names, or "". */
static const char *find_reason(const cJSON *known, const char *name) {
  const cJSON *row;
  cJSON_ArrayForEach(row, field_find(known, "modules")) {
    const char *reason = field_text(row, "reason");
    if (*reason != '\0' && strcmp(path_name(field_text(row, "path")), name) == 0) return reason;
  }
  return "";
}

void nameless_modules_explain(const struct nameless_module *module, const cJSON *known,
                              struct buf *ret) {
  const char *reason = find_reason(known, module->name);
  if (*reason == '\0') reason = "the collector has no symbols of it; upload its debug file";
  buf_printf(ret, "%.*s: %.1f %% of all has no function names: %.*s (fleetprof upload PATH...)\n",
             NAME_BYTES_SHOWN, module->name, 100 * module->share, REASON_BYTES_SHOWN, reason);
}

void nameless_modules_print(const struct api *api, const cJSON *answer, struct buf *ret) {
  struct nameless_module modules[NAMELESS_MODULES_MAX];
  struct fetch_answer debug;
  const struct fetch_call call = {.method = "GET", .target = "/api/v1/debug"};
  unsigned count = nameless_modules_find(answer, modules);
  cJSON *known = NULL;
  if (count > 0 && api_try(api, &call, &debug) == 0) {
    if (debug.status == 200) known = answer_text_parse(debug.body.data, debug.body.len);
    fetch_answer_fini(&debug);
  }
  for (unsigned i = 0; i < count; i++) nameless_modules_explain(&modules[i], known, ret);
  cJSON_Delete(known);
}
