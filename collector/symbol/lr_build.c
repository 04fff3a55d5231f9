/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the data for the fallback steps of call edges, for all code of a file.

   Two unwind tables are made as on a board (agent/tables): one from call frame information alone,
   one also from the instructions. The rule "return address in the link register" of the first table
   is accepted, unless every path to the place has overwritten the register. Compilers do not record
   that in functions that never return. Otherwise the place counts if the register is untouched on
   all paths (lr_flow). It also counts if the first table is silent and the second has that rule. On
   a CPU without the register, the rule must put the return address at the stack pointer: the stack
   is as the call left it.

   Calls are found by decoding the code linearly, restarting at each function. So data in between
   causes only a few false calls. A false call only accepts a pair that the other steps then check.

   These tables are hints for queries, so a malformed file yields fewer entries, never an error. */
#include "lr_build.h"

#include "lr_arch.h"
#include "lr_flow.h"
#include "lr_functions.h"
#include "lr_pages.h"
#include "symbol_set.h"
#include "tables/function_starts.h"
#include "tables/signal_return.h"
#include "tables/table_make.h"
#include "tables/table_rows.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

/* Code beyond this is ignored: a kernel with all drivers built in has half of it. */
#define CODE_BYTES_MAX (UINT64_C(256) << 20)

struct building {
  struct elf_image image;
  const struct unwind_arch *arch;
  struct span file;
  struct buf row_bytes, all_bytes;       /* unwind tables, or empty */
  const struct unwind_table *rows, *all; /* NULL: none */
  uint64_t left_out; /* offset from addresses of the current range to those of these tables */
  struct lr_functions functions;
  struct lr_pages pages;
  uint8_t *units; /* of lr_flow */
  bool has_code;
};

static void building_fini(struct building *building) {
  buf_fini(&building->row_bytes);
  buf_fini(&building->all_bytes);
  lr_functions_fini(&building->functions);
  lr_pages_fini(&building->pages);
  free(building->units);
}

/* ---- rules ---- */

static int make_table(struct building *building, bool is_told_only, struct buf *room,
                      const struct unwind_table **ret) {
  struct table_report report;
  const struct table_input input = {
      .file = building->file, .arch = building->arch, .is_told_only = is_told_only};
  int rc = table_make(&input, room, &report);
  if (rc == 0) *ret = (const struct unwind_table *)(const void *)room->data;
  return rc == -ENOMEM ? rc : 0;
}

enum word { SILENT, HELD, ELSEWHERE };

/* Returns where RULE puts the return address. */
static enum word say(const struct building *building, const struct unwind_rule *rule) {
  if (rule == NULL || rule->cfa == UNWIND_CFA_NONE) return SILENT;
  if (rule->cfa <= UNWIND_CFA_SIGNAL) return ELSEWHERE;
  if (building->arch->has_lr) return rule->return_address == UNWIND_SAME ? HELD : ELSEWHERE;
  bool is_as_called = rule->cfa == UNWIND_CFA_SP && rule->offset == sizeof(uint64_t) &&
                      rule->return_address == -(int16_t)sizeof(uint64_t) && rule->flags == 0;
  return is_as_called ? HELD : ELSEWHERE;
}

static enum word look(const struct building *building, const struct unwind_table *table,
                      uint64_t address) {
  if (table == NULL) return SILENT;
  return say(building, unwind_table_find(table, address - building->left_out));
}

/* Returns the place at ADDRESS. HISTORY: enum lr_history, possible changes of the register; 0:
   unknown. */
static enum lr_place judge(const struct building *building, uint64_t address, uint8_t history) {
  enum word row = look(building, building->rows, address);
  if (row == HELD && history != LR_CHANGED) return LR_HELD_BY_ROW;
  if (history == LR_UNTOUCHED) return LR_HELD_BY_SCAN;
  enum word all = row == SILENT ? look(building, building->all, address) : row;
  if (row == SILENT && all == HELD && history != LR_CHANGED) return LR_HELD_BY_SCAN;
  return all == SILENT && history == 0 ? LR_UNKNOWN : LR_LOST;
}

