/* SPDX-License-Identifier: Apache-2.0 */
/* Every input line has exactly one answer, with the same number of lines.  The client assigns
   answers by counting lines. */
#include "list_answer.h"

#include "list_file.h"

#include "common/buf.h"
#include "common/number_text.h"

static bool is_blank(uint8_t c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span text) {
  while (text.len > 0 && is_blank(text.data[0])) text = span_of(text.data + 1, text.len - 1);
  while (text.len > 0 && is_blank(text.data[text.len - 1])) text.len--;
  return text;
}

bool list_answer_parse_address(struct span text, uint64_t *ret) {
  text = trim(text);
  if (text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x')
    text = span_of(text.data + 2, text.len - 2);
  while (text.len > 1 && text.data[0] == '0') text = span_of(text.data + 1, text.len - 1);
  return number_text_parse_hex(text, ret);
}

/* A list is untrusted, and the answer may be printed on a terminal. */
static void append_clean(struct buf *ret, struct span text) {
  for (size_t i = 0; i < text.len; i++) {
    bool is_clean = text.data[i] >= 0x20 && text.data[i] != 0x7f;
    buf_append_byte(ret, is_clean ? text.data[i] : '?');
  }
}

static void append_place(struct buf *ret, struct span module) {
  if (module.len == 0) {
    buf_append_string(ret, "??:0\n");
    return;
  }
  append_clean(ret, module);
  buf_append_string(ret, ":0\n");
}

void list_answer(const struct list_file *file, const struct list_form *form, struct span line,
                 struct buf *ret) {
  struct symbol_line symbol = {.size = 0};
  uint64_t address = 0;
  bool is_address = list_answer_parse_address(line, &address);
  uint64_t place = form->base + address; /* wraps as intended if the base is larger */
  bool is_found = is_address && list_file_find(file, place, &symbol) == 0;
  if (form->has_addresses) buf_printf(ret, "0x%016llx\n", (unsigned long long)address);
  if (is_found)
    append_clean(ret, symbol.name);
  else
    buf_append_string(ret, "??");
  if (is_found && !form->has_functions)
    buf_printf(ret, "+0x%llx", (unsigned long long)(place - symbol.address));
  buf_append_byte(ret, '\n');
  if (form->has_functions) append_place(ret, is_found ? symbol.module : span_of(NULL, 0));
}
