/* SPDX-License-Identifier: Apache-2.0 */
/* Files with one build-id are one module: the shipped program, its unstripped original, its debug
   file, and copies of each.  Names come from the best debug file, callers from the code.  So at
   most two files are sent: the one with the most information, and one with code if that has none.
   A symbol list is sent only if no other file has symbols.

   Boards identify a file without build-id by the hash of its bytes.  So it is its own module, and
   only its own content can name it. */
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

/* By module; in a module, in the order they were found. */
static int compare_found(const void *a, const void *b) {
  const struct found_file *const *x = a, *const *y = b;
  int order = compare_ids((*x)->id, (*x)->id_len, (*y)->id, (*y)->id_len);
  return order != 0 ? order : *x < *y ? -1 : *x > *y;
}

/* One module: its local files, and the collector's files. */
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

static bool has_names_here(const struct module *module) {
  for (size_t i = 0; i < module->count; i++)
    if (worth(module->files[i]) > 0) return true;
  return false;
}

static bool has_names_there(const struct module *module) {
  for (size_t i = 0; i < module->known_count; i++)
    if (module->known[i].has_symbols) return true;
  return false;
}

static bool has_dwarf_here(const struct module *module) {
  for (size_t i = 0; i < module->count; i++)
    if (module->files[i]->has_dwarf) return true;
  return false;
}

/* The file with the most information; of equal files the one with code, then the first. */
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
  if (file->is_split) return VERDICT_SEND; /* it is needed in addition */
  bool is_code = file == code && (best == NULL || !best->has_code);
  return file == best || is_code ? VERDICT_SEND : VERDICT_COVERED;
}

/* The source of trusted names. */
enum judged_by { BY_WHAT_IS_HERE_TOO, BY_THE_COLLECTOR };

static void judge_names(const struct module *module, const struct found *found, enum judged_by by,
                        struct plan *plan) {
  const struct found_file *code = find_code(module);
  bool is_here = has_names_here(module);
  if (code == NULL || has_names_there(module)) return;
  if (is_here && by == BY_WHAT_IS_HERE_TOO) return;
  plan->nameless[plan->nameless_count++] =
      (struct nameless){(uint32_t)(code - found->files), is_here, has_dwarf_here(module)};
}

static void judge_files(const struct module *module, const struct found *found, struct plan *plan) {
  const struct found_file *best = find_best(module), *code = find_code(module);
  for (size_t i = 0; i < module->count; i++) {
    const struct found_file *file = module->files[i];
    enum verdict verdict = judge(module, file, best, code);
    plan->verdicts[file - found->files] = verdict;
    plan->counts[verdict]++;
    if (verdict == VERDICT_SEND) plan->send_bytes += file->bytes;
  }
}

static int compare_nameless(const void *a, const void *b) {
  const struct nameless *x = a, *y = b;
  return x->file < y->file ? -1 : x->file > y->file;
}

static bool is_same_module(const struct found_file *a, const struct found_file *b) {
  return compare_ids(a->id, a->id_len, b->id, b->id_len) == 0;
}

/* Walks both lists, which are sorted by module, in parallel. */
static void judge_all(const struct found_file **order, const struct found *found,
                      const struct known_file *known, size_t known_count, enum judged_by by,
                      struct plan *plan) {
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
    if (by == BY_WHAT_IS_HERE_TOO) judge_files(&module, found, plan);
    judge_names(&module, found, by, plan);
  }
}

/* Sorts both lists by module and judges them. */
static int judge_in_order(const struct found *found, struct known_file *known, size_t count,
                          enum judged_by by, struct plan *plan) {
  const struct found_file **order = calloc(found->count + 1u, sizeof *order);
  if (order == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < found->count; i++) order[i] = &found->files[i];
  qsort(order, found->count, sizeof *order, compare_found);
  if (count > 0) qsort(known, count, sizeof *known, compare_known);
  judge_all(order, found, known, count, by, plan);
  qsort(plan->nameless, plan->nameless_count, sizeof *plan->nameless, compare_nameless);
  free(order);
  return 0;
}

int plan_make(const struct found *found, struct known_file *known, size_t count, struct plan *ret) {
  struct plan plan = {.verdicts = calloc(found->count + 1u, sizeof *plan.verdicts),
                      .nameless = calloc(found->count + 1u, sizeof *plan.nameless)};
  int error = plan.verdicts == NULL || plan.nameless == NULL ? -ENOMEM : 0;
  if (error == 0) error = judge_in_order(found, known, count, BY_WHAT_IS_HERE_TOO, &plan);
  if (error == 0)
    *ret = plan;
  else
    plan_fini(&plan);
  return error;
}

int plan_judge(const struct found *found, struct known_file *known, size_t count,
               struct plan *plan) {
  plan->nameless_count = 0;
  return judge_in_order(found, known, count, BY_THE_COLLECTOR, plan);
}

bool plan_is_any_seen(const struct found *found, struct known_file *known, size_t count) {
  if (count > 0) qsort(known, count, sizeof *known, compare_known);
  for (uint32_t i = 0; i < found->count && count > 0; i++) {
    struct known_file wanted = {.id_len = found->files[i].id_len};
    memcpy(wanted.id, found->files[i].id, sizeof wanted.id);
    const struct known_file *same = bsearch(&wanted, known, count, sizeof *known, compare_known);
    if (same != NULL && same->is_seen) return true;
  }
  return false;
}

void plan_fini(struct plan *plan) {
  free(plan->verdicts);
  free(plan->nameless);
  *plan = (struct plan){0};
}
