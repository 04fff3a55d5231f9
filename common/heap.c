/* SPDX-License-Identifier: Apache-2.0 */
/* An answer about a tree of 50 000 nodes takes some 25 MiB and frees them. By default the C library
   returns them to the kernel, which clears 3 000 pages for the next answer: a tenth of its time. So
   heaps keep them while there are queries, and return them when there are none.

   malloc_trim does not return the free end of a thread's heap. Only freeing a block there does, and
   only below a threshold, which is global. Other threads that free memory meanwhile return more
   than usual, and allocate it again. */
#include "heap.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

enum { CUTTING_BYTES = 256 << 10 }; /* glibc checks the end after a block of at least 64 KiB */

void heap_keep(void) {
  mallopt(M_MMAP_THRESHOLD, HEAP_KEPT_BYTES);
  mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
}

void heap_give_back(void) {
  mallopt(M_TRIM_THRESHOLD, CUTTING_BYTES);
  void *volatile block = malloc(CUTTING_BYTES); /* volatile: keeps both calls */
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
