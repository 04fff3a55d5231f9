/* SPDX-License-Identifier: Apache-2.0 */
/* Writes output that was formatted in memory. */
#ifndef CLI_OUTPUT_TEXT_H
#define CLI_OUTPUT_TEXT_H

struct buf;

/* Writes TEXT to the file at PATH, which it replaces atomically, or to stdout if PATH is NULL.  A
   reader of stdout that has exited is no error.  Returns 0, or 1 after an error message of
   COMMAND. */
int output_text_write(const char *command, const char *path, const struct buf *text);

#endif
