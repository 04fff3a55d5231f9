/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the command may be untrusted: a collector sends its own address.  Text in single quotes
   is never expanded, and a single quote itself is put outside of them. */
#include "shell_word.h"

#include "common/buf.h"

void shell_word_print(const char *text, struct buf *ret) {
  static const char plain[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/:=,+@%";
  if (*text != '\0' && text[strspn(text, plain)] == '\0') {
    buf_append_string(ret, text);
    return;
  }
  buf_append_byte(ret, '\'');
  for (; *text != '\0'; text++)
    if (*text == '\'')
      buf_append_string(ret, "'\\''");
    else
      buf_append_byte(ret, (uint8_t)*text);
  buf_append_byte(ret, '\'');
}
