/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted profile file: the part that is read adds up and makes a tree. */
#include "report/named_tree.h"
#include "report/profile_reader.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int file_of(const uint8_t *data, size_t len) {
  static int fd = -1;
  if (fd < 0) fd = memfd_create("profile", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, len, 0) != (ssize_t)len) abort();
  return fd;
}

static void check_tree(struct profile *profile) {
  struct arena arena;
  struct view_tree tree;
  arena_init(&arena, (size_t)64 << 20);
  if (named_tree_build(profile, NULL, NULL, &arena, &tree) == 0 &&
      (tree.total_count != profile->count || tree.total_weight != profile->weight))
    abort();
  arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES] = "";
  if (profile_init(&profile) != 0) abort();
  int error = profile_reader_read_fd(file_of(data, len), &profile, &damage, why);
  if (error != 0 && why[0] == '\0') abort();
  uint64_t count = 0;
  for (uint32_t i = 0; i < profile.frame_count; i++) count += profile.frames[i].count;
  if (count != profile.count) abort();
  check_tree(&profile);
  profile_fini(&profile);
  return 0;
}
