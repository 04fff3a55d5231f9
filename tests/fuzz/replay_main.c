/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over a corpus without libFuzzer, so every build replays all recorded inputs.
   For each file it also tries every prefix and a fixed set of one-byte changes, which finds most
   missing bounds checks at once. Arguments: corpus folders. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { FILE_BYTES_MAX = 1 << 20, MUTATIONS_PER_FILE = 1000 };

static void try_copy(const uint8_t *data, size_t len) {
  uint8_t *exact =
      malloc(len ? len : 1); /* exact allocation: ASan detects an overrun of one byte */
  if (exact == NULL) abort();
  memcpy(exact, data, len);
  LLVMFuzzerTestOneInput(exact, len);
  free(exact);
}

static void try_mutations(uint8_t *data, size_t len) {
  static const uint8_t replacements[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  size_t step = len > MUTATIONS_PER_FILE ? len / MUTATIONS_PER_FILE : 1;
  for (size_t at = 0; at < len; at += step) {
    try_copy(data, at);
    uint8_t kept = data[at];
    for (size_t i = 0; i < sizeof replacements; i++) {
      data[at] = replacements[i];
      try_copy(data, len);
    }
    data[at] = kept;
  }
}

static int replay_file(const char *folder, const char *name) {
  static uint8_t data[FILE_BYTES_MAX];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return -1;
  size_t len = fread(data, 1, sizeof data, file);
  fclose(file);
  try_copy(data, len);
  try_mutations(data, len);
  return 0;
}

int main(int argc, char **argv) {
  unsigned files = 0;
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    if (folder == NULL) {
      fprintf(stderr, "%s: no such corpus\n", argv[i]);
      return 1;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
      if (entry->d_name[0] != '.' && replay_file(argv[i], entry->d_name) == 0) files++;
    closedir(folder);
  }
  printf("%u files replayed\n", files);
  return files > 0 ? 0 : 1;
}
