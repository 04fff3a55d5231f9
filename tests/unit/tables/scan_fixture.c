/* SPDX-License-Identifier: Apache-2.0 */
/* The reference is the table of call frame information. If two rules find the frame from different
   registers, they are compared by the scan's knowledge of the reference's register. The same
   applies to values that are both in memory and in their register. */
#include "scan_fixture.h"

#include "machines.h"

#include "tables/exidx.h"
#include "tables/function_starts.h"
#include "tables/table_cfi.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>

enum { RULES_A_FUNCTION = 256 };

struct scan_place {
  uint64_t address;
  const struct unwind_rule *truth;
  bool is_right, is_all_right, is_untold;
};

struct scan_judge {
  const struct unwind_table *truth;
  const struct unwind_arch *arch;
  struct scan_place *places;
  size_t count, cap;
  FILE *wrong; /* NULL: not listed */
};

static int64_t base_offset(const struct scan_judge *judge, const struct prologue_state *state,
                           const struct unwind_rule *rule) {
  const uint8_t regs[] = {judge->arch->sp, judge->arch->tracked[0], judge->arch->tracked[1]};
  struct prologue_value value = state->registers[regs[rule->cfa - UNWIND_CFA_SP]];
  return value.kind == PROLOGUE_FRAME ? -value.offset : INT64_MIN;
}

static bool is_same_frame(const struct scan_judge *judge, const struct prologue_state *state,
                          const struct unwind_rule *truth, const struct unwind_rule *rule) {
  if (truth->cfa == rule->cfa)
    return truth->offset == rule->offset && truth->addend == rule->addend;
  bool are_plain = truth->cfa >= UNWIND_CFA_SP && truth->cfa <= UNWIND_CFA_TRACKED_2 &&
                   rule->cfa >= UNWIND_CFA_SP && rule->cfa <= UNWIND_CFA_TRACKED_2;
  return are_plain && base_offset(judge, state, truth) == truth->offset;
}

/* A register that is unchanged and also in memory may be found in either place. */
static bool is_same_word(const struct prologue_state *state, uint8_t reg, int32_t truth,
                         int32_t rule) {
  if (truth == rule) return true;
  bool is_there =
      state->registers[reg].kind == PROLOGUE_INITIAL && state->registers[reg].offset == reg;
  return truth == UNWIND_SAME && is_there;
}

/* WORD, of RULE, as counted from the CFA. */
static int32_t from_cfa(const struct unwind_rule *rule, int16_t word) {
  bool is_at_base = word != UNWIND_SAME && rule->flags & UNWIND_AT_BASE;
  return is_at_base ? word - rule->offset : word;
}

static void judge_place(void *context, uint64_t address, const struct prologue_state *state,
                        const struct unwind_rule *rule) {
  struct scan_judge *judge = context;
  const struct unwind_rule *truth = unwind_table_find(judge->truth, address);
  if (truth == NULL || truth->cfa < UNWIND_CFA_SP) return;
  if (judge->count == judge->cap) {
    judge->cap = judge->cap == 0 ? 1 << 16 : 2 * judge->cap;
    judge->places = realloc(judge->places, judge->cap * sizeof *judge->places);
    if (judge->places == NULL) exit(1);
  }
  struct scan_place place = {.address = address, .truth = truth};
  place.is_untold = rule->cfa <= UNWIND_CFA_UNTOLD;
  place.is_right = is_same_frame(judge, state, truth, rule) &&
                   is_same_word(state, judge->arch->lr, from_cfa(truth, truth->return_address),
                                from_cfa(rule, rule->return_address));
  place.is_all_right = place.is_right;
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    if (!is_same_word(state, judge->arch->tracked[i], from_cfa(truth, truth->saved[i]),
                      from_cfa(rule, rule->saved[i])))
      place.is_all_right = false;
  judge->places[judge->count++] = place;
  if (judge->wrong != NULL && !place.is_right)
    fprintf(judge->wrong, "%llx truth %u%+d ra %d, found %u%+d ra %d\n",
            (unsigned long long)address, truth->cfa, truth->offset, truth->return_address,
            rule->cfa, rule->offset, rule->return_address);
}

static int by_address(const void *a, const void *b) {
  const struct scan_place *one = a, *other = b;
  return one->address < other->address ? -1 : one->address > other->address;
}

/* The rule that holds at most of the COUNT places from FIRST on. */
static const struct unwind_rule *most_frequent(const struct scan_place *first, size_t count) {
  const struct unwind_rule *rules[RULES_A_FUNCTION] = {NULL};
  size_t seen[RULES_A_FUNCTION] = {0}, known = 0, best = 0;
  for (size_t i = 0; i < count; i++) {
    size_t at = 0;
    while (at < known && rules[at] != first[i].truth) at++;
    if (at == RULES_A_FUNCTION) continue;
    if (at == known) rules[known++] = first[i].truth;
    seen[at]++;
    if (seen[at] > seen[best]) best = at;
  }
  return rules[best];
}

/* Keeps the places in ALL, which are the real instructions; an instruction that is not among the
   places was not found. */
