/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how many boards the collector asks for the same module at once. One thread at a time. */
#ifndef NAMES_ASK_TURNS_H
#define NAMES_ASK_TURNS_H

#include "common/span.h"

enum { ASK_TURNS_A_MINUTE = 64 }; /* boards, of one module */

struct ask_turns;

struct ask_turns *ask_turns_new(void); /* or NULL */
void ask_turns_free(struct ask_turns *turns);

/* Returns whether one more board may be asked for module ID at NOW_NS, and counts it. */
bool ask_turns_take(struct ask_turns *turns, struct span id, uint64_t now_ns);

#endif
