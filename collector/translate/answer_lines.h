/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a translator's output for a list of addresses. */
#ifndef TRANSLATE_ANSWER_LINES_H
#define TRANSLATE_ANSWER_LINES_H

#include "common/arena.h"
#include "symbol/symbol_index.h"

/* The functions at one address, innermost inlined first. Texts are clean (name_text.h). A frame has
   no declaration and no size; its start is set only if the translator printed name+0xOFFSET. */
struct answer {
  const struct symbol_frame *frames;
  uint32_t count; /* 0: unknown; at most SYMBOL_CHAIN_MAX */
};

struct answer_question {
  const uint64_t *addresses; /* in the order of the request */
  uint32_t count;
};

/* Parses LINES, the answers to QUESTION, into RET, one for each address, in ARENA. Returns 0;
   -EBADMSG if the number of lines does not match the number of addresses; -ENOMEM at ARENA's limit.
   Pure. */
int answer_lines_parse(struct span lines, const struct answer_question *question,
                       struct arena *arena, struct answer *ret);

/* Whether LINES repeat QUESTION word for word, as `cat` does. Pure. */
bool answer_lines_are_echo(struct span lines, const struct answer_question *question);

#endif