/* ---- places ---- */

static const struct instruction_cpu *cpu_of(const struct building *building, bool is_thumb) {
  return function_starts_cpu(&building->image, is_thumb);
}

/* Follows the code of FUNCTION. Returns the number of filled units; 0 if there is no result.
   RET_IS_TANGLED: its control flow is too complex. */
static size_t follow(struct building *building, const struct lr_function *function,
                     struct lr_flow *flow, bool *ret_is_tangled) {
  struct span code = elf_image_at(&building->image, function->start);
  uint64_t bytes = function->end - function->start;
  *flow = (struct lr_flow){.cpu = cpu_of(building, function->is_thumb),
                           .start = function->start,
                           .units = building->units};
  if (flow->cpu == NULL || flow->cpu->lr == INSTRUCTION_NO_REGISTER || !building->has_code)
    return 0;
  if (bytes > code.len || function->start % flow->cpu->step != 0) return 0;
  flow->code = span_of(code.data, (size_t)bytes);
  flow->unit_count = (size_t)(bytes / flow->cpu->step);
  *ret_is_tangled = true;
  if (flow->unit_count > LR_FLOW_UNITS_MAX) return 0;
  memset(flow->units, 0, flow->unit_count);
  *ret_is_tangled = !lr_flow_run(flow);
  return *ret_is_tangled ? 0 : flow->unit_count;
}

/* In an instruction longer than a step, the history of its start holds for all of it. */
static void tell_function(struct building *building, const struct lr_function *function) {
  struct lr_flow flow;
  bool is_tangled = false;
  size_t units = follow(building, function, &flow, &is_tangled);
  unsigned step = flow.cpu != NULL ? flow.cpu->step : 1;
  uint8_t history = 0;
  for (uint64_t at = function->start; at < function->end; at += step) {
    size_t unit = (size_t)((at - function->start) / step);
    if (unit < units && flow.units[unit] != 0) history = flow.units[unit];
    enum lr_place place = judge(building, at, history);
    bool is_held = place == LR_HELD_BY_ROW || place == LR_HELD_BY_SCAN;
    lr_pages_add_place(&building->pages, at, is_tangled && !is_held ? LR_TANGLED : place);
  }
}

/* Both tables have the same pages, but may have different rows in them. */
static const struct unwind_row *rows_of(const struct unwind_table *table, uint32_t page,
                                        uint32_t *ret_count) {
  *ret_count = 0;
  if (table == NULL || page >= table->page_count) return NULL;
  const uint32_t *firsts = (const uint32_t *)(const void *)(table + 1);
  const struct unwind_row *rows =
      (const struct unwind_row *)(const void *)(firsts + table->page_count + 1);
  *ret_count = firsts[page + 1] - firsts[page];
  return rows + firsts[page];
}

/* Adds the places of the rows in PAGE from LOW up to HIGH. */
static void tell_page(struct building *building, uint32_t page, uint64_t start, uint64_t low,
                      uint64_t high) {
  uint32_t counts[2], at[2] = {0, 0};
  const struct unwind_row *rows[2] = {rows_of(building->rows, page, &counts[0]),
                                      rows_of(building->all, page, &counts[1])};
  lr_pages_add_place(&building->pages, low, judge(building, low, 0));
  while (at[0] < counts[0] || at[1] < counts[1]) {
    bool is_first =
        at[1] == counts[1] || (at[0] < counts[0] && rows[0][at[0]].low <= rows[1][at[1]].low);
    uint64_t address = start + (is_first ? rows[0][at[0]++].low : rows[1][at[1]++].low);
    if (address > low && address < high)
      lr_pages_add_place(&building->pages, address, judge(building, address, 0));
  }
}

/* Code outside functions, or without a link register: there is no control flow to follow, only
   rows. It may be a large hole between two segments, so only addresses with rows are tested. */
