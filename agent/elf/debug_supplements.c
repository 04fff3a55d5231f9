/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information names other files, and is untrusted: it may name /etc/shadow, a FIFO, another
   user's private build. So a file is accepted only if it is

     a regular file (regular_file.h), within the limits
     of the right kind: ELF with the wanted build-id, or ELF with split debug information; of the
     latter the reader takes only units with ids of the program
     no secret of another user: every user may read it, or it belongs to the owner of the program,
     or to the requesting user, unless that is root

   Names are tried as the compiler wrote them, then beside the program, which may have been moved
   together with them. */
#include "debug_supplements.h"

#include "common/hex_text.h"
#include "debug_folders.h"
#include "elf_sections.h"
#include "regular_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4 * LIMIT_PATH_BYTES };

static const char debug_tree[] = "/usr/lib/debug";

struct search {
  const struct debug_program *program;
  struct debug_supplements *found;
  struct stat owner;                     /* of the program's file */
  char folders[2][2 * LIMIT_PATH_BYTES]; /* of the program, and of its open file; or "" */
};

/* Cuts PATH after its folder. */
static void cut_name(char *path) {
  char *slash = strrchr(path, '/');
  if (slash == NULL)
    path[0] = '\0';
  else
    slash[1] = '\0';
}

static bool begin(struct search *search) {
  const struct debug_program *program = search->program;
  char link[64], *own = search->folders[0], *opened = search->folders[1];
  if (fstat(program->fd, &search->owner) != 0) return false;
  int len = snprintf(own, sizeof search->folders[0], "%s%s", program->root, program->path);
  if (len < 0 || (size_t)len >= sizeof search->folders[0]) own[0] = '\0';
  cut_name(own);
  snprintf(link, sizeof link, "/proc/self/fd/%d", program->fd);
  ssize_t got = readlink(link, opened, sizeof search->folders[1] - 1);
  opened[got > 0 ? got : 0] = '\0';
  cut_name(opened);
  if (strcmp(own, opened) == 0) opened[0] = '\0';
  return true;
}

static bool may_be_shown(const struct search *search, const struct stat *status) {
  if ((status->st_mode & S_IROTH) != 0 || status->st_uid == search->owner.st_uid) return true;
  return geteuid() != 0 && status->st_uid == geteuid();
}

/* Opens the file PATH if it has the build-id ID or, if ID is empty, split debug information. */
static bool take(struct search *search, const char *path, struct span id) {
  struct debug_supplements *found = search->found;
  struct elf_sections sections;
  struct stat status;
  if (found->count == DEBUG_SUPPLEMENTS_MAX) return false;
  int fd = regular_file_open(path, &status);
  if (fd < 0) return false;
  uint64_t bytes = (uint64_t)status.st_size;
  bool fits = bytes <= DEBUG_SUPPLEMENTS_BYTES_MAX - found->bytes;
  bool is_good =
      fits && may_be_shown(search, &status) && elf_sections_read(elf_read_fd, &fd, &sections) == 0;
  if (is_good && id.len > 0)
    is_good = sections.has_dwarf &&
              span_is_equal(span_of(sections.build_id, sections.build_id_bytes), id);
  else if (is_good)
    is_good = sections.is_split;
  if (!is_good) {
    close(fd);
    return false;
  }
  found->bytes += bytes;
  found->fds[found->count++] = fd;
  return true;
}

__attribute__((format(printf, 3, 4))) static bool try(struct search *search, struct span id,
                                                      const char *format, ...) {
  char path[PATH_BYTES];
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(path, sizeof path, format, arguments);
  va_end(arguments);
  return len > 0 && (size_t)len < sizeof path && take(search, path, id);
}

/* Tries the absolute path PATH under the program's root, and under the daemon's. */
static bool try_both(struct search *search, struct span id, const char *path) {
  const char *root = search->program->root;
  if (root[0] != '\0' && try(search, id, "%s%s", root, path)) return true;
  return try(search, id, "%s", path);
}

/* Tries NAME beside the program. */
static bool try_beside(struct search *search, struct span id, const char *name) {
  for (unsigned i = 0; i < 2; i++)
    if (search->folders[i][0] != '\0' && try(search, id, "%s%s", search->folders[i], name))
      return true;
  return false;
}

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* ---- dwz ---- */

