/* SPDX-License-Identifier: Apache-2.0 */
/* Only the name decides whether a file is unpacked.  Probing the formats of each file of a build
   tree would read gigabytes of sources. */
#include "file_name.h"

#include "common/path.h"

#include <string.h>
#include <strings.h>

enum { ID_BYTES_MIN = 4 /* shorter ones are ordinary words: face.map */ };

static const char *const packed[] = {".gz", ".xz", ".zst", ".bz2", ".lzma", NULL};
static const char *const archives[] = {".tar",  ".tgz",  ".txz", ".tbz2", ".tzst", ".cpio", ".deb",
                                       ".udeb", ".ddeb", ".ipk", ".opk",  ".rpm",  ".apk",  NULL};

static bool ends_in(const char *name, size_t len, const char *suffix) {
  size_t suffix_len = strlen(suffix);
  return len > suffix_len && strncasecmp(name + len - suffix_len, suffix, suffix_len) == 0;
}

static const char *find_suffix(const char *name, size_t len, const char *const *suffixes) {
  for (; *suffixes != NULL; suffixes++)
    if (ends_in(name, len, *suffixes)) return *suffixes;
  return NULL;
}

enum file_form file_name_form(const char *name) {
  size_t len = strlen(name);
  if (find_suffix(name, len, archives) != NULL) return FORM_ARCHIVE;
  const char *suffix = find_suffix(name, len, packed);
  if (suffix == NULL) return FORM_PLAIN;
  return find_suffix(name, len - strlen(suffix), archives) != NULL ? FORM_ARCHIVE : FORM_PACKED;
}

bool file_name_is_list(const char *name) {
  static const char *const suffixes[] = {".map", ".nm", ".sym", ".syms", ".kallsyms", NULL};
  const char *last = path_name(name);
  return strncmp(last, "System.map", 10) == 0 || strcmp(last, "kallsyms") == 0 ||
         find_suffix(last, strlen(last), suffixes) != NULL;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t file_name_parse_id(const char *text, size_t len, uint8_t *ret, size_t room) {
  if (len % 2 != 0 || len / 2 > room) return 0;
  for (size_t i = 0; i < len; i += 2) {
    int high = digit_of(text[i]), low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) return 0;
    ret[i / 2] = (uint8_t)(high << 4 | low);
  }
  return len / 2;
}

size_t file_name_id(const char *name, uint8_t *ret, size_t room) {
  const char *last = path_name(name);
  size_t len = strcspn(last, ".");
  return len / 2 < ID_BYTES_MIN ? 0 : file_name_parse_id(last, len, ret, room);
}
