/* SPDX-License-Identifier: Apache-2.0 */
/* A service may run a program under another file name in the next build (app.old, app.new). A
   comparison uses this list to pair the two (module_pairs.c).

   Programs are few, so the list is searched, the latest first, since the blocks of one service are
   adjacent. */
#include "programs.h"

#include "common/arena.h"
#include "common/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_row(const struct view_program *row, const char *service, const char *exe) {
  return strcmp(row->exe, exe) == 0 && strcmp(row->service, service) == 0;
}

static bool has(const struct programs *programs, const char *service, const char *exe) {
  for (uint32_t i = programs->count; i-- > 0;)
    if (is_row(&programs->rows[i], service, exe)) return true;
  return false;
}

int programs_add(struct programs *programs, const char *service, const char *exe) {
  if (exe == NULL || exe[0] == '\0') return 0;
  if (service == NULL) service = "";
  exe = path_name(exe);
  if (has(programs, service, exe) || programs->count == PROGRAMS_MAX) return 0;
  if (programs->rows == NULL) programs->rows = calloc(PROGRAMS_MAX, sizeof *programs->rows);
  if (programs->rows == NULL) return -ENOMEM;
  struct view_program row = {strdup(service), strdup(exe)};
  programs->rows[programs->count++] = row;
  return row.service != NULL && row.exe != NULL ? 0 : -ENOMEM;
}

int programs_copy(const struct programs *programs, struct arena *arena,
                  const struct view_program **ret, uint32_t *ret_count) {
  struct view_program *rows = arena_array(arena, programs->count, sizeof *rows);
  if (rows == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < programs->count; i++) {
    const struct view_program *row = &programs->rows[i];
    rows[i].service = arena_string(arena, row->service, strlen(row->service));
    rows[i].exe = arena_string(arena, row->exe, strlen(row->exe));
    if (rows[i].service == NULL || rows[i].exe == NULL) return -ENOMEM;
  }
  *ret = rows;
  *ret_count = programs->count;
  return 0;
}

void programs_fini(struct programs *programs) {
  for (uint32_t i = 0; i < programs->count; i++) {
    free((char *)(uintptr_t)programs->rows[i].service);
    free((char *)(uintptr_t)programs->rows[i].exe);
  }
  free(programs->rows);
}
