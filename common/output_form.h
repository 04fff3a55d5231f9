/* SPDX-License-Identifier: Apache-2.0 */
/* The output form of a command: for people or for programs. */
#ifndef COMMON_OUTPUT_FORM_H
#define COMMON_OUTPUT_FORM_H

#include "options.h"

struct buf;

/* The option of a command that prints text unless the user requests JSON; MEMBER of TYPE is a
   string. */
#define OUTPUT_FORM_ROW(group, type, member)                                               \
  {                                                                                        \
    "format", 'f', "text|json", "text", group, "text, or json: one object", OPTION_STRING, \
        offsetof(type, member)                                                             \
  }

/* Sets RET by WORD, the value of that option that options_parse found in ARGV. A word from a file
   or the environment, which all commands share, may be for another command: then the form is text.
   Returns 0, or -EINVAL with one line in ERROR. */
int output_form_parse(int argc, char *const argv[], const char *word, bool *ret_is_json,
                      char *error, size_t error_len);

/* Writes TEXT, one JSON value, as a line to stdout.  Returns 0 or -errno. */
int output_form_write(const struct buf *text);

#endif
