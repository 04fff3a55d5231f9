/* SPDX-License-Identifier: Apache-2.0 */
/* A function has different offsets in different builds, and an inlined function lies in several
   others. So a place is (build, function of the machine code, address), and is shown by its
   offset. */
#include "detail_spot.h"

#include "common/array.h"
#include "naming.h"

#include "names/symbolizer.h"
#include "store/store_read.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct detail_spots *spots, const struct detail_spot *spot, uint64_t key) {
  if (spots->count == DETAIL_SPOTS_MAX) return -EOVERFLOW;
  struct detail_spot *more =
      array_grow(spots->spots, spots->count, &spots->room, 256, sizeof *more);
  if (more == NULL) return -ENOMEM;
  spots->spots = more;
  spots->spots[spots->count] = *spot;
  return table_add(&spots->by_place, key, spots->count++);
}

int detail_spots_add(struct detail_spots *spots, const struct detail_spot *spot) {
  const uint64_t place[3] = {spot->build, spot->code, spot->address};
  uint64_t key = table_hash(place, sizeof place, spots->seed);
  uint32_t cursor;
  for (uint32_t at = table_find(&spots->by_place, key, &cursor); at != TABLE_NONE;
       at = table_next(&spots->by_place, key, &cursor)) {
    struct detail_spot *known = &spots->spots[at];
    if (known->build != spot->build || known->code != spot->code || known->address != spot->address)
      continue;
    known->weight += spot->weight;
    known->count = sum_of(known->count, spot->count);
    return 0;
  }
  return add(spots, spot, key);
}

void detail_spots_fini(struct detail_spots *spots) {
  table_fini(&spots->by_place);
  free(spots->spots);
}

void detail_spot_place(struct naming *naming, const struct store_forest *forest,
                       const struct store_node *leaf, struct detail_spot *spot) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  const struct store_module *module = &forest->modules[leaf->module];
  struct symbolizer *symbolizer = naming->symbolizer;
  bool is_file = module->kind == MODULE_ELF && symbolizer != NULL;
  int count =
      translated_chain(&naming->translated, symbolizer, naming->board, forest, leaf, frames);
  bool is_translated = count > 0;
  if (is_file && (!is_translated || frames[0].start == 0)) /* few translators report the start */
    count = symbolizer_chain(symbolizer, naming->board, module->id, leaf->address, frames);
  bool has_start = count > 0 && frames[0].start <= leaf->address;
  spot->address = leaf->address;
  spot->has_offset = has_start || !is_translated;
  spot->offset = has_start ? leaf->address - frames[0].start : 0;
}
