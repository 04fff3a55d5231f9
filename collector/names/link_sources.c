/* SPDX-License-Identifier: Apache-2.0 */
/* A separate debug file may have unwind rows but no code; the stripped running file has code. So
   each file is queried, and the best result counts. */
#include "link_sources.h"

_Static_assert(LR_HELD_BY_ROW < LR_HELD_BY_SCAN && LR_HELD_BY_SCAN < LR_LOST, "best first");

enum lr_place link_sources_place(const struct name_sources *sources, uint64_t address) {
  enum lr_place best = LR_UNKNOWN;
  for (uint32_t i = 0; i < sources->count; i++) {
    enum lr_place place = lr_tables_place(&sources->sources[i].index->lr, address);
    if (place != LR_UNKNOWN && (best == LR_UNKNOWN || place < best)) best = place;
  }
  return best;
}

enum lr_call link_sources_call(const struct name_sources *sources, uint64_t address,
                               uint64_t function) {
  enum lr_call call = LR_CALL_UNKNOWN;
  for (uint32_t i = 0; i < sources->count && call == LR_CALL_UNKNOWN; i++)
    call = lr_tables_call(&sources->sources[i].index->lr, address, function);
  return call;
}

uint32_t link_sources_machine(const struct name_sources *sources) {
  uint32_t machine = 0;
  for (uint32_t i = 0; i < sources->count && machine == 0; i++)
    machine = lr_tables_machine(&sources->sources[i].index->lr);
  return machine;
}