static bool try_trees(struct search *search, const struct elf_sections *sections, struct span id) {
  static const char dwz[] = "/.dwz/";
  char hex[2 * LIMIT_MODULE_ID_BYTES + 1], path[PATH_BYTES];
  const char *below = strstr(sections->alternate, dwz);
  below = below != NULL ? below + sizeof dwz - 1 : name_in(sections->alternate);
  if (strstr(below, "..") == NULL) {
    snprintf(path, sizeof path, "%s%s%s", debug_tree, dwz, below);
    if (try_both(search, id, path)) return true;
  }
  hex_text_print(id, hex, sizeof hex);
  if (strlen(hex) < 4) return false;
  snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", debug_tree, hex, hex + 2);
  return try_both(search, id, path);
}

/* The user may read the files in folders of his choice. */
static bool find_in_folders(struct search *search, struct span id) {
  struct debug_supplements *found = search->found;
  struct debug_found file;
  struct debug_folders *folders = search->program->folders;
  if (folders == NULL || debug_folders_find(folders, id, &file) != 0) return false;
  found->bytes += file.size_bytes;
  found->fds[found->count++] = file.fd;
  return true;
}

static void find_alternate(struct search *search) {
  struct elf_sections sections;
  int fd = search->program->fd;
  if (elf_sections_read(elf_read_fd, &fd, &sections) != 0 || sections.alternate_id_bytes == 0)
    return;
  struct span id = span_of(sections.alternate_id, sections.alternate_id_bytes);
  const char *name = sections.alternate;
  if (find_in_folders(search, id)) return;
  if (name[0] == '/' ? try_both(search, id, name) : try_beside(search, id, name)) return;
  if (try_beside(search, id, name_in(name))) return;
  try_trees(search, &sections, id);
}

/* ---- split debug information ---- */

static void find_package(struct search *search) {
  static const char ending[] = ".dwp";
  const struct span none = span_of(NULL, 0);
  const struct debug_program *program = search->program;
  char path[PATH_BYTES], link[64];
  if (program->path[0] == '/' && try(search, none, "%s%s%s", program->root, program->path, ending))
    return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", program->fd);
  ssize_t got = readlink(link, path, sizeof path - 1);
  if (got <= 0) return;
  path[got] = '\0';
  try(search, none, "%s%s", path, ending);
}

static bool find_dwo(struct search *search, const char *folder, const char *name) {
  const struct span none = span_of(NULL, 0);
  char path[PATH_BYTES];
  if (name[0] == '\0') return false;
  int len = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                           : snprintf(path, sizeof path, "%s/%s", folder, name);
  if (path[0] == '/' && len > 0 && (size_t)len < sizeof path && try_both(search, none, path))
    return true;
  if (name[0] != '/' && try_beside(search, none, name)) return true;
  return try_beside(search, none, name_in(name));
}

void debug_supplements_find(const struct debug_program *program, struct debug_supplements *ret) {
  struct search search = {.program = program, .found = ret};
  ret->count = 0;
  ret->bytes = 0;
  if (!begin(&search)) return;
  find_alternate(&search);
  find_package(&search);
}

/* Takes the first text of LIST. */
static const char *take_text(struct span *list) {
  const uint8_t *end = list->len > 0 ? memchr(list->data, '\0', list->len) : NULL;
  if (end == NULL) return NULL;
  const char *text = (const char *)list->data;
  size_t bytes = (size_t)(end - list->data) + 1;
  *list = span_of(list->data + bytes, list->len - bytes);
  return text;
}

uint32_t debug_supplements_add(const struct debug_program *program, struct span list,
                               struct debug_supplements *supplements) {
  struct search search = {.program = program, .found = supplements};
  uint32_t before = supplements->count;
  if (!begin(&search)) return 0;
  for (uint32_t i = 0; i < DEBUG_SUPPLEMENTS_MAX; i++) {
    const char *folder = take_text(&list), *name = take_text(&list);
    if (folder == NULL || name == NULL) break;
    find_dwo(&search, folder, name);
  }
  return supplements->count - before;
}

void debug_supplements_close(struct debug_supplements *supplements) {
  for (uint32_t i = 0; i < supplements->count; i++) close(supplements->fds[i]);
  supplements->count = 0;
}
