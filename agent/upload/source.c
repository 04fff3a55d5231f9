/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of a file show whether it is an ELF file.  Of most archive members no more is
   read.  Devices and fifos are not opened. */
#include "source.h"

#include "elf/regular_file.h"
#include "file_name.h"
#include "proto/limits.h"
#include "symbol/map_text.h"
#include "unpack.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

static bool is_list(const char *path, bool is_given, struct span head) {
  return (is_given || file_name_is_list(path)) && map_text_is(head);
}

static int read_plain(const char *path, bool is_given, int fd, uint64_t bytes,
                      const struct source_visitor *visitor) {
  uint8_t head[HEAD_BYTES];
  ssize_t got = pread(fd, head, sizeof head, 0);
  if (got < 0) return -errno;
  struct source_file file = {.source = path, .name = path, .fd = fd, .bytes = bytes};
  bool is_elf = got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
  file.is_list = !is_elf && is_list(path, is_given, span_of(head, (size_t)got));
  if (!is_elf && !file.is_list) {
    if (is_given)
      visitor->on_trouble(
          visitor->context, path,
          "is no program, debug file or list of symbols, and by its name no archive "
          "that can be read");
    return 0;
  }
  if (bytes <= LIMIT_DEBUG_FILE_BYTES) return visitor->on_file(visitor->context, &file);
  visitor->on_trouble(visitor->context, path, "larger than 1 GiB (LIMIT_DEBUG_FILE_BYTES)");
  return 0;
}

int source_read(const char *path, bool is_given, const struct source_visitor *visitor) {
  struct stat status;
  int fd = regular_file_open(path, &status);
  if (fd < 0) return fd;
  uint64_t bytes = (uint64_t)status.st_size;
  int result = file_name_form(path) == FORM_PLAIN ? read_plain(path, is_given, fd, bytes, visitor)
                                                  : unpack_read(path, fd, visitor);
  close(fd);
  return result;
}
