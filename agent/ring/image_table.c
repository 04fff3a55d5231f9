/* SPDX-License-Identifier: Apache-2.0 */
/* The table lies in memory that the target can write. So the daemon copies all of it once and reads
   only the copy. The sequence lock (serial is odd during a change) makes the copy consistent. It
   guarantees nothing against a hostile writer, and need not: the copy has passed all checks.

   The handler's own look-up is in histogram_writer.c. */
#include "image_table.h"

#include <errno.h>
#include <string.h>

enum { READ_TRIES = 64 };

void image_table_begin(struct image_table *table) {
  uint32_t serial = atomic_load_explicit(&table->serial, memory_order_relaxed);
  atomic_store_explicit(&table->serial, serial | 1, memory_order_relaxed);
  /* Release: readers see the odd serial before any of the changes (partner: the readers' second
     load behind an acquire fence). */
  atomic_thread_fence(memory_order_release);
}

void image_table_end(struct image_table *table) {
  uint32_t serial = atomic_load_explicit(&table->serial, memory_order_relaxed);
  /* Release: a reader that sees the even serial sees the changes. */
  atomic_store_explicit(&table->serial, (serial | 1) + 1, memory_order_release);
}

static int copy(const struct image_table *table, bool is_dead, struct image_table *ret) {
  for (int i = 0; i < READ_TRIES; i++) {
    uint32_t serial = atomic_load_explicit(&table->serial, memory_order_acquire);
    if (serial % 2 != 0 && !is_dead) continue;
    memcpy((void *)ret, (const void *)table, sizeof *ret);
    atomic_thread_fence(memory_order_acquire);
    if (is_dead || atomic_load_explicit(&table->serial, memory_order_relaxed) == serial) return 0;
  }
  return -EAGAIN;
}

static bool is_region(const struct image_region *region, uint32_t module_count) {
  return region->start < region->end && region->module < module_count &&
         region->address <= UINT64_MAX - (region->end - region->start);
}

static bool are_regions(const struct image_table *table) {
  if (table->region_count > IMAGE_REGIONS_MAX || table->module_count > IMAGE_MODULES_MAX ||
      table->retired_count > IMAGE_REGIONS_MAX - table->region_count)
    return false;
  for (uint32_t i = 0; i < table->region_count + table->retired_count; i++) {
    if (!is_region(&table->regions[i], table->module_count)) return false;
    if (i > 0 && i < table->region_count && table->regions[i].start < table->regions[i - 1].end)
      return false;
  }
  return true;
}

static bool is_text(const char *text, size_t size) {
  return memchr(text, '\0', size) != NULL;
}

static bool are_modules(const struct image_table *table) {
  for (uint32_t i = 0; i < table->module_count; i++) {
    const struct image_module *module = &table->modules[i];
    if (module->id_len > IMAGE_ID_BYTES || !is_text(module->path, sizeof module->path))
      return false;
  }
  return true;
}

int image_table_read(const struct image_table *table, bool is_dead, struct image_table *ret) {
  int error = copy(table, is_dead, ret);
  if (error) return error;
  bool is_good = are_regions(ret) && are_modules(ret) && is_text(ret->service, IMAGE_NAME_BYTES) &&
                 is_text(ret->exe, IMAGE_PATH_BYTES) && is_text(ret->labels, IMAGE_LABELS_BYTES);
  return is_good ? 0 : -EBADMSG;
}

unsigned image_table_widening(const struct image_table *table) {
  unsigned most = 0;
  for (uint32_t i = 0; i < IMAGE_REGIONS_MAX; i++) {
    const volatile struct image_region *region = &table->regions[i];
    unsigned widening = region->widening;
    if (region->start != region->end && widening > most) most = widening;
  }
  return most;
}

int image_table_find(const struct image_table *table, uint64_t pc) {
  uint32_t low = 0, high = table->region_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (pc < table->regions[middle].start)
      high = middle;
    else if (pc >= table->regions[middle].end)
      low = middle + 1;
    else
      return (int)middle;
  }
  return -1;
}
