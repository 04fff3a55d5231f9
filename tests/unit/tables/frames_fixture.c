/* SPDX-License-Identifier: Apache-2.0 */
/* All LEB128 numbers here are below 64, so each takes one byte. */
#include "frames_fixture.h"

#include "machines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

void frames_init(struct frames *frames, uint16_t machine) {
  *frames = (struct frames){.arch = machine_of(machine),
                            .word_bytes = machine == EM_ARM || machine == EM_MIPS ? 4 : 8,
                            .version = 1,
                            .encoding = FRAMES_HERE_S4,
                            .code_factor = 1};
  frames->return_column = frames->arch->pc;
  frames->data_factor = frames->word_bytes == 8 ? -8 : -4;
}

void frames_fini(struct frames *frames) {
  buf_fini(&frames->bytes);
  buf_fini(&frames->table);
}

static void append_number(struct frames *frames, uint64_t number, size_t len) {
  buf_append(&frames->bytes, &number, len);
}

static void append_length(struct frames *frames, uint64_t len) {
  if (frames->is_long) append_number(frames, UINT32_MAX, 4);
  append_number(frames, len, frames->is_long ? 8 : 4);
}

static size_t id_bytes(const struct frames *frames) {
  return frames->is_debug && frames->is_long ? 8 : 4;
}

static void append_entry(struct frames *frames, uint64_t id, struct span content) {
  append_length(frames, id_bytes(frames) + content.len);
  append_number(frames, id, id_bytes(frames));
  buf_append(&frames->bytes, content.data, content.len);
}

static void append_augmentation(const struct frames *frames, const char *letters, struct buf *to) {
  struct buf content = {0};
  for (; *letters != '\0'; letters++) {
    if (*letters == 'R') buf_append_byte(&content, frames->encoding);
    if (*letters == 'L') buf_append_byte(&content, FRAMES_HERE_S4);
    if (*letters == 'P') buf_append(&content, (const uint8_t[]){0x9b, 1, 2, 3, 4}, 5);
  }
  buf_append_byte(to, (uint8_t)content.len);
  buf_append(to, content.data, content.len);
  buf_fini(&content);
}

size_t frames_cie(struct frames *frames, const char *augmentation, struct span program) {
  struct buf content = {0};
  size_t at = frames->bytes.len;
  buf_append_byte(&content, frames->version);
  buf_append(&content, augmentation, strlen(augmentation) + 1);
  if (frames->version == 4) {
    buf_append_byte(&content, frames->word_bytes);
    buf_append_byte(&content, 0);
  }
  buf_append_byte(&content, (uint8_t)frames->code_factor);
  buf_append_byte(&content, (uint8_t)(frames->data_factor & 0x7f));
  buf_append_byte(&content, (uint8_t)frames->return_column);
  if (augmentation[0] == 'z') append_augmentation(frames, augmentation + 1, &content);
  buf_append(&content, program.data, program.len);
  append_entry(frames, frames->is_debug ? UINT64_MAX : 0, buf_span(&content));
  buf_fini(&content);
  return at;
}

static size_t pointer_bytes(const struct frames *frames) {
  switch (frames->encoding & 0x0f) {
  case 0x0:
    return frames->word_bytes;
  case 0x2:
  case 0xa:
    return 2;
  case 0x3:
  case 0xb:
    return 4;
  default:
    return 8;
  }
}

void frames_function(struct frames *frames, size_t cie, uint64_t start, uint64_t bytes,
                     struct span program) {
  struct buf content = {0};
  size_t id_at = frames->bytes.len + (frames->is_long ? 12 : 4);
  uint64_t place = SECTION_AT + id_at + id_bytes(frames);
  uint64_t written = (frames->encoding & 0x70) == 0x10 ? start - place : start;
  buf_append(&content, &written, pointer_bytes(frames));
  buf_append(&content, &bytes, pointer_bytes(frames));
  if (!frames->is_debug) {
    buf_append_byte(&content, frames->own_bytes);
    for (unsigned i = 0; i < frames->own_bytes; i++) buf_append_byte(&content, 0x3f);
  }
  buf_append(&content, program.data, program.len);
  append_entry(frames, frames->is_debug ? cie : id_at - cie, buf_span(&content));
  buf_fini(&content);
}

size_t frames_usual_cie(struct frames *frames) {
  const char *augmentation = frames->is_debug ? "" : "zR";
  uint8_t sp = frames->arch->sp;
  if (frames->arch->has_lr) return frames_cie(frames, augmentation, PROGRAM(0x0c, sp, 0));
  return frames_cie(frames, augmentation, PROGRAM(0x0c, 7, 8, 0x90, 1));
}

void frames_read(struct frames *frames) {
  struct table_rows *rows = NULL;
  struct span all = buf_span(&frames->bytes);
  struct cfi_section section = {.bytes = all,
                                .address = SECTION_AT,
                                .arch = frames->arch,
                                .word_bytes = frames->word_bytes,
                                .is_eh = !frames->is_debug};
  assert_int_equal(table_rows_new(&(struct code_ranges){1, {{CODE_LOW, CODE_HIGH}}}, &rows), 0);
  table_rows_source(rows, frames->is_debug ? UNWIND_DEBUG_FRAME : UNWIND_EH_FRAME);
  assert_int_equal(table_cfi_read(&section, rows, &frames->report), 0);
  int rc = table_rows_encode(rows, frames->arch->machine, &frames->table);
  if (rc < 0) buf_clear(&frames->table);
  frames->report.functions_left = table_rows_left(rows);
  table_rows_free(rows);
}

static size_t print_place(char *text, size_t room, const char *base, int offset) {
  if (offset == UNWIND_SAME) return (size_t)snprintf(text, room, " u");
  if (offset < UNWIND_OFFSET_MIN)
    return (size_t)snprintf(text, room, " g%d", offset - UNWIND_IN_GENERAL);
  return (size_t)snprintf(text, room, " %s%+d", base, offset);
}

const char *frames_at(const struct frames *frames, uint64_t address) {
  static const char *const names[] = {"none", "untold", "end", "signal", "sp", "t0", "t1",
                                      "*sp",  "*t0",    "plt", "*t1",    "g",  "*g"};
  static char text[128];
  if (frames->table.len == 0) return "none";
  const struct unwind_rule *rule = unwind_table_find((const void *)frames->table.data, address);
  if (rule == NULL || rule->cfa <= UNWIND_CFA_SIGNAL) return names[rule == NULL ? 0 : rule->cfa];
  size_t len = (size_t)snprintf(text, sizeof text, "%s", names[rule->cfa]);
  if (rule->cfa >= UNWIND_CFA_GENERAL)
    len += (size_t)snprintf(text + len, sizeof text - len, "%u", rule->reg);
  len += (size_t)snprintf(text + len, sizeof text - len, "%+d", rule->offset);
  if (rule->addend != 0)
    len += (size_t)snprintf(text + len, sizeof text - len, "%+d", rule->addend);
  const char *place = rule->flags & UNWIND_AT_BASE ? "b" : "c";
  len += print_place(text + len, sizeof text - len, place, rule->return_address);
  if (rule->flags & UNWIND_AT_TRACKED) place = "t";
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    len += print_place(text + len, sizeof text - len, place, rule->saved[i]);
  return text;
}
