/* SPDX-License-Identifier: Apache-2.0 */
/* Code consists of consecutive functions. Each begins at a symbol or a call's target, or where the
   flow of the previous one ends. A symbol's size is trusted; without it a function ends at the next
   start. If ARM's two instruction sets are mixed, a function without a symbol or a call is of the
   set that it looks like.

   In the code without better sources, small pieces without a start are padding. Code beyond a limit
   of bytes is not read: a file with so much code has unwind information. */
#include "prologue_file.h"

#include "function_starts.h"
#include "prologue.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum {
  CODE_BYTES_MAX = 64 << 20,
  PADDING_BYTES = 16,     /* maximum: functions are aligned to it */
  TRIFLE = 8,             /* if less than 1/this of the code is left, calls are not searched */
  ARM_LINKAGE_BYTES = 20, /* of the first entry of a procedure linkage table */
  AARCH64_LINKAGE_BYTES = 32,
  LOOK_BYTES = 16, /* decide a function's instruction set; few functions are shorter */
};

struct prologue_file {
  const struct elf_image *image;
  struct table_rows *rows;
  struct prologue_scan *scan;
  struct function_starts starts;
  bool is_thumb;         /* of the previous function */
  bool is_mixed;         /* some functions differ from that */
  prologue_watch *watch; /* NULL: none */
  void *watcher;
};

/* True if better sources have left a significant part of the code. */
static bool is_much_left(const struct elf_image *image, const struct table_rows *rows) {
  struct elf_part part;
  uint64_t left = 0, all = 0;
  for (uint32_t cursor = 0; elf_image_code_section(image, &cursor, &part);) {
    uint64_t end = part.address + part.bytes.len, room = 0;
    if (part.bytes.len > CODE_BYTES_MAX - all) break;
    all += part.bytes.len;
    for (uint64_t at = table_rows_free_from(rows, part.address); at < end;) {
      room = table_rows_room(rows, at);
      if (room == 0) break;
      left += room < end - at ? room : end - at;
      at = table_rows_free_from(rows, at + room);
    }
  }
  return left > all / TRIFLE;
}

static int find_starts(struct prologue_file *file, const struct elf_image *debug) {
  struct function_starts *starts = &file->starts;
  int rc = function_starts_find(file->image, debug, starts);
  if (rc == 0 && is_much_left(file->image, file->rows))
    rc = function_starts_add_calls(file->image, starts);
  file->is_thumb = function_starts_is_thumb(file->image, starts);
  file->is_mixed = function_starts_is_mixed(starts);
  return rc;
}

int prologue_file_open(const struct elf_image *image, const struct elf_image *debug,
                       struct table_rows *rows, struct prologue_file **ret) {
  if (function_starts_cpu(image, false) == NULL) return -ENOTSUP;
  struct prologue_file *file = calloc(1, sizeof *file);
  if (file == NULL) return -ENOMEM;
  file->image = image;
  file->rows = rows;
  file->scan = prologue_scan_new();
  int rc = file->scan == NULL ? -ENOMEM : find_starts(file, debug);
  if (rc < 0)
    prologue_file_close(file);
  else
    *ret = file;
  return rc;
}

void prologue_file_close(struct prologue_file *file) {
  if (file == NULL) return;
  prologue_scan_free(file->scan);
  function_starts_fini(&file->starts);
  free(file);
}

void prologue_file_watch(struct prologue_file *file, prologue_watch *watch, void *context) {
  file->watch = watch;
  file->watcher = context;
}

/* The conversion of one function to rows. */
struct telling {
  const struct prologue_file *file;
  const struct instruction_cpu *cpu;
  struct unwind_rule last, body;
  bool has_body;
  int rc;
};

static void tell(void *context, uint64_t address, const struct prologue_state *state) {
  struct telling *telling = context;
  struct unwind_rule rule = prologue_state_rule(telling->cpu, state);
  if (rule.cfa == UNWIND_CFA_UNTOLD && telling->has_body) rule = telling->body;
  if (rule.cfa != UNWIND_CFA_END) rule.flags |= UNWIND_GUESSED;
  const struct prologue_file *file = telling->file;
  if (file->watch != NULL) file->watch(file->watcher, address, state, &rule);
  if (telling->rc < 0 || memcmp(&rule, &telling->last, sizeof rule) == 0) return;
  telling->last = rule;
  telling->rc = table_rows_put(file->rows, address, &rule);
}

static int tell_function(struct prologue_file *file, const struct prologue_function *function,
                         uint64_t bytes) {
  struct telling telling = {.file = file, .cpu = function->cpu, .has_body = function->body != NULL};
  if (telling.has_body) telling.body = prologue_state_rule(function->cpu, function->body);
  int rc = table_rows_function(file->rows, function->start, function->start + bytes);
  if (rc == -EEXIST || rc == -ERANGE) return 0;
  if (rc < 0) return rc;
  prologue_scan_tell(file->scan, tell, &telling);
  return telling.rc;
}

