/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary directories of tests, removed at the end. */
#ifndef TESTS_STORE_SCRATCH_H
#define TESTS_STORE_SCRATCH_H

#include <ftw.h>
#include <stdio.h>

/* Removes PATH and everything in it. */
static inline int remove_entry(const char *path, const struct stat *status, int type,
                               struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static inline void remove_dir(const char *path) {
  nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