static void tell_gap(struct building *building, uint64_t low, uint64_t high) {
  const struct unwind_table *table = building->all != NULL ? building->all : building->rows;
  uint64_t base = table != NULL ? table->base + building->left_out : 0;
  if (low >= high) return;
  if (table == NULL || low < base)
    lr_pages_add_place(&building->pages, low, judge(building, low, 0));
  if (table == NULL) return;
  uint64_t at = low > base ? low : base;
  while (at < high) {
    uint64_t page = (at - base) >> UNWIND_PAGE_BITS;
    uint64_t start = base + (page << UNWIND_PAGE_BITS);
    uint64_t next = start + (UINT64_C(1) << UNWIND_PAGE_BITS);
    uint64_t end = next > at && next < high ? next : high;
    if (page >= table->page_count) break;
    tell_page(building, (uint32_t)page, start, at, end);
    at = end;
  }
  if (at < high) lr_pages_add_place(&building->pages, at, judge(building, at, 0));
}

static void tell_by_functions(struct building *building, uint64_t low, uint64_t high) {
  const struct lr_function *function = lr_functions_from(&building->functions, low);
  const struct lr_function *end = building->functions.functions + building->functions.count;
  uint64_t at = low;
  for (; function != NULL && function < end && function->start < high; function++) {
    if (function->start < at || function->end > high) continue;
    tell_gap(building, at, function->start);
    tell_function(building, function);
    at = function->end;
  }
  tell_gap(building, at, high);
}

static int tell_places(struct building *building, uint64_t low, uint64_t high, struct buf *ret) {
  int rc = lr_pages_begin(&building->pages, low, high, building->image.machine);
  if (rc < 0) return rc == -EINVAL ? 0 : rc;
  if (building->arch->has_lr) {
    if (building->units == NULL) building->units = malloc(LR_FLOW_UNITS_MAX);
    if (building->units == NULL) return -ENOMEM;
    tell_by_functions(building, low, high);
  } else {
    tell_gap(building, low, high);
  }
  rc = lr_pages_finish(&building->pages, ret);
  lr_pages_fini(&building->pages);
  return rc;
}

/* ---- calls ---- */

struct stubs {
  uint64_t low, high;
};

static struct stubs find_stubs(const struct elf_image *image, const char *name) {
  struct elf_part part;
  if (!elf_image_section(image, name, &part)) return (struct stubs){0};
  return (struct stubs){part.address, part.address + part.bytes.len};
}

enum { STUBS = 4 };

static uint32_t target_of(const struct building *building, const struct stubs stubs[STUBS],
                          uint64_t target) {
  if (building->image.machine == EM_ARM) target &= ~UINT64_C(1);
  if (target == 0) return 0;
  for (unsigned i = 0; i < STUBS; i++)
    if (target >= stubs[i].low && target < stubs[i].high) return 0;
  return lr_target(target);
}

/* Adds the calls in PART. Decoding restarts at each function. */
static void tell_part(struct building *building, const struct elf_part *part,
                      const struct stubs stubs[STUBS]) {
  uint64_t at = 0, end = part->bytes.len;
  const struct lr_function *function = lr_functions_from(&building->functions, part->address);
  const struct lr_function *last = building->functions.functions + building->functions.count;
  bool is_thumb = building->functions.is_thumb;
  while (at < end) {
    while (function != NULL && function < last && function->start <= part->address + at)
      is_thumb = (function++)->is_thumb;
    uint64_t room = end - at;
    bool has_next = function != NULL && function < last;
    if (has_next && function->start - part->address - at < room)
      room = function->start - part->address - at;
    const struct instruction_cpu *cpu = cpu_of(building, is_thumb);
    struct instruction in = {.bytes = 0};
    cpu->decode(span_of(part->bytes.data + at, (size_t)(end - at)), part->address + at, &in);
    uint64_t bytes = in.bytes < room ? in.bytes : room;
    uint64_t after = part->address + at + in.bytes + (in.is_delayed ? cpu->step : 0);
    if (in.flow == FLOW_CALL && in.bytes <= room)
      lr_pages_add_call(&building->pages, after - 1, target_of(building, stubs, in.target));
    at += bytes;
  }
}

