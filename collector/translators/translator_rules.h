/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the translator for a module's addresses. One rule a line; the first match is used:

     # arch  module        at most  answers  command
     xtensa  *             any      at-end   xt-addr2line -a -f -i -e "$DEBUG_FILE"
     *       *.dsp.elf     symtab   blank    llvm-symbolizer -e "$DEBUG_FILE"
     *       id:3f2a*      none     2        /usr/local/bin/names "$BUILD_ID"

   ARCH is a board's. MODULE is its path or, after id:, its build-id, with * for any text. AT MOST
   is the best quality of its other names (none, bounds, map, dynsym, symtab, dwarf; any is dwarf).
   ANSWERS defines when the command's answer is complete. */
#ifndef TRANSLATORS_TRANSLATOR_RULES_H
#define TRANSLATORS_TRANSLATOR_RULES_H

#include "common/span.h"

enum {
  TRANSLATOR_RULES_MAX = 256,
  TRANSLATOR_RULES_BYTES_MAX = 1 << 20, /* of their file */
  TRANSLATOR_WORD_BYTES = 256,          /* of ARCH and MODULE */
  TRANSLATOR_COMMAND_BYTES = 2048,
  TRANSLATOR_RULES_WHY_BYTES = 256,
};

enum translator_answers {
  TRANSLATOR_AT_END,  /* at its exit after its input ended: a new process for each exchange */
  TRANSLATOR_LINES_1, /* it keeps running and answers each address with one line, or two, */
  TRANSLATOR_LINES_2,
  TRANSLATOR_BLANK, /* or with lines and an empty one */
};

struct translator_rule {
  char arch[TRANSLATOR_WORD_BYTES], module[TRANSLATOR_WORD_BYTES];
  unsigned quality_max; /* a number that grows with the quality */
  enum translator_answers answers;
  char command[TRANSLATOR_COMMAND_BYTES];
};

struct translator_rules {
  struct translator_rule *rules;
  uint32_t count;
};

/* The properties of a module that rules match. */
struct translator_case {
  const char *arch, *path, *build_id; /* build_id in hexadecimal */
  const char *quality;                /* one of the words above */
};

/* Parses TEXT. Returns 0; -EINVAL with "line N: fault" in WHY; -ENOMEM. Pure. */
int translator_rules_parse(struct span text, struct translator_rules *ret,
                           char why[TRANSLATOR_RULES_WHY_BYTES]);

/* The same for the file PATH, of at most TRANSLATOR_RULES_BYTES_MAX; also -errno with WHY. */
int translator_rules_read(const char *path, struct translator_rules *ret,
                          char why[TRANSLATOR_RULES_WHY_BYTES]);
void translator_rules_fini(struct translator_rules *rules);

/* Returns the number of the first rule that matches WHAT, or -1. */
int translator_rules_choose(const struct translator_rules *rules,
                            const struct translator_case *what);

#endif
