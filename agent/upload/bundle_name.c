/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information may list any file as a source, for example a key next to the real sources.
   Files with other names are not uploaded. */
#include "bundle_name.h"

#include "common/path.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const suffixes[] = {
    "c",   "h",   "cc",  "hh",  "cpp", "hpp", "cxx", "hxx",  "c++", "h++", "inc", "inl", "ipp",
    "tcc", "tpp", "s",   "sx",  "asm", "rs",  "go",  "d",    "di",  "f",   "for", "f77", "f90",
    "f95", "f03", "f08", "adb", "ads", "ada", "m",   "mm",   "y",   "yy",  "l",   "ll",  "def",
    "tbl", "pas", "pp",  "zig", "nim", "v",   "hs",  "vala", "pyx", "cu",  "cuh", "cl",  "swift"};

bool bundle_name_is_source(const char *path) {
  const char *name = path_name(path), *dot = strrchr(name, '.');
  if (dot == NULL) return strstr(path, "/include/") != NULL;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (strcasecmp(dot + 1, suffixes[i]) == 0) return true;
  return false;
}
