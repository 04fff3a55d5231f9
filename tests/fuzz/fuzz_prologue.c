/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as code of each CPU: a scan ends, stays inside, and reports ascending addresses, each
   with a valid rule. The first byte selects the CPU and whether the function is open. */
#include "tables/prologue.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct instruction_cpu *const cpus[] = {&instruction_arm,     &instruction_thumb,
                                                     &instruction_mips,    &instruction_riscv,
                                                     &instruction_aarch64, &instruction_x86_64};
enum { CPUS = sizeof cpus / sizeof cpus[0], START = 1 << 16, OPEN = 0x80, HAS_BODY = 0x40 };

struct told {
  const struct prologue_function *function;
  uint64_t next, end;
};

static void tell(void *context, uint64_t address, const struct prologue_state *state) {
  struct told *told = context;
  struct unwind_rule rule = prologue_state_rule(told->function->cpu, state);
  if (address < told->next || address >= told->end) abort();
  if (rule.cfa == UNWIND_CFA_NONE || rule.cfa >= UNWIND_CFA_COUNT) abort();
  if (rule.cfa != UNWIND_CFA_UNTOLD && rule.offset < 0) abort();
  told->next = address + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  if (len < 2) return 0;
  struct prologue_state body;
  struct prologue_function function = {.cpu = cpus[(data[0] & 0x3f) % CPUS],
                                       .code = {data + 1, len - 1},
                                       .start = START,
                                       .bytes = len - 1,
                                       .is_open = data[0] & OPEN};
  struct prologue_scan *scan = prologue_scan_new();
  if (scan == NULL) return 0;
  prologue_state_enter(function.cpu, &body);
  if (data[0] & HAS_BODY) function.body = &body;
  uint64_t bytes = prologue_scan_function(scan, &function);
  if (bytes > function.bytes) abort();
  struct told told = {&function, START, START + bytes};
  prologue_scan_tell(scan, tell, &told);
  prologue_scan_free(scan);
  return 0;
}
