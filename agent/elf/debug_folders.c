/* SPDX-License-Identifier: Apache-2.0 */
/* A file is identified only by its build-id, at any path:

     DIR/.build-id/ab/cdef.debug, DIR/usr/lib/debug/.build-id/ab/cdef.debug    looked up
     any other file below DIR                                                  all are read once

   The second kind is an unsorted build result: .debug/ beside each program, or the unstripped
   programs. Only section headers of each file are read, by the reader that fuzzing covers; the
   content is left to the symbol worker. Of several files with one build-id the first with debug
   information is used, else the first. */
#include "debug_folders.h"

#include "common/buf.h"
#include "common/hex_text.h"
#include "common/table.h"
#include "elf_sections.h"
#include "file_tree.h"
#include "regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PATH_BYTES = 4096,
  ID_BYTES_MIN = 2, /* a folder's name and a file's */
  ROOM_FIRST = 64,
};

struct debug_file {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_bytes;
  bool has_dwarf;
  size_t path; /* its offset in the texts */
};

struct debug_folders {
  const char *paths[DEBUG_FOLDERS_MAX];
  unsigned count;
  bool is_read, is_cut; /* all files were read; there were too many */
  uint32_t seen;
  struct debug_file *files;
  uint32_t file_count, room;
  struct table by_id;
  struct buf texts; /* paths, each with its NUL */
};

int debug_folders_open(const char *const *paths, unsigned count, struct debug_folders **ret,
                       const char **ret_bad) {
  struct debug_folders *folders = calloc(1, sizeof *folders);
  if (folders == NULL) return -ENOMEM;
  for (unsigned i = 0; i < count && i < DEBUG_FOLDERS_MAX; i++) {
    struct stat status;
    int error = stat(paths[i], &status) != 0 ? -errno : S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
    if (error != 0) {
      *ret_bad = paths[i];
      free(folders);
      return error;
    }
    folders->paths[folders->count++] = paths[i];
  }
  *ret = folders;
  return 0;
}

void debug_folders_close(struct debug_folders *folders) {
  if (folders == NULL) return;
  table_fini(&folders->by_id);
  buf_fini(&folders->texts);
  free(folders->files);
  free(folders);
}

bool debug_folders_is_cut(const struct debug_folders *folders) {
  return folders->is_cut;
}

/* Opens the file at PATH if it has symbols or debug information. Returns the descriptor, or -1. */
static int open_named(const char *path, uint64_t *ret_bytes, struct elf_sections *ret) {
  struct stat status;
  int fd = regular_file_open(path, &status);
  if (fd < 0) return -1;
  if ((uint64_t)status.st_size <= LIMIT_DEBUG_FILE_BYTES &&
      elf_sections_read(elf_read_fd, &fd, ret) == 0 && ret->build_id_bytes >= ID_BYTES_MIN &&
      (ret->has_functions || ret->has_dwarf)) {
    *ret_bytes = (uint64_t)status.st_size;
    return fd;
  }
  close(fd);
  return -1;
}

static bool open_of(const char *path, struct span id, struct debug_found *ret) {
  struct elf_sections sections;
  uint64_t bytes;
  int fd = open_named(path, &bytes, &sections);
  if (fd < 0) return false;
  if (span_is_equal(span_of(sections.build_id, sections.build_id_bytes), id)) {
    *ret = (struct debug_found){.fd = fd, .size_bytes = bytes};
    return true;
  }
  close(fd);
  return false;
}

/* ---- trees by build-id ---- */

static bool find_in_tree(const struct debug_folders *folders, struct span id,
                         struct debug_found *ret) {
  static const char *const trees[] = {"", "/usr/lib/debug"};
  char path[PATH_BYTES], hex[2 * LIMIT_MODULE_ID_BYTES + 1];
  hex_text_print(id, hex, sizeof hex);
  for (unsigned i = 0; i < folders->count; i++)
    for (size_t tree = 0; tree < sizeof trees / sizeof *trees; tree++) {
      int len = snprintf(path, sizeof path, "%s%s/.build-id/%.2s/%s.debug", folders->paths[i],
                         trees[tree], hex, hex + 2);
      if (len > 0 && (size_t)len < sizeof path && open_of(path, id, ret)) return true;
    }
  return false;
}

/* ---- all files ---- */

static struct debug_file *find_known(struct debug_folders *folders, struct span id) {
  uint64_t key = table_hash(id.data, id.len, 0);
  uint32_t cursor, at;
  for (at = table_find(&folders->by_id, key, &cursor); at != TABLE_NONE;
       at = table_next(&folders->by_id, key, &cursor)) {
    struct debug_file *file = &folders->files[at];
    if (span_is_equal(span_of(file->id, file->id_bytes), id)) return file;
  }
  return NULL;
}

static struct debug_file *add_file(struct debug_folders *folders, struct span id) {
  if (folders->file_count == folders->room) {
    uint32_t room = folders->room > 0 ? 2 * folders->room : ROOM_FIRST;
    struct debug_file *more = reallocarray(folders->files, room, sizeof *more);
    if (more == NULL) return NULL;
    folders->files = more;
    folders->room = room;
  }
  if (table_add(&folders->by_id, table_hash(id.data, id.len, 0), folders->file_count) != 0)
    return NULL;
  struct debug_file *file = &folders->files[folders->file_count++];
  *file = (struct debug_file){.id_bytes = (uint32_t)id.len};
  memcpy(file->id, id.data, id.len);
  return file;
}

/* Stores PATH, with the headers SECTIONS, unless an equally good file is known. Returns 0 or
   -ENOMEM. */
static int keep(struct debug_folders *folders, const char *path,
                const struct elf_sections *sections) {
  struct span id = span_of(sections->build_id, sections->build_id_bytes);
  struct debug_file *file = find_known(folders, id);
  if (file != NULL && (file->has_dwarf || !sections->has_dwarf)) return 0;
  if (file == NULL) file = add_file(folders, id);
  if (file == NULL) return -ENOMEM;
  file->has_dwarf = sections->has_dwarf;
  file->path = folders->texts.len;
  buf_append(&folders->texts, path, strlen(path) + 1);
  return folders->texts.failed ? -ENOMEM : 0;
}

static int on_path(void *context, const char *path, bool is_given) {
  struct debug_folders *folders = context;
  struct elf_sections sections;
  uint64_t bytes;
  (void)is_given;
  if (folders->seen++ == DEBUG_FOLDERS_FILES_MAX) {
    folders->is_cut = true;
    return -EOVERFLOW;
  }
  int fd = open_named(path, &bytes, &sections);
  if (fd < 0) return 0;
  close(fd);
  return keep(folders, path, &sections);
}

static void on_trouble(void *context, const char *path, const char *why) {
  (void)context, (void)path, (void)why; /* an unreadable folder is ignored */
}

static void read_all(struct debug_folders *folders) {
  int error = 0;
  for (unsigned i = 0; i < folders->count && error != -EOVERFLOW && error != -ENOMEM; i++)
    error = file_tree_walk(folders->paths[i], on_path, on_trouble, folders);
  folders->is_read = true;
}

int debug_folders_find(struct debug_folders *folders, struct span id, struct debug_found *ret) {
  if (folders->count == 0 || id.len < ID_BYTES_MIN || id.len > LIMIT_MODULE_ID_BYTES)
    return -ENOENT;
  if (find_in_tree(folders, id, ret)) return 0;
  if (!folders->is_read) read_all(folders);
  const struct debug_file *file = find_known(folders, id);
  if (file == NULL) return -ENOENT;
  return open_of((const char *)folders->texts.data + file->path, id, ret) ? 0 : -ENOENT;
}
