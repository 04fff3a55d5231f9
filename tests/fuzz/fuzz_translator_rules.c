/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's rules, then a byte 0xff, then a module's path, arch, build-id and quality as a
   board reports them, a line each. For any input, rules are within their limits or rejected with
   their line. The chosen rule is the first match by a second, independent matcher. */
#include "translators/translator_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 512, WORDS = 4, MATCH_STEPS_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A simple matcher; GIVES_UP if matching takes too long. */
enum { NO, YES, GIVES_UP };

static int match(const char *pattern, const char *text, unsigned *steps) {
  if (++*steps > MATCH_STEPS_MAX) return GIVES_UP;
  if (*pattern == '\0') return *text == '\0' ? YES : NO;
  if (*pattern != '*')
    return *text == *pattern && *text != '\0' ? match(pattern + 1, text + 1, steps) : NO;
  int rest = match(pattern + 1, text, steps);
  if (rest != NO || *text == '\0') return rest;
  return match(pattern, text + 1, steps);
}

static int fits(const struct translator_rule *rule, const struct translator_case *what) {
  bool is_id = strncmp(rule->module, "id:", 3) == 0;
  unsigned steps = 0;
  int arch = match(rule->arch, what->arch, &steps);
  int module = is_id ? match(rule->module + 3, what->build_id, &steps)
                     : match(rule->module, what->path, &steps);
  return arch == GIVES_UP || module == GIVES_UP ? GIVES_UP : arch == YES && module == YES;
}

static void check_rule(const struct translator_rule *rule) {
  bool is_whole = rule->arch[0] != '\0' && rule->module[0] != '\0' && rule->command[0] != '\0';
  if (!is_whole || rule->answers > TRANSLATOR_BLANK) abort();
  if (strlen(rule->arch) >= sizeof rule->arch || strlen(rule->module) >= sizeof rule->module ||
      strlen(rule->command) >= sizeof rule->command || strchr(rule->command, '\n') != NULL)
    abort();
}

/* WHAT has no quality, so every rule may apply to it. */
static void check_choice(const struct translator_rules *rules, const struct translator_case *what) {
  int chosen = translator_rules_choose(rules, what);
  if (chosen < -1 || chosen >= (int)rules->count) abort();
  uint32_t before = chosen < 0 ? rules->count : (uint32_t)chosen;
  for (uint32_t i = 0; i < before; i++)
    if (fits(&rules->rules[i], what) == YES) abort();
  if (chosen >= 0 && fits(&rules->rules[chosen], what) == NO) abort();
}

/* Copies the lines of TEXT into WORDS. */
static void split(struct span text, char words[WORDS][WORD_BYTES]) {
  for (int i = 0; i < WORDS; i++) {
    const uint8_t *newline = text.len > 0 ? memchr(text.data, '\n', text.len) : NULL;
    size_t len = newline != NULL ? (size_t)(newline - text.data) : text.len;
    size_t taken = newline != NULL ? len + 1 : len, kept = len < WORD_BYTES ? len : WORD_BYTES - 1;
    if (kept > 0) memcpy(words[i], text.data, kept);
    words[i][kept] = '\0';
    if (taken > 0) text = span_of(text.data + taken, text.len - taken);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  char words[WORDS][WORD_BYTES], why[TRANSLATOR_RULES_WHY_BYTES] = "";
  struct translator_rules rules;
  const uint8_t *mark = len > 0 ? memchr(data, 0xff, len) : NULL;
  size_t text_len = mark != NULL ? (size_t)(mark - data) : len;
  int error = translator_rules_parse(span_of(data, text_len), &rules, why);
  if (error != 0 && (error != -EINVAL || strncmp(why, "line ", 5) != 0)) abort();
  if (error != 0) return 0;
  if (rules.count > TRANSLATOR_RULES_MAX) abort();
  for (uint32_t i = 0; i < rules.count; i++) check_rule(&rules.rules[i]);
  split(mark != NULL ? span_of(mark + 1, len - text_len - 1) : span_of(NULL, 0), words);
  const struct translator_case what = {words[1], words[0], words[2], "none"};
  check_choice(&rules, &what);
  const struct translator_case other = {words[1], words[0], words[2], words[3]};
  if (translator_rules_choose(&rules, &other) >= (int)rules.count) abort();
  translator_rules_fini(&rules);
  return 0;
}
