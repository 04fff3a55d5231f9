/* SPDX-License-Identifier: Apache-2.0 */
/* A part of such a command may be a stranger's text (a collector says its own address): what stands
   in single quotes is never anything but text, and a quote itself stands outside of them. */
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
