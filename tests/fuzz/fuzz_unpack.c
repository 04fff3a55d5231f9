/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted archive: every extracted file has its declared length, is within the limit, and can
   be inspected. */
#include "upload/look.h"
#include "upload/unpack.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MAX = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The head of a cpio file can make its reader request 4 GiB, which the program's own limit denies
   (main.c). A sanitizer has no such limit, so libFuzzer must not report it as a finding. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static char *words[WORDS_MAX + 2], limit[] = "-malloc_limit_mb=8192";
  if (*argc > WORDS_MAX) return 0;
  for (int i = 0; i < *argc; i++) words[i] = (*argv)[i];
  words[(*argc)++] = limit;
  *argv = words;
  return 0;
}

static void on_trouble(void *context, const char *name, const char *why) {
  (void)context;
  if (*name == '\0' || *why == '\0') abort();
}

static int on_file(void *context, const struct source_file *file) {
  uint32_t *count = context;
  struct stat status;
  struct found_file found;
  if (file->ordinal != (*count)++) abort();
  if (fstat(file->fd, &status) != 0 || (uint64_t)status.st_size != file->bytes) abort();
  if (look_at(file, span_of(NULL, 0), &found) == 0 && found.id_len == 0) abort();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  uint32_t count = 0;
  const struct source_visitor visitor = {on_file, on_trouble, &count};
  int fd = memfd_create("archive", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0) abort();
  unpack_read("x.tar", fd, &visitor);
  close(fd);
  return 0;
}