/* The function at ADDRESS, which ends at HIGH at the latest. */
static struct prologue_function function_at(struct prologue_file *file, uint64_t address,
                                            uint64_t high) {
  const struct function_start *start = function_starts_next(&file->starts, address);
  bool is_start = start != NULL && start->address == address;
  struct prologue_function ret = {.start = address,
                                  .bytes = high - address,
                                  .is_open = true,
                                  .is_big_endian = file->image->is_big_endian};
  if (is_start) {
    file->is_thumb = start->is_thumb;
    ret.is_open = start->bytes == 0;
    if (!ret.is_open && start->bytes < ret.bytes) ret.bytes = start->bytes;
    start = function_starts_next(&file->starts, address + 1);
  }
  if (start != NULL && start->address - address < ret.bytes) ret.bytes = start->address - address;
  ret.code = elf_image_at(file->image, address);
  if (!is_start && file->is_mixed && address % 4 == 0 && ret.code.len >= LOOK_BYTES)
    file->is_thumb = !function_starts_looks_arm(span_of(ret.code.data, LOOK_BYTES));
  ret.cpu = function_starts_cpu(file->image, file->is_thumb);
  return ret;
}

/* True for padding between functions: a trap, an invalid instruction, or no-ops. */
static bool is_filling(const struct prologue_function *function, uint64_t bytes) {
  struct instruction in = {.bytes = 0};
  function->cpu->decode(function->code, function->start, &in);
  if (in.flow == FLOW_STOP || bytes >= PADDING_BYTES) return in.flow == FLOW_STOP;
  for (uint64_t at = in.bytes; in.flow == FLOW_ON && in.count == 0 && at < bytes; at += in.bytes) {
    struct span rest = {function->code.data + at, function->code.len - (size_t)at};
    function->cpu->decode(rest, function->start + at, &in);
  }
  return in.flow == FLOW_ON && in.count == 0;
}

int prologue_file_range(struct prologue_file *file, const struct prologue_range *range) {
  int rc = 0;
  for (uint64_t at = range->low; rc == 0 && at < range->high;) {
    struct prologue_function function = function_at(file, at, range->high);
    uint64_t off = at % function.cpu->step;
    function.body = range->body;
    if (function.code.len == 0) break;
    uint64_t bytes = off == 0 ? prologue_scan_function(file->scan, &function) : 0;
    if (bytes > 0 && !is_filling(&function, bytes)) rc = tell_function(file, &function, bytes);
    at += bytes > 0 ? bytes : function.cpu->step - off;
  }
  return rc;
}

static bool is_padding(const struct prologue_file *file, uint64_t low, uint64_t high) {
  const struct function_start *start = function_starts_next(&file->starts, low);
  return high - low < PADDING_BYTES && (start == NULL || start->address >= high);
}

/* Adds the part of [LOW, HIGH) without better sources. */
static int tell_rest(struct prologue_file *file, uint64_t low, uint64_t high) {
  int rc = 0;
  for (uint64_t at = table_rows_free_from(file->rows, low); rc == 0 && at < high;) {
    uint64_t room = table_rows_room(file->rows, at);
    struct prologue_range range = {.low = at, .high = room < high - at ? at + room : high};
    if (room == 0) break;
    if (!is_padding(file, range.low, range.high)) rc = prologue_file_range(file, &range);
    at = table_rows_free_from(file->rows, range.high);
  }
  return rc;
}

static int tell_leaf(struct prologue_file *file, uint64_t low, uint64_t high) {
  const struct unwind_rule rule = {
      .cfa = UNWIND_CFA_SP, .return_address = UNWIND_SAME, .saved = {UNWIND_SAME, UNWIND_SAME}};
  int rc = table_rows_function(file->rows, low, high);
  if (rc == -EEXIST || rc == -ERANGE) return 0;
  return rc < 0 ? rc : table_rows_put(file->rows, low, &rule);
}

/* The procedure linkage table is not a sequence of functions. Its first entry saves the return
   address; the others jump to the address in a register and have nothing on the stack. On ARM it is
   never in Thumb, even if the rest is. */
static int tell_linkage(struct prologue_file *file) {
  struct elf_part part;
  uint16_t machine = file->image->machine;
  uint64_t first = machine == EM_ARM       ? ARM_LINKAGE_BYTES
                   : machine == EM_AARCH64 ? AARCH64_LINKAGE_BYTES
                                           : 0;
  if (first == 0 || !elf_image_section(file->image, ".plt", &part)) return 0;
  if (part.bytes.len <= first || part.address > UINT64_MAX - part.bytes.len) return 0;
  bool is_thumb = file->is_thumb;
  struct prologue_range range = {.low = part.address, .high = part.address + first};
  file->is_thumb = false;
  int rc = prologue_file_range(file, &range);
  file->is_thumb = is_thumb;
  return rc < 0 ? rc : tell_leaf(file, range.high, part.address + part.bytes.len);
}

int prologue_file_rest(struct prologue_file *file) {
  struct elf_part part;
  uint64_t left = CODE_BYTES_MAX;
  table_rows_source(file->rows, UNWIND_PROLOGUES);
  int rc = tell_linkage(file);
  for (uint32_t cursor = 0; rc == 0 && elf_image_code_section(file->image, &cursor, &part);) {
    if (part.bytes.len > left || part.address > UINT64_MAX - part.bytes.len) break;
    left -= part.bytes.len;
    rc = tell_rest(file, part.address, part.address + part.bytes.len);
  }
  return rc;
}
