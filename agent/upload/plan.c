/* SPDX-License-Identifier: Apache-2.0 */
/* Files of one build-id are one module: the program as it is shipped, the same before it was
   stripped, its debug file, and copies of each.  Names are made of the best debug file, callers
   are told by the code, so at most two of them are sent: the one that says most, and one with code
   where that one has none.  A list of symbols is sent where nothing else has any.

   A file without build-id is known to boards by the hash of its bytes, and to nobody else: it is a
   module of its own, which is named only by what it has in itself. */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>

static int compare_ids(const uint8_t *a, uint32_t a_len, const uint8_t *b, uint32_t b_len) {
  if (a_len != b_len) return a_len < b_len ? -1 : 1;
  return memcmp(a, b, a_len);
}

static int compare_known(const void *a, const void *b) {
  const struct known_file *x = a, *y = b;
  return compare_ids(x->id, x->id_len, y->id, y->id_len);
}

/* By module; within one in the order they were found. */
static int compare_found(const void *a, const void *b) {
  const struct found_file *const *x = a, *const *y = b;
  int order = compare_ids((*x)->id, (*x)->id_len, (*y)->id, (*y)->id_len);
  return order != 0 ? order : *x < *y ? -1 : *x > *y;
}

/* One module: its files here, and what the collector has of it. */
struct module {
  const struct found_file **files;
  size_t count;
  const struct known_file *known;
  size_t known_count;
};

static unsigned worth(const struct found_file *file) {
  if (file->is_list) return 1;
  return file->has_dwarf ? 3 : file->has_symbols ? 2 : 0;
}

static bool has_names(const struct module *module) {
  for (size_t i = 0; i < module->count; i++)
    if (worth(module->files[i]) > 0) return true;
  for (size_t i = 0; i < module->known_count; i++)
    if (module->known[i].has_symbols) return true;
  return false;
}

/* The file that says most; of two that say the same the one with code, then the first. */
static const struct found_file *find_best(const struct module *module) {
  const struct found_file *best = NULL;
  for (size_t i = 0; i < module->count; i++) {
    const struct found_file *file = module->files[i];
    if (worth(file) == 0) continue;
    if (best == NULL || worth(file) > worth(best) ||
        (worth(file) == worth(best) && file->has_code && !best->has_code))
      best = file;
  }
  return best;
}

static const struct found_file *find_code(const struct module *module) {
  for (size_t i = 0; i < module->count; i++)
    if (module->files[i]->has_code) return module->files[i];
  return NULL;
}

static bool is_known(const struct module *module, const struct found_file *file) {
  for (size_t i = 0; i < module->known_count; i++)
    if (memcmp(module->known[i].sha256, file->sha256, sizeof file->sha256) == 0) return true;
  return false;
}

static enum verdict judge(const struct module *module, const struct found_file *file,
                          const struct found_file *best, const struct found_file *code) {
  if (!file->has_build_id && !file->is_list && !file->has_code) return VERDICT_USELESS;
  if (is_known(module, file)) return VERDICT_KNOWN;
  bool is_code = file == code && (best == NULL || !best->has_code);
  return file == best || is_code ? VERDICT_SEND : VERDICT_COVERED;
}

static void judge_module(const struct module *module, const struct found *found,
                         struct plan *plan) {
  const struct found_file *best = find_best(module), *code = find_code(module);
  for (size_t i = 0; i < module->count; i++) {
    const struct found_file *file = module->files[i];
    enum verdict verdict = judge(module, file, best, code);
    plan->verdicts[file - found->files] = verdict;
    plan->counts[verdict]++;
    if (verdict == VERDICT_SEND) plan->send_bytes += file->bytes;
  }
  if (code != NULL && !has_names(module))
    plan->nameless[plan->nameless_count++] = (uint32_t)(code - found->files);
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static bool is_same_module(const struct found_file *a, const struct found_file *b) {
  return compare_ids(a->id, a->id_len, b->id, b->id_len) == 0;
}

/* Walks both lists, which are in the order of modules, side by side. */
static void judge_all(const struct found_file **order, const struct found *found,
                      const struct known_file *known, size_t known_count, struct plan *plan) {
  size_t at = 0;
  for (uint32_t first = 0, next; first < found->count; first = next) {
    struct module module = {.files = &order[first]};
    for (next = first; next < found->count && is_same_module(order[next], order[first]); next++)
      module.count++;
    const struct found_file *file = order[first];
    while (at < known_count &&
           compare_ids(known[at].id, known[at].id_len, file->id, file->id_len) < 0)
      at++;
    module.known = known + at;
    while (at < known_count &&
           compare_ids(known[at].id, known[at].id_len, file->id, file->id_len) == 0) {
      module.known_count++;
      at++;
    }
    judge_module(&module, found, plan);
  }
}

int plan_make(const struct found *found, struct known_file *known, size_t count, struct plan *ret) {
  size_t room = found->count > 0 ? found->count : 1;
  struct plan plan = {.verdicts = calloc(room, sizeof *plan.verdicts),
                      .nameless = calloc(room, sizeof *plan.nameless)};
  const struct found_file **order = calloc(room, sizeof *order);
  if (plan.verdicts == NULL || plan.nameless == NULL || order == NULL) {
    free(order);
    plan_fini(&plan);
    return -ENOMEM;
  }
  for (uint32_t i = 0; i < found->count; i++) order[i] = &found->files[i];
  qsort(order, found->count, sizeof *order, compare_found);
  if (count > 0) qsort(known, count, sizeof *known, compare_known);
  judge_all(order, found, known, count, &plan);
  qsort(plan.nameless, plan.nameless_count, sizeof *plan.nameless, compare_numbers);
  free(order);
  *ret = plan;
  return 0;
}

void plan_fini(struct plan *plan) {
  free(plan->verdicts);
  free(plan->nameless);
  *plan = (struct plan){0};
}
