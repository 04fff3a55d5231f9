/* SPDX-License-Identifier: Apache-2.0 */
/* Permits options before, between and after the files of a command. */
#ifndef CLI_WORD_ORDER_H
#define CLI_WORD_ORDER_H

struct option_table;

/* Moves the words of ARGV that are no options of TABLE to the end; each kind keeps its order.
   After "--" no word is an option.  Returns the new number of words, or -ENOMEM.  If the last
   option lacks its value, no words are left after it: the table would take a word for that
   value. */
int word_order_sort(const struct option_table *table, int argc, char **argv);

#endif
