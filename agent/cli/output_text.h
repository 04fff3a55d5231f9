/* SPDX-License-Identifier: Apache-2.0 */
/* What was made in memory goes out at once. */
#ifndef CLI_OUTPUT_TEXT_H
#define CLI_OUTPUT_TEXT_H

struct buf;

/* Writes TEXT to the file at PATH, replacing it as a whole, or to stdout when PATH is NULL; a
   reader of stdout that has gone away is no error.  Returns 0, or 1 after COMMAND's complaint. */
int output_text_write(const char *command, const char *path, const struct buf *text);

#endif
