/* SPDX-License-Identifier: Apache-2.0 */
/* What a file's name says of its content.  Pure. */
#ifndef UPLOAD_FILE_NAME_H
#define UPLOAD_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum file_form {
  FORM_PLAIN,
  FORM_PACKED,  /* one file, compressed: x.ko.xz */
  FORM_ARCHIVE, /* many: x.tar.zst, x.deb */
};

enum file_form file_name_form(const char *name);

/* Whether NAME is one that lists of symbols have: System.map, x.map, x.nm, x.sym, x.kallsyms. */
bool file_name_is_list(const char *name);

/* Reads the build-id that NAME is made of, up to its first dot, into RET of ROOM bytes.  Returns
   its length; 0 when it is none. */
size_t file_name_id(const char *name, uint8_t *ret, size_t room);

/* Reads TEXT as an even number of hexadecimal digits.  Returns the number of bytes, 0 when it is
   something else or more than ROOM. */
size_t file_name_parse_id(const char *text, size_t len, uint8_t *ret, size_t room);

#endif
