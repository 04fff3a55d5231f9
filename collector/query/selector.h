/* SPDX-License-Identifier: Apache-2.0 */
/* `{name="v",name!="v",name=~"re",name!~"re"}` as in Prometheus: regular expressions are POSIX
   extended and anchored at both ends; an absent label is an empty string. */
#ifndef QUERY_SELECTOR_H
#define QUERY_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

struct selector;
struct store_board;
struct store_series;

enum { SELECTOR_TEXT_MAX = 4096, SELECTOR_MATCHERS_MAX = 32, SELECTOR_REGEX_MAX = 512 };

/* Parses TEXT (empty and "{}" select everything). Returns 0, -EINVAL, -EOVERFLOW or -ENOMEM; errors
   set WHY, syntax errors with the position of the character. */
int selector_parse(const char *text, struct selector **ret, char *why, size_t why_len);
void selector_free(struct selector *selector);

bool selector_matches(const struct selector *selector, const struct store_series *series);

/* Returns whether SELECTOR can match a series of the board NAME (its board matchers agree). */
bool selector_may_match_board(const struct selector *selector, const char *name);

/* Returns whether SELECTOR matches BOARD itself: its name, arch, kernel and own labels. */
bool selector_matches_board(const struct selector *selector, const struct store_board *board);

/* Returns whether SELECTOR has a matcher for the label NAME. */
bool selector_asks_for(const struct selector *selector, const char *name);

/* Returns whether SELECTOR names single boards: board="a", or board=~"a|b" without wildcards. */
bool selector_names_boards(const struct selector *selector);

/* Returns the first name in SELECTOR that only samples have, never a board (service, exe, build_id,
   thread), or NULL. */
const char *selector_sample_label(const struct selector *selector);

#endif
