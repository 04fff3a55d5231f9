/* SPDX-License-Identifier: Apache-2.0 */
/* Most commands print text unless the user requests JSON. Commands with more forms (report, query)
   have their own table; one of their words in a setting that all commands share is no error
   here. */
#include "output_form.h"

#include "buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int output_form_parse(int argc, char *const argv[], const char *word, bool *ret_is_json,
                      char *error, size_t error_len) {
  bool is_json = strcmp(word, "json") == 0;
  if (!is_json && strcmp(word, "text") != 0 && options_is_on_line(argc, argv, word)) {
    snprintf(error, error_len, "--format: '%.100s' is neither text nor json", word);
    return -EINVAL;
  }
  *ret_is_json = is_json;
  return 0;
}

int output_form_write(const struct buf *text) {
  if (text->failed) return -ENOMEM;
  bool is_written = fwrite(text->data, 1, text->len, stdout) == text->len && putchar('\n') != EOF;
  return is_written && fflush(stdout) == 0 ? 0 : -EIO;
}