static void intersect(struct scan_judge *judge, struct scan_judge *all) {
  size_t at = 0;
  qsort(judge->places, judge->count, sizeof *judge->places, by_address);
  qsort(all->places, all->count, sizeof *all->places, by_address);
  for (size_t i = 0; i < all->count; i++) {
    struct scan_place *place = &all->places[i];
    while (at < judge->count && judge->places[at].address < place->address) at++;
    bool is_found = at < judge->count && judge->places[at].address == place->address;
    *place = is_found ? judge->places[at]
                      : (struct scan_place){place->address, place->truth, false, false, true};
  }
}

static bool is_leaf(const struct scan_place *first, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (first[i].truth->return_address != UNWIND_SAME) return false;
  return true;
}

/* Places by function of STARTS; in a function's body its most frequent rule holds. */
static void count(struct scan_judge *judge, const struct function_starts *starts,
                  struct scan_counts *ret) {
  for (size_t i = 0, end; i < judge->count; i = end) {
    const struct function_start *next = function_starts_next(starts, judge->places[i].address + 1);
    for (end = i; end < judge->count; end++)
      if (next != NULL && judge->places[end].address >= next->address) break;
    const struct unwind_rule *body = most_frequent(judge->places + i, end - i);
    bool is_in_leaf = is_leaf(judge->places + i, end - i);
    for (size_t at = i; at < end; at++) {
      const struct scan_place *place = &judge->places[at];
      ret->in_leaves += is_in_leaf;
      ret->right_in_leaves += is_in_leaf && place->is_right;
      ret->right += place->is_right;
      ret->all_right += place->is_all_right;
      ret->untold += place->is_untold;
      ret->in_bodies += place->truth == body;
      ret->right_in_bodies += place->truth == body && place->is_right;
    }
  }
  ret->instructions = judge->count;
}

static int scan(const struct elf_image *image, const struct scan_question *question,
                struct scan_judge *judge, struct table_report *report) {
  struct prologue_file *prologues = NULL;
  struct table_rows *rows = NULL;
  struct code_ranges code;
  if (!elf_image_code(image, &code)) return -ENODATA;
  int rc = table_rows_new(&code, &rows);
  if (rc == 0) rc = prologue_file_open(image, NULL, rows, &prologues);
  if (rc == 0) {
    prologue_file_watch(prologues, judge_place, judge);
    if (question->has_index) rc = exidx_read(image, rows, prologues, report);
    if (rc == 0) rc = prologue_file_rest(prologues);
  }
  prologue_file_close(prologues);
  table_rows_free(rows);
  return rc;
}

static int read_section(const struct elf_image *image, const struct unwind_arch *arch,
                        const char *name, struct table_rows *rows) {
  struct elf_part part;
  struct buf room = {0};
  struct table_report report = {0};
  if (!elf_image_section(image, name, &part)) return 0;
  int rc = elf_image_content(image, &part, &room, &part.bytes);
  struct cfi_section section = {.bytes = part.bytes,
                                .address = part.address,
                                .arch = arch,
                                .word_bytes = image->is_64 ? 8 : 4,
                                .is_big_endian = image->is_big_endian,
                                .is_eh = strcmp(name, ".eh_frame") == 0};
  table_rows_source(rows, section.is_eh ? UNWIND_EH_FRAME : UNWIND_DEBUG_FRAME);
  if (rc == 0) rc = table_cfi_read(&section, rows, &report);
  buf_fini(&room);
  return rc;
}

/* The rules from call frame information alone. */
static int read_truth(const struct elf_image *image, const struct unwind_arch *arch,
                      struct buf *ret) {
  struct table_rows *rows = NULL;
  struct code_ranges code;
  if (!elf_image_code(image, &code)) return -ENODATA;
  int rc = table_rows_new(&code, &rows);
  if (rc == 0) rc = read_section(image, arch, ".eh_frame", rows);
  if (rc == 0) rc = read_section(image, arch, ".debug_frame", rows);
  if (rc == 0) rc = table_rows_encode(rows, image->machine, ret);
  table_rows_free(rows);
  return rc;
}

int scan_judge_file(const struct scan_question *question, struct scan_counts *ret) {
  struct elf_image truth_image, image;
  struct table_report report = {0};
  struct buf truth = {0};
  struct function_starts starts = {0};
  struct scan_judge judge = {.wrong = question->wrong}, all = {.count = 0};
  int rc = elf_image_open(question->truth, &truth_image);
  if (rc == 0) rc = elf_image_open(question->file, &image);
  if (rc < 0) return rc;
  judge.arch = machine_of(image.machine);
  if (judge.arch == NULL) return -EPROTO;
  rc = read_truth(&truth_image, judge.arch, &truth);
  judge.truth = (const void *)truth.data;
  all.truth = judge.truth;
  all.arch = judge.arch;
  if (rc == 0) rc = function_starts_find(&truth_image, NULL, &starts);
  if (rc == 0) rc = scan(&truth_image, question, &all, &report);
  report = (struct table_report){0};
  if (rc == 0) rc = scan(&image, question, &judge, &report);
  *ret = (struct scan_counts){.index_functions = report.functions, .refused = report.why};
  if (rc == 0) intersect(&judge, &all);
  if (rc == 0) count(&all, &starts, ret);
  function_starts_fini(&starts);
  free(judge.places);
  free(all.places);
  buf_fini(&truth);
  return rc;
}
