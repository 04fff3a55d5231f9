/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes words for commands that users copy into a shell. */
#ifndef CLI_SHELL_WORD_H
#define CLI_SHELL_WORD_H

struct buf;

/* Appends TEXT to RET so that a POSIX shell reads it as one word.  TEXT is quoted only if it has
   characters that are special to a shell.  Any thread. */
void shell_word_print(const char *text, struct buf *ret);

#endif
