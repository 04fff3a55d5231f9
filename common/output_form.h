/* SPDX-License-Identifier: Apache-2.0 */
/* What a command prints, for people or for programs. */
#ifndef COMMON_OUTPUT_FORM_H
#define COMMON_OUTPUT_FORM_H

#include "options.h"

struct buf;

/* The option of a command that prints text unless asked for JSON; MEMBER of TYPE is a string. */
#define OUTPUT_FORM_ROW(group, type, member)                                               \
  {                                                                                        \
    "format", 'f', "text|json", "text", group, "text, or json: one object", OPTION_STRING, \
        offsetof(type, member)                                                             \
  }

/* Sets RET as WORD says, the value that options_parse has found for that option in ARGV.  A word
   that is kept for all commands, in a file or the environment, may be another's: then it is text.
   Returns 0, or -EINVAL with one line in ERROR. */
int output_form_parse(int argc, char *const argv[], const char *word, bool *ret_is_json,
                      char *error, size_t error_len);

/* Writes TEXT, one JSON value, as a line to stdout.  Returns 0 or -errno. */
int output_form_write(const struct buf *text);

#endif
