/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, labels and files may contain any character.  The program's own text is ASCII,
   except for the bars of a flame graph. */
#include "ascii_text.h"

#include "common/buf.h"

void ascii_text_keep(struct buf *text, size_t from) {
  size_t to = from;
  for (size_t at = from; at < text->len; at++) {
    uint8_t byte = text->data[at];
    if (byte < 0x80 || (byte & 0xc0) == 0xc0) text->data[to++] = byte < 0x80 ? byte : '?';
  }
  text->len = to;
}
