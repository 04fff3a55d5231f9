/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies files by their names.  Pure. */
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

/* Whether NAME is a usual name of a symbol list: System.map, x.map, x.nm, x.sym, x.kallsyms. */
bool file_name_is_list(const char *name);

/* Parses NAME, up to its first dot, as a build-id into RET of ROOM bytes.  Returns its length; 0 if
   it is not a build-id. */
size_t file_name_id(const char *name, uint8_t *ret, size_t room);

/* Parses TEXT as an even number of hexadecimal digits.  Returns the number of bytes; 0 if it is
   anything else or longer than ROOM. */
size_t file_name_parse_id(const char *text, size_t len, uint8_t *ret, size_t room);

#endif
