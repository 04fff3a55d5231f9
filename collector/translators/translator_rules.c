/* SPDX-License-Identifier: Apache-2.0 */
/* Boards choose paths, so patterns are matched without exponential backtracking: the matcher only
   ever returns to the last *. */
#include "translator_rules.h"

#include "common/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char id_prefix[] = "id:";

/* Ascending, with the names of debug_quality_name. */
static const char *const qualities[] = {"none",   "bad",    "bounds", "map",
                                        "dynsym", "symtab", "dwarf"};

enum { QUALITY_COUNT = sizeof qualities / sizeof *qualities, FAULT_BYTES = 160 };

static int find_quality(const char *word) {
  if (strcmp(word, "any") == 0) return QUALITY_COUNT - 1;
  for (int i = 0; i < QUALITY_COUNT; i++)
    if (strcmp(word, qualities[i]) == 0) return i;
  return -1;
}

static int find_answers(const char *word) {
  static const char *const words[] = {"at-end", "1", "2", "blank"};
  for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
    if (strcmp(word, words[i]) == 0) return i;
  return -1;
}

static bool is_blank(uint8_t c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct span *line) {
  while (line->len > 0 && is_blank(line->data[0])) *line = span_of(line->data + 1, line->len - 1);
}

/* Takes the next word off LINE. Returns whether there is one and it fits. */
static bool take_word(struct span *line, char ret[TRANSLATOR_WORD_BYTES]) {
  size_t len = 0;
  skip_blanks(line);
  while (len < line->len && !is_blank(line->data[len])) len++;
  if (len == 0 || len >= TRANSLATOR_WORD_BYTES) return false;
  memcpy(ret, line->data, len);
  ret[len] = '\0';
  *line = span_of(line->data + len, line->len - len);
  return true;
}

static bool take_command(struct span line, char ret[TRANSLATOR_COMMAND_BYTES]) {
  skip_blanks(&line);
  while (line.len > 0 && is_blank(line.data[line.len - 1])) line.len--;
  if (line.len == 0 || line.len >= TRANSLATOR_COMMAND_BYTES) return false;
  memcpy(ret, line.data, line.len);
  ret[line.len] = '\0';
  return true;
}

/* Prints "its quality is none of none, bad, ..., any". */
static const char *print_quality_fault(char room[FAULT_BYTES]) {
  size_t len = (size_t)snprintf(room, FAULT_BYTES, "its quality is none of ");
  for (int i = 0; i < QUALITY_COUNT && len < FAULT_BYTES; i++)
    len += (size_t)snprintf(room + len, FAULT_BYTES - len, "%s, ", qualities[i]);
  if (len < FAULT_BYTES) snprintf(room + len, FAULT_BYTES - len, "any");
  return room;
}

/* Returns the error in LINE, in ROOM or a constant, or NULL. */
static const char *parse_rule(struct span line, struct translator_rule *ret,
                              char room[FAULT_BYTES]) {
  char word[TRANSLATOR_WORD_BYTES];
  if (memchr(line.data, '\0', line.len) != NULL) return "has a byte 0: is no text";
  if (!take_word(&line, ret->arch) || !take_word(&line, ret->module))
    return "is not ARCH MODULE QUALITY ANSWERS COMMAND";
  if (!take_word(&line, word) || find_quality(word) < 0) return print_quality_fault(room);
  ret->quality_max = (unsigned)find_quality(word);
  if (!take_word(&line, word) || find_answers(word) < 0)
    return "its answers are none of at-end, 1, 2, blank";
  ret->answers = (enum translator_answers)find_answers(word);
  return take_command(line, ret->command) ? NULL : "its command is missing, or too long";
}

static int add_rule(struct span line, struct translator_rules *rules, char room[FAULT_BYTES],
                    const char **ret_fault) {
  if (rules->count == TRANSLATOR_RULES_MAX) {
    *ret_fault = "is more than the 256 rules that there may be";
    return -EINVAL;
  }
  void *more = reallocarray(rules->rules, rules->count + 1, sizeof *rules->rules);
  if (more == NULL) return -ENOMEM;
  rules->rules = more;
  *ret_fault = parse_rule(line, &rules->rules[rules->count], room);
  if (*ret_fault != NULL) return -EINVAL;
  rules->count++;
  return 0;
}

int translator_rules_parse(struct span text, struct translator_rules *ret,
                           char why[TRANSLATOR_RULES_WHY_BYTES]) {
  struct translator_rules rules = {0};
  const char *fault = "out of memory";
  char room[FAULT_BYTES];
  unsigned number = 0;
  int error = 0;
  while (text.len > 0 && error == 0) {
    const uint8_t *newline = memchr(text.data, '\n', text.len);
    size_t len = newline ? (size_t)(newline - text.data) : text.len;
    struct span line = span_of(text.data, len);
    size_t taken = newline ? len + 1 : len;
    text = span_of(text.data + taken, text.len - taken);
    number++;
    skip_blanks(&line);
    if (line.len > 0 && line.data[0] != '#') error = add_rule(line, &rules, room, &fault);
  }
  if (error != 0) {
    snprintf(why, TRANSLATOR_RULES_WHY_BYTES, "line %u: %s", number, fault);
    translator_rules_fini(&rules);
    return error;
  }
  *ret = rules;
  return 0;
}

static int read_text(const char *path, struct buf *ret) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return -errno;
  ssize_t got = 0;
  uint8_t *at = buf_reserve(ret, TRANSLATOR_RULES_BYTES_MAX + 1);
  while (at != NULL &&
         (got = read(fd, at + ret->len, TRANSLATOR_RULES_BYTES_MAX + 1 - ret->len)) > 0)
    ret->len += (size_t)got;
  int error = at == NULL ? -ENOMEM : got < 0 ? -errno : 0;
  close(fd);
  return error == 0 && ret->len > TRANSLATOR_RULES_BYTES_MAX ? -EFBIG : error;
}

int translator_rules_read(const char *path, struct translator_rules *ret,
                          char why[TRANSLATOR_RULES_WHY_BYTES]) {
  struct buf text = {0};
  int error = read_text(path, &text);
  snprintf(why, TRANSLATOR_RULES_WHY_BYTES, "%s", strerror(-error));
  if (error == 0) error = translator_rules_parse(buf_span(&text), ret, why);
  buf_fini(&text);
  return error;
}

void translator_rules_fini(struct translator_rules *rules) {
  free(rules->rules);
  *rules = (struct translator_rules){0};
}

static bool is_match(const char *pattern, const char *text) {
  const char *star = NULL, *resume = NULL;
  while (*text != '\0') {
    if (*pattern == '*') {
      star = ++pattern;
      resume = text;
    } else if (*pattern == *text) {
      pattern++;
      text++;
    } else if (star != NULL) {
      pattern = star;
      text = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == '\0';
}

static bool is_module(const char *pattern, const struct translator_case *what) {
  size_t len = sizeof id_prefix - 1;
  if (strncmp(pattern, id_prefix, len) == 0) return is_match(pattern + len, what->build_id);
  return is_match(pattern, what->path);
}

int translator_rules_choose(const struct translator_rules *rules,
                            const struct translator_case *what) {
  int quality = find_quality(what->quality);
  for (uint32_t i = 0; i < rules->count; i++) {
    const struct translator_rule *rule = &rules->rules[i];
    if (quality <= (int)rule->quality_max && is_match(rule->arch, what->arch) &&
        is_module(rule->module, what))
      return (int)i;
  }
  return -1;
}
