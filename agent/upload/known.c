/* SPDX-License-Identifier: Apache-2.0 */
/* One request lists all files: three thousand requests, each with a round trip, would take longer
   than sending the new files. */
#include "known.h"

#include "cli/field.h"
#include "file_name.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>

static int parse_file(const cJSON *row, struct known_file *ret) {
  struct known_file file = {.id_len = 0};
  const char *id = field_text(row, "build_id"), *sha256 = field_text(row, "sha256");
  file.id_len = (uint32_t)file_name_parse_id(id, strlen(id), file.id, sizeof file.id);
  if (file_name_parse_id(sha256, strlen(sha256), file.sha256, sizeof file.sha256) !=
          sizeof file.sha256 ||
      file.id_len == 0)
    return -EBADMSG;
  static const char *const named[] = {"map", "symtab", "dwarf"};
  const char *quality = field_text(row, "quality");
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    if (strcmp(quality, named[i]) == 0) file.has_symbols = true;
  const cJSON *seen = field_find(row, "seen");
  file.is_seen = seen == NULL || cJSON_IsTrue(seen);
  *ret = file;
  return 0;
}

static int parse_files(const cJSON *rows, struct known_file *files) {
  size_t at = 0;
  const cJSON *row;
  cJSON_ArrayForEach(row, rows) {
    int error = parse_file(row, &files[at++]);
    if (error != 0) return error;
  }
  return 0;
}

int known_parse(struct span text, struct known_file **ret, size_t *ret_count) {
  cJSON *root = cJSON_ParseWithLength((const char *)text.data, text.len);
  const cJSON *rows = field_find(root, "files");
  int count = cJSON_IsArray(rows) ? cJSON_GetArraySize(rows) : -1;
  struct known_file *files = count > 0 ? calloc((size_t)count, sizeof *files) : NULL;
  int error = count < 0 ? -EBADMSG : count > 0 && files == NULL ? -ENOMEM : 0;
  if (error == 0) error = parse_files(rows, files);
  cJSON_Delete(root);
  if (error != 0) {
    free(files);
    return error;
  }
  *ret = files;
  *ret_count = (size_t)count;
  return 0;
}