static int tell_calls(struct building *building, uint64_t low, uint64_t high, struct buf *ret) {
  struct elf_part part;
  const struct elf_image *image = &building->image;
  const struct stubs stubs[STUBS] = {find_stubs(image, ".plt"), find_stubs(image, ".plt.sec"),
                                     find_stubs(image, ".plt.got"),
                                     find_stubs(image, ".MIPS.stubs")};
  int rc = lr_pages_begin(&building->pages, low, high, image->machine);
  if (rc < 0 || cpu_of(building, false) == NULL) return rc == -ENOMEM ? rc : 0;
  for (uint32_t cursor = 0; elf_image_code_section(image, &cursor, &part);)
    if (part.address >= low && part.address < high) tell_part(building, &part, stubs);
  rc = lr_pages_finish(&building->pages, ret);
  lr_pages_fini(&building->pages);
  return rc;
}

/* ---- the file ---- */

/* Finds the ranges of code in sections with bytes, and sets has_code. Returns false if there is
   none, or too much. */
static bool find_code(struct building *building, struct code_ranges *ret) {
  struct elf_part part;
  uint64_t bytes = 0;
  for (uint32_t cursor = 0; elf_image_code_section(&building->image, &cursor, &part);) {
    if (part.address > UINT64_MAX - part.bytes.len) return false;
    bytes += part.bytes.len;
    building->has_code = true;
  }
  return elf_image_code(&building->image, ret) && bytes <= CODE_BYTES_MAX;
}

/* Tables are 8-aligned. */
static void align(struct buf *bytes) {
  static const uint8_t zeros[8];
  buf_append(bytes, zeros, (8 - bytes->len % 8) % 8);
}

static int tell_range(struct building *building, const struct code_range *range, struct buf *places,
                      struct buf *calls) {
  const struct unwind_table *table = building->all != NULL ? building->all : building->rows;
  uint64_t place = range->low;
  if (table != NULL) table_rows_place(table, range->low, range->high, &place);
  building->left_out = range->low - place;
  align(places);
  int rc = tell_places(building, range->low, range->high, places);
  if (rc < 0 || !building->has_code) return rc;
  align(calls);
  return tell_calls(building, range->low, range->high, calls);
}

static int build(struct building *building, struct buf *places, struct buf *calls) {
  struct code_ranges code;
  if (!find_code(building, &code)) return 0;
  int rc = make_table(building, true, &building->row_bytes, &building->rows);
  if (rc == 0 && building->has_code) {
    rc = make_table(building, false, &building->all_bytes, &building->all);
    if (rc == 0) rc = lr_functions_find(&building->image, &building->functions);
  }
  for (uint32_t i = 0; rc == 0 && i < code.count; i++)
    rc = tell_range(building, &code.ranges[i], places, calls);
  return rc;
}

int lr_build(struct span file, struct buf *places, struct buf *calls) {
  struct building building = {.file = file};
  if (elf_image_open(file, &building.image) != 0) return 0;
  building.arch = lr_arch_find(building.image.machine);
  if (building.arch == NULL) return 0;
  int rc = build(&building, places, calls);
  building_fini(&building);
  return rc;
}

struct trampolines {
  const struct elf_image *image;
  struct symbol_set *set;
};

/* An unwinder without tables takes the trampoline for a caller and looks up the byte before it.
   That byte is padding, or the end of an instruction, where no PC can be. But x86's ret is one byte
   long. */
static int add_trampoline(void *context, uint64_t address, uint64_t bytes, int32_t offset) {
  const struct trampolines *to = context;
  enum { RET = 0xc3 };
  struct span before = elf_image_at(to->image, address - 1);
  uint64_t start = before.len > 0 && before.data[0] != RET ? address - 1 : address;
  (void)offset;
  return symbol_set_add(to->set, &(struct candidate){.start = start,
                                                     .size = address + bytes - start,
                                                     .limit = address + bytes,
                                                     .name = span_of_string("__restore_rt"),
                                                     .rank = SYMBOL_STUB});
}

int lr_build_trampolines(struct span file, struct symbol_set *set) {
  struct elf_image image;
  if (elf_image_open(file, &image) != 0) return 0;
  return signal_return_each(&image, add_trampoline, &(struct trampolines){&image, set});
}
