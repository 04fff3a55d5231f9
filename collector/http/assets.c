/* SPDX-License-Identifier: Apache-2.0 */
/* The page is embedded in the program, so that no file can be missing or of another version. The
   bytes and their table are generated; this file only looks them up. */
#include "assets.h"

#include <string.h>

const struct asset *assets_find(const char *path) {
  for (size_t i = 0; i < assets_count; i++)
    if (strcmp(assets[i].path, path) == 0) return &assets[i];
  return NULL;
}
