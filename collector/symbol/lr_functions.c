/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols give a function's end and its ARM instruction set; a stripped file has .eh_frame, on most
   CPUs. ARM programs have neither: there a function reaches from a call's target to the next
   target. Functions in between that are only called by pointer are unreachable from its start, and
   so get no result (lr_flow). The first of overlapping functions is kept. */
#include "lr_functions.h"

#include "common/array.h"
#include "eh_frame.h"
#include "tables/function_starts.h"

#include <errno.h>
#include <stdlib.h>

enum { FUNCTIONS_MAX = 4 << 20 };

static int add(struct lr_functions *functions, const struct lr_function *function) {
  if (functions->count >= FUNCTIONS_MAX) return 0;
  struct lr_function *more =
      array_grow(functions->functions, functions->count, &functions->room, 1024, sizeof *more);
  if (more == NULL) return -ENOMEM;
  functions->functions = more;
  functions->functions[functions->count++] = *function;
  return 0;
}

static int add_symbols(const struct elf_image *image, struct lr_functions *ret) {
  struct function_starts starts;
  int rc = function_starts_find(image, NULL, &starts);
  if (rc < 0) return rc;
  ret->is_thumb = function_starts_is_thumb(image, &starts);
  for (uint32_t i = 0; i < starts.count && rc == 0; i++) {
    const struct function_start *start = &starts.starts[i];
    struct lr_function function = {start->address, start->address + start->bytes, start->is_thumb};
    if (start->bytes > 0 && function.end > function.start) rc = add(ret, &function);
  }
  function_starts_fini(&starts);
  return rc;
}

static int add_bounds(const struct elf_image *image, struct lr_functions *ret) {
  struct elf_part part;
  int rc = 0;
  if (!elf_image_section(image, ".eh_frame", &part)) return 0;
  struct eh_frame frames = {.bytes = part.bytes,
                            .address = part.address,
                            .word_bytes = image->is_64 ? 8 : 4,
                            .is_big_endian = image->is_big_endian};
  struct eh_frame_range range;
  while (rc == 0 && eh_frame_next(&frames, &range))
    rc = add(ret, &(struct lr_function){range.start, range.start + range.size, ret->is_thumb});
  return rc;
}

static int add_called(const struct elf_image *image, struct lr_functions *ret) {
  struct function_starts starts;
  int rc = function_starts_find(image, NULL, &starts);
  if (rc < 0) return rc;
  rc = function_starts_add_calls(image, &starts);
  for (uint32_t i = 0; i < starts.count && rc == 0; i++) {
    const struct function_start *start = &starts.starts[i];
    uint64_t end = start->address + elf_image_at(image, start->address).len;
    if (i + 1 < starts.count && start[1].address < end) end = start[1].address;
    struct lr_function function = {start->address, end, start->is_thumb};
    if (start->bytes == 0 && end > start->address) rc = add(ret, &function);
  }
  function_starts_fini(&starts);
  return rc;
}

static int by_start(const void *a, const void *b) {
  const struct lr_function *one = a, *other = b;
  if (one->start != other->start) return one->start < other->start ? -1 : 1;
  return one->end > other->end ? -1 : one->end < other->end;
}

static void settle(struct lr_functions *functions) {
  uint32_t kept = 0;
  if (functions->count > 0)
    qsort(functions->functions, functions->count, sizeof *functions->functions, by_start);
  for (uint32_t i = 0; i < functions->count; i++) {
    struct lr_function *next = &functions->functions[i];
    if (kept == 0 || functions->functions[kept - 1].end <= next->start)
      functions->functions[kept++] = *next;
  }
  functions->count = kept;
}

int lr_functions_find(const struct elf_image *image, struct lr_functions *ret) {
  struct lr_functions functions = {.count = 0};
  int rc = add_symbols(image, &functions);
  if (rc == 0) rc = add_bounds(image, &functions);
  if (rc == 0 && functions.count == 0) rc = add_called(image, &functions);
  settle(&functions);
  if (rc < 0)
    lr_functions_fini(&functions);
  else
    *ret = functions;
  return rc;
}

void lr_functions_fini(struct lr_functions *functions) {
  free(functions->functions);
  *functions = (struct lr_functions){.count = 0};
}

const struct lr_function *lr_functions_from(const struct lr_functions *functions,
                                            uint64_t address) {
  uint32_t low = 0, high = functions->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (functions->functions[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < functions->count ? &functions->functions[low] : NULL;
}
