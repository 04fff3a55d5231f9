/* SPDX-License-Identifier: Apache-2.0 */
#include "word_order.h"

#include "common/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether the word after the option WORD is its argument. */
static bool takes_next(const struct option_table *table, const char *word) {
  if (strchr(word, '=') != NULL) return false;
  if (strcmp(word, "--config") == 0) return true;
  for (size_t i = 0; i < table->row_count; i++) {
    const struct option *row = &table->rows[i];
    bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, row->name) == 0;
    bool is_letter = row->letter != 0 && word[0] == '-' && word[1] == row->letter && !word[2];
    if (is_long || is_letter) return row->argument != NULL;
  }
  return false;
}

int word_order_sort(const struct option_table *table, int argc, char **argv) {
  char **files = calloc((size_t)argc + 1, sizeof *files);
  int option_count = 1, file_count = 0;
  if (files == NULL) return -ENOMEM;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) {
      while (++i < argc) files[file_count++] = argv[i];
    } else if (argv[i][0] != '-' || argv[i][1] == '\0') {
      files[file_count++] = argv[i];
    } else {
      bool takes = takes_next(table, argv[i]);
      argv[option_count++] = argv[i];
      if (takes && i + 1 == argc) argc = option_count, file_count = 0;
      if (takes && i + 1 < argc) argv[option_count++] = argv[++i];
    }
  }
  /* The "--" that was removed leaves a free place.  If there was none, none is needed. */
  bool has_mark = option_count + file_count < argc;
  if (has_mark) argv[option_count++] = (char *)(uintptr_t) "--";
  memcpy(argv + option_count, files, (size_t)file_count * sizeof *files);
  free(files);
  return argc;
}
