/* SPDX-License-Identifier: Apache-2.0 */
/* Reads only the headers, because the files are unverified: elf_outline is made for that. */
#include "debug_code.h"

#include "symbol/elf_outline.h"

#include <fcntl.h>
#include <unistd.h>

static bool has_code(const char *path) {
  struct elf_outline outline = {.has_code = false};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  int error = elf_outline_make(elf_read_fd, &fd, &outline);
  close(fd);
  return error == 0 && outline.has_code;
}

bool debug_code_is_there(const struct debug_folder *folder, const struct catalogue_file *files,
                         int count) {
  char path[DEBUG_PATH_BYTES];
  for (int i = 0; i < count; i++) {
    debug_folder_file(folder, files[i].sha256, path);
    if (has_code(path)) return true;
  }
  return false;
}
