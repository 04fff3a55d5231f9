/* SPDX-License-Identifier: Apache-2.0 */
/* The vDSO is a file only in memory. It comes from the kernel, so the daemon itself reads it in
   place. The list of mappings gives its size. */
#include "vdso_table.h"

#include "proc/maps_file.h"
#include "tables/table_make.h"

#include <errno.h>
#include <sys/auxv.h>

enum { VDSO_BYTES_MAX = 256 << 10 };

int vdso_table_make(struct buf *ret) {
  struct table_report report;
  unsigned long start = getauxval(AT_SYSINFO_EHDR);
  uint64_t bytes = start != 0 ? maps_file_own_bytes(start) : 0;
  if (bytes == 0) return -ENOENT;
  if (bytes > VDSO_BYTES_MAX) return -EOVERFLOW;
  struct table_input input = {.file = span_of((const uint8_t *)start, (size_t)bytes),
                              .arch = &unwind_arch};
  return table_make(&input, ret, &report);
}
