/* SPDX-License-Identifier: Apache-2.0 */
/* Options may stand before, between and behind the files that a command is about. */
#ifndef CLI_WORD_ORDER_H
#define CLI_WORD_ORDER_H

struct option_table;

/* Puts the words of ARGV that are no options of TABLE last, both kinds in their order; behind "--"
   every word is none.  Returns how many words there are now, or -ENOMEM.  Behind an option that
   misses its value none is left: the table would take it for that value. */
int word_order_sort(const struct option_table *table, int argc, char **argv);

#endif
