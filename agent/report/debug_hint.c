/* SPDX-License-Identifier: Apache-2.0 */
/* On Debian, dpkg's lists (plain paths, one file per package) give the owner of a file.  By policy
   its debug package is PACKAGE-dbgsym; a few sources build a -dbg package instead.  Files of the
   merged /usr are listed with or without /usr.

   This is only a hint: the report may be made on another machine than the profiled one.  A path
   without a local owner gives the general answer.  Unusually large lists are skipped. */
#include "debug_hint.h"

#include "common/buf.h"
#include "common/hex_text.h"
#include "proto/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTS "/var/lib/dpkg/info"
#define LIST_ENDING ".list"

enum {
  LISTS_MAX = 20000,
  LIST_BYTES_MAX = 8 << 20,
  PACKAGE_BYTES = 128,
};

/* Packages, by name prefix, with another name of the debug package. */
static const struct {
  const char *prefix, *package;
} odd_packages[] = {
    {"libc6", "libc6-dbg"},
    {"libc-bin", "libc6-dbg"},
    {"python3.11", "python3.11-dbg"},
    {"libpython3.11", "python3.11-dbg"},
};

/* ---- the owner ---- */

static bool read_list(int folder, const char *name, struct buf *ret) {
  struct stat status;
  buf_clear(ret);
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  bool is_fit =
      fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LIST_BYTES_MAX;
  uint8_t bytes[8192];
  ssize_t got = 0;
  while (is_fit && ret->len < LIST_BYTES_MAX && (got = read(fd, bytes, sizeof bytes)) > 0)
    buf_append(ret, bytes, (size_t)got);
  close(fd);
  return is_fit && got == 0 && !ret->failed;
}

/* Whether PATH is a whole line of TEXT. */
static bool has_line(const char *text, const char *path) {
  size_t len = strlen(path);
  for (const char *at = strstr(text, path); at != NULL; at = strstr(at + 1, path))
    if ((at == text || at[-1] == '\n') && (at[len] == '\n' || at[len] == '\0')) return true;
  return false;
}

static bool is_owner(const char *list, const char *path) {
  static const char usr[] = "/usr";
  const char *old_path = strncmp(path, usr, sizeof usr - 1) == 0 ? path + sizeof usr - 1 : path;
  char new_path[LIMIT_PATH_BYTES + sizeof usr];
  snprintf(new_path, sizeof new_path, "%s%s", usr, old_path);
  return has_line(list, old_path) || has_line(list, new_path);
}

/* Finds the package with PATH in its list. */
static bool find_package(DIR *lists, const char *path, char ret[PACKAGE_BYTES]) {
  struct buf list = {0};
  bool is_found = false;
  for (int i = 0; i < LISTS_MAX && !is_found; i++) {
    const struct dirent *entry = readdir(lists);
    if (entry == NULL) break;
    size_t len = strlen(entry->d_name), ending = sizeof LIST_ENDING - 1;
    if (len <= ending || strcmp(entry->d_name + len - ending, LIST_ENDING) != 0) continue;
    is_found = read_list(dirfd(lists), entry->d_name, &list) && is_owner(buf_text(&list), path);
    if (!is_found) continue;
    snprintf(ret, PACKAGE_BYTES, "%.*s", (int)(len - ending), entry->d_name);
    ret[strcspn(ret, ":")] = '\0'; /* the architecture */
  }
  buf_fini(&list);
  return is_found;
}

/* ---- the hint ---- */

static void print_package(const char *owner, char ret[DEBUG_HINT_BYTES]) {
  for (size_t i = 0; i < sizeof odd_packages / sizeof *odd_packages; i++) {
    if (strncmp(owner, odd_packages[i].prefix, strlen(odd_packages[i].prefix)) != 0) continue;
    snprintf(ret, DEBUG_HINT_BYTES, "names: install %s", odd_packages[i].package);
    return;
  }
  snprintf(ret, DEBUG_HINT_BYTES, "names: install %s-dbgsym (from Debian's debug archive)", owner);
}

static void print_build_id(const struct profile_module *module, char ret[DEBUG_HINT_BYTES]) {
  char id[2 * LIMIT_MODULE_ID_BYTES + 1];
  hex_text_print(module->id, id, sizeof id);
  snprintf(
      ret, DEBUG_HINT_BYTES,
      "names: put its debug file at /usr/lib/debug/.build-id/%.2s/%s.debug, or tell its folder by "
      "--debug DIR",
      id, id[0] != '\0' ? id + 2 : "");
}

void debug_hint_print(const char *root, const struct profile_module *module,
                      char ret[DEBUG_HINT_BYTES]) {
  char path[LIMIT_PATH_BYTES], owner[PACKAGE_BYTES];
  snprintf(path, sizeof path, "%s" LISTS, root);
  DIR *lists = module->path[0] == '/' ? opendir(path) : NULL;
  bool is_found = lists != NULL && find_package(lists, module->path, owner);
  if (lists != NULL) closedir(lists);
  if (is_found)
    print_package(owner, ret);
  else
    print_build_id(module, ret);
}
