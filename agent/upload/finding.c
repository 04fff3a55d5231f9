/* SPDX-License-Identifier: Apache-2.0 */
/* paths -> walk -> source -> look -> found */
#include "cli/complaint.h"
#include "look.h"
#include "source.h"
#include "upload.h"

#include "elf/file_tree.h"

#include <errno.h>
#include <string.h>

static void on_trouble(void *context, const char *name, const char *why) {
  struct upload *upload = context;
  upload->passed_over++;
  complaint("upload: %s: passed over: %s", name, why);
}

static int on_found(void *context, const struct source_file *file) {
  struct upload *upload = context;
  struct found_file found;
  struct span given = span_of(upload->settings.build_id, upload->settings.build_id_len);
  int error = look_at(file, given, &found);
  if (error == 0) return found_add(&upload->found, &found);
  if (error == -ENODATA)
    ++*(found.is_split ? &upload->unowned_splits : &upload->unowned_lists);
  else if (error == -EBADMSG)
    on_trouble(upload, file->name, "its headers are torn");
  else if (error != -ENOENT)
    on_trouble(upload, file->name, strerror(-error));
  return error == -ENOMEM ? error : 0;
}

static int on_path(void *context, const char *path, bool is_given) {
  struct upload *upload = context;
  const struct source_visitor visitor = {on_found, on_trouble, upload};
  int error = source_read(path, is_given, &visitor);
  if (error == 0 || error == -ENOMEM || error == -ENOSPC) return error;
  if (error == -EOVERFLOW) return error;
  on_trouble(upload, path, strerror(-error));
  return 0;
}

int upload_find(struct upload *upload) {
  for (int i = 0; i < upload->settings.path_count; i++) {
    const char *path = upload->settings.paths[i];
    int error = file_tree_walk(path, on_path, on_trouble, upload);
    if (error == 0) continue;
    complaint("upload: %s: %s", path,
              error == -EOVERFLOW ? "more than FOUND_FILES_MAX files" : strerror(-error));
    return error;
  }
  return 0;
}
