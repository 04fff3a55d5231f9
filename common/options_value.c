/* SPDX-License-Identifier: Apache-2.0 */
/* Converts text to the value of a row's kind. Each kind has one reader and one phrase for its
   syntax, so that every error can name both. String values keep their text: argv, the environment
   and the table live as long as the program.

   A percentage is stored in percent (0.5% is 0.5), as it is written, shown and compared. */
#include "clock.h"
#include "options.h"
#include "options_source.h"
#include "quantity.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERCENT_SCALE = 1000 };

#define KIB UINT64_C(1024)
#define UNITS(units) units, sizeof units / sizeof *units

static const struct quantity_unit byte_units[] = {
    {"", 1},
    {"B", 1},
    {"k", KIB},
    {"K", KIB},
    {"KB", KIB},
    {"KiB", KIB},
    {"M", KIB *KIB},
    {"MB", KIB *KIB},
    {"MiB", KIB *KIB},
    {"G", KIB *KIB *KIB},
    {"GB", KIB *KIB *KIB},
    {"GiB", KIB *KIB *KIB},
    {"T", KIB *KIB *KIB *KIB},
    {"TB", KIB *KIB *KIB *KIB},
    {"TiB", KIB *KIB *KIB *KIB},
};

static const struct quantity_unit percent_units[] = {{"", PERCENT_SCALE}, {"%", PERCENT_SCALE}};

/* Values from files and lists live until exit (options.h); this list keeps them reachable. */
struct kept_text {
  struct kept_text *next;
  char text[];
};
static struct kept_text *kept_texts;

static int parse_flag(const char *text, bool *value) {
  static const char *const yes[] = {"yes", "true", "on", "1"};
  static const char *const no[] = {"no", "false", "off", "0"};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
    if (strcmp(text, yes[i]) != 0 && strcmp(text, no[i]) != 0) continue;
    *value = strcmp(text, yes[i]) == 0;
    return 0;
  }
  return -EINVAL;
}

static int parse_list_item(const char *text, struct option_list *list) {
  if (list->count >= OPTION_LIST_MAX) return -EINVAL;
  list->values[list->count++] = text;
  return 0;
}

static int parse_count(const char *text, uint64_t *value) {
  uint64_t count;
  if (quantity_parse_digits(&text, &count) != 0 || *text != '\0') return -EINVAL;
  *value = count;
  return 0;
}

static int parse_bytes_a_day(const char *text, uint64_t *value) {
  static const char suffix[] = "/day";
  char size[OPTION_NAME_MAX];
  size_t len = strlen(text);
  if (len >= sizeof size) return -EINVAL;
  memcpy(size, text, len + 1);
  if (len > sizeof suffix - 1 && strcmp(size + len - (sizeof suffix - 1), suffix) == 0)
    size[len - (sizeof suffix - 1)] = '\0';
  return quantity_parse(size, UNITS(byte_units), value);
}

static int parse_percent(const char *text, double *value) {
  uint64_t thousandths;
  if (quantity_parse(text, UNITS(percent_units), &thousandths) != 0) return -EINVAL;
  *value = (double)thousandths / PERCENT_SCALE;
  return 0;
}

int options_parse_value(enum option_kind kind, const char *text, void *value) {
  int error = -EINVAL;
  switch (kind) {
  case OPTION_FLAG:
    error = parse_flag(text, value);
    break;
  case OPTION_LIST:
    error = parse_list_item(text, value);
    break;
  case OPTION_COUNT:
    error = parse_count(text, value);
    break;
  case OPTION_BYTES:
    error = quantity_parse(text, UNITS(byte_units), value);
    break;
  case OPTION_BYTES_DAY:
    error = parse_bytes_a_day(text, value);
    break;
  case OPTION_DURATION:
    error = clock_parse_duration(text, value);
    break;
  case OPTION_PERCENT:
    error = parse_percent(text, value);
    break;
  case OPTION_PATH:
  case OPTION_STRING:
    *(const char **)value = text;
    error = kind == OPTION_PATH && *text == '\0' ? -EINVAL : 0;
    break;
  }
  return error == 0 ? 0 : -EINVAL;
}

static const char *wanted(enum option_kind kind) {
  switch (kind) {
  case OPTION_FLAG:
    return "yes or no";
  case OPTION_COUNT:
    return "a whole number";
  case OPTION_BYTES:
    return "a size such as 512K, 5M or 20G";
  case OPTION_BYTES_DAY:
    return "a size a day such as 5M/day";
  case OPTION_DURATION:
    return "a duration such as 250ms, 10s, 5m, 24h or 30d";
  case OPTION_PERCENT:
    return "a percentage such as 0.5%";
  case OPTION_PATH:
    return "the name of a file or directory";
  case OPTION_LIST:
  case OPTION_STRING:
    break;
  }
  return "text";
}

/* Equal texts are stored once: a file may be read many times (collector/reload.h). */
const char *option_keep(const char *text, size_t len) {
  for (const struct kept_text *kept = kept_texts; kept != NULL; kept = kept->next)
    if (strlen(kept->text) == len && memcmp(kept->text, text, len) == 0) return kept->text;
  struct kept_text *kept = malloc(sizeof *kept + len + 1);
  if (kept == NULL) return NULL;
  memcpy(kept->text, text, len);
  kept->text[len] = '\0';
  kept->next = kept_texts;
  kept_texts = kept;
  return kept->text;
}

int option_refuse(struct option_source *source, const char *format, ...) {
  if (source->error_len == 0) return -EINVAL;
  va_list args;
  va_start(args, format);
  vsnprintf(source->error, source->error_len, format, args);
  va_end(args);
  for (char *at = source->error; *at != '\0'; at++)
    if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?'; /* it must stay one line */
  return -EINVAL;
}

int option_set(struct option_source *source, const struct option *row, const char *where,
               const char *text) {
  void *value = (char *)source->settings + row->offset;
  bool *is_filled = &source->is_filled[row - source->table->rows];
  if (row->kind == OPTION_LIST) {
    struct option_list *list = value;
    if (!*is_filled) *list = (struct option_list){0};
    if (list->count >= OPTION_LIST_MAX)
      return option_refuse(source, "%s: more than %d values", where, OPTION_LIST_MAX);
  }
  if (options_parse_value(row->kind, text, value) != 0)
    return option_refuse(source, "%s: '%s' is not %s", where, text, wanted(row->kind));
  *is_filled = true;
  return 0;
}
