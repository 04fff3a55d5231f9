/* SPDX-License-Identifier: Apache-2.0 */
/* One table of names serves encoding and decoding. The collector writes the text from a decoded
   message, so its strings hold no newlines. Names that a newer collector wrote and this version
   lacks are missing from its answers, without other effects. */
#include "effort_text.h"

#include "common/buf.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum effort_kind { EFFORT_U32, EFFORT_U64, EFFORT_TEXT };

struct effort_field {
  const char *name;
  enum effort_kind kind;
  size_t offset;
};

static const struct effort_field fields[] = {
    {"asked_mhz", EFFORT_U32, offsetof(struct effort, asked_mhz)},
    {"rate_reason", EFFORT_TEXT, offsetof(struct effort, rate_reason)},
    {"handler_p50_ns", EFFORT_U64, offsetof(struct effort, handler_p50_ns)},
    {"handler_p99_ns", EFFORT_U64, offsetof(struct effort, handler_p99_ns)},
    {"sample_ns", EFFORT_U64, offsetof(struct effort, sample_ns)},
    {"daemon_cpu_ppm", EFFORT_U32, offsetof(struct effort, daemon_cpu_ppm)},
    {"added_cpu_ppm", EFFORT_U32, offsetof(struct effort, added_cpu_ppm)},
    {"bytes_day", EFFORT_U64, offsetof(struct effort, bytes_day)},
    {"budget_cpu_ppm", EFFORT_U32, offsetof(struct effort, budget_cpu_ppm)},
    {"budget_bytes_day", EFFORT_U64, offsetof(struct effort, budget_bytes_day)},
    {"budget_state", EFFORT_TEXT, offsetof(struct effort, budget_state)},
#define X(end, name, frame)       \
  {"stacks_ns." name, EFFORT_U64, \
   offsetof(struct effort, stacks_ns) + STACK_##end * sizeof(uint64_t)},
    STACK_ENDS(X)
#undef X
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

static void print_field(const struct effort_field *field, const struct effort *effort,
                        struct buf *ret) {
  const void *value = (const char *)effort + field->offset;
  uint32_t small;
  uint64_t large;
  const char *text;
  buf_append_string(ret, field->name);
  buf_append_byte(ret, '=');
  if (field->kind == EFFORT_TEXT) {
    memcpy(&text, value, sizeof text);
    buf_append_string(ret, text ? text : "");
  } else if (field->kind == EFFORT_U32) {
    memcpy(&small, value, sizeof small);
    buf_printf(ret, "%lu", (unsigned long)small);
  } else {
    memcpy(&large, value, sizeof large);
    buf_printf(ret, "%llu", (unsigned long long)large);
  }
  buf_append_byte(ret, '\n');
}

void effort_text_encode(const struct effort *effort, struct buf *ret) {
  for (unsigned i = 0; i < FIELDS; i++) print_field(&fields[i], effort, ret);
}

static void read_field(const struct effort_field *field, const char *text, struct effort *ret) {
  void *value = (char *)ret + field->offset;
  uint64_t large = strtoull(text, NULL, 10);
  uint32_t small = (uint32_t)large;
  if (field->kind == EFFORT_TEXT)
    memcpy(value, &text, sizeof text);
  else if (field->kind == EFFORT_U32)
    memcpy(value, &small, sizeof small);
  else
    memcpy(value, &large, sizeof large);
}

void effort_text_decode(char *text, struct effort *ret) {
  *ret = (struct effort){.rate_reason = "", .budget_state = ""};
  while (*text != '\0') {
    char *line = text, *end = text + strcspn(text, "\n");
    text = *end == '\0' ? end : end + 1;
    *end = '\0';
    char *equals = strchr(line, '=');
    if (equals == NULL) continue;
    *equals = '\0';
    for (unsigned i = 0; i < FIELDS; i++)
      if (strcmp(fields[i].name, line) == 0) read_field(&fields[i], equals + 1, ret);
  }
}
