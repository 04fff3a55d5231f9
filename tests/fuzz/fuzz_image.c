/* SPDX-License-Identifier: Apache-2.0 */
/* An image table from an untrusted process: a table that passes the checks must be safe to use. */
#include "patches.h"
#include "ring/image_table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct image_table table, copy;

static void make(void) {
  memset((void *)&table, 0, sizeof table);
  table.module_count = 2;
  table.region_count = 2;
  table.retired_count = 1;
  table.regions[0] = (struct image_region){0x400000, 0x402000, 0x1000, 0, 0, 0};
  table.regions[1] = (struct image_region){0x7f0000000000, 0x7f0000010000, 0x26000, 1, 0, 512};
  table.regions[2] = (struct image_region){0x500000, 0x501000, 0, 1, 0, 4608};
  memcpy(table.modules[0].path, "/bin/true", 10);
  memcpy(table.service, "true", 5);
}

static void use(void) {
  if (copy.region_count + copy.retired_count > IMAGE_REGIONS_MAX) abort();
  for (uint32_t i = 0; i < copy.region_count; i++) {
    if (image_table_find(&copy, copy.regions[i].start) != (int)i) abort();
    if (image_table_find(&copy, copy.regions[i].end - 1) != (int)i) abort();
  }
  for (uint32_t i = 0; i < copy.region_count + copy.retired_count; i++)
    if (strlen(copy.modules[copy.regions[i].module].path) >= IMAGE_PATH_BYTES) abort();
  if (strlen(copy.service) >= IMAGE_NAME_BYTES || strlen(copy.labels) >= IMAGE_LABELS_BYTES)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  make();
  patches_apply((uint8_t *)&table, sizeof table, data, len);
  if (image_table_read(&table, false, &copy) == 0) use();
  if (image_table_read(&table, true, &copy) == 0) use();
  return 0;
}
