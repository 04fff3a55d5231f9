/* SPDX-License-Identifier: Apache-2.0 */
/* An answer about a tree of 50 000 nodes takes some 25 MiB and gives them back.  Left alone, the C
   library returns them to the kernel, which clears 3 000 pages for the next one: a tenth of its
   time.  So heaps keep them while there are questions, and give them back when there are none.

   malloc_trim leaves the free end of a thread's heap alone: only freeing a block there cuts it, and
   only below a threshold, which is the process's.  Others that free meanwhile give back more than
   they would: they take it again. */
#include "heap.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

enum { CUTTING_BYTES = 256 << 10 }; /* glibc looks at the end after a block of 64 KiB and more */

void heap_keep(void) {
  mallopt(M_MMAP_THRESHOLD, HEAP_KEPT_BYTES);
  mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
}

void heap_give_back(void) {
  mallopt(M_TRIM_THRESHOLD, CUTTING_BYTES);
  void *volatile block = malloc(CUTTING_BYTES); /* volatile: or neither would happen */
  free(block);
  mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
  malloc_trim(0);
}
#else
void heap_keep(void) {
}

void heap_give_back(void) {
}
#endif
