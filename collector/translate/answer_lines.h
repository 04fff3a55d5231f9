/* SPDX-License-Identifier: Apache-2.0 */
/* What a translator's lines say of the addresses that it was asked for. */
#ifndef TRANSLATE_ANSWER_LINES_H
#define TRANSLATE_ANSWER_LINES_H

#include "common/arena.h"
#include "symbol/symbol_index.h"

/* The functions at one address, innermost inlined first.  Texts are clean (name_text.h); a frame
   has no declaration, no size, and a start only where the translator tells: name+0xOFFSET. */
struct answer {
  const struct symbol_frame *frames;
  uint32_t count; /* 0: it does not know; else SYMBOL_CHAIN_MAX at most */
};

struct answer_question {
  const uint64_t *addresses; /* as they were asked, in order */
  uint32_t count;
};

/* Reads LINES, the answers to QUESTION, into RET, one for each address, in ARENA.  Returns 0;
   -EBADMSG when lines and addresses do not come out even, so that nobody can tell which belongs to
   which; -ENOMEM at ARENA's limit.  Pure. */
int answer_lines_parse(struct span lines, const struct answer_question *question,
                       struct arena *arena, struct answer *ret);

/* Whether LINES are QUESTION's own, word for word, as `cat` gives them back.  Pure. */
bool answer_lines_are_echo(struct span lines, const struct answer_question *question);

#endif
