/* SPDX-License-Identifier: Apache-2.0 */
#include "table_fixture.h"

#include "unwind/unwind_arch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

void fixture_table(int offset, struct buf *ret) {
  struct unwind_table head = {.magic = UNWIND_TABLE_MAGIC,
                              .version = UNWIND_TABLE_VERSION,
                              .machine = unwind_arch.machine,
                              .page_count = 1,
                              .row_count = 1,
                              .rule_count = 1,
                              .rules_at = FIXTURE_TABLE_BYTES - 16,
                              .total_bytes = FIXTURE_TABLE_BYTES};
  const uint32_t pages[] = {0, 1};
  struct unwind_row row = {0, 0};
  struct unwind_rule rule = {.offset = offset,
                             .return_address = -(int)sizeof(uintptr_t),
                             .saved = {UNWIND_SAME, UNWIND_SAME},
                             .cfa = UNWIND_CFA_SP};
  uint32_t padding = 0;
  buf_append(ret, &head, sizeof head);
  buf_append(ret, pages, sizeof pages);
  buf_append(ret, &row, sizeof row);
  buf_append(ret, &padding, sizeof padding);
  buf_append(ret, &rule, sizeof rule);
}

struct table_wanted fixture_wanted(uint8_t first) {
  struct table_wanted wanted = {.id = {first, 2, 3, 4}, .id_bytes = 20, .path = "/some/module"};
  return wanted;
}

struct span fixture_id(const struct table_wanted *wanted) {
  return span_of(wanted->id, wanted->id_bytes);
}

struct table_mark fixture_mark(const struct table_wanted *wanted, enum table_state state) {
  struct table_mark mark = {.state = state, .id_bytes = wanted->id_bytes};
  memcpy(mark.id, wanted->id, sizeof mark.id);
  return mark;
}

const char *fixture_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/fleetprof-tables-XXXXXX");
  return mkdtemp(folder);
}

/* Removes the files where IS_END; returns how many there are. */
static unsigned each(int is_end) {
  char path[512];
  unsigned count = 0;
  DIR *entries = opendir(folder);
  for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (is_end) unlink(path);
    count++;
  }
  if (entries != NULL) closedir(entries);
  return count;
}

void fixture_folder_remove(void) {
  each(1);
  rmdir(folder);
}

unsigned fixture_files(void) {
  return each(0);
}
