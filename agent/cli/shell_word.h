/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a command that people copy into a shell. */
#ifndef CLI_SHELL_WORD_H
#define CLI_SHELL_WORD_H

struct buf;

/* Appends TEXT to RET so that a POSIX shell reads it as one word, whatever is in it: as it is where
   nothing in it means anything to a shell, else in quotes.  Any thread. */
void shell_word_print(const char *text, struct buf *ret);

#endif
