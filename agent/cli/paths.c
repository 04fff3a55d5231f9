/* SPDX-License-Identifier: Apache-2.0 */
/* An installed tree can be moved, so no path is compiled in.  Other programs are found next to this
   executable, the agent in ../lib/fleetprof from there.  The build tree's layout is tried second.
   The rules for sockets are in intake/socket_path. */
#include "paths.h"
#include "intake/intake_format.h"
#include "intake/socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)PATHS_BYTES == (int)SOCKET_PATH_BYTES, "one size of path");
_Static_assert((int)PATHS_USUAL_MAX == (int)SOCKET_PLACE_COUNT, "room for every place");

#define SYSTEM_STATE "/var/lib/fleetprof"

int paths_join(const char *directory, const char *name, struct path *ret) {
  int len = snprintf(ret->text, sizeof ret->text, "%s/%s", directory, name);
  return len > 0 && (size_t)len < sizeof ret->text ? 0 : -ENAMETOOLONG;
}

static int absolute(const char *given, struct path *ret) {
  if (given[0] == '/') {
    int len = snprintf(ret->text, sizeof ret->text, "%s", given);
    return len > 0 && (size_t)len < sizeof ret->text ? 0 : -ENAMETOOLONG;
  }
  struct path here;
  if (getcwd(here.text, sizeof here.text) == NULL) return -errno;
  return paths_join(here.text, given, ret);
}

int paths_state(const char *given, struct path *ret) {
  if (given != NULL) return absolute(given, ret);
  if (geteuid() == 0) return absolute(SYSTEM_STATE, ret);
  const char *home = getenv("XDG_STATE_HOME");
  if (home != NULL && home[0] == '/') return paths_join(home, "fleetprof", ret);
  home = getenv("HOME");
  if (home == NULL || home[0] != '/') return -ENOENT;
  return paths_join(home, ".local/state/fleetprof", ret);
}

static bool is_same_directory(const char *a, const char *b) {
  struct stat of_a, of_b;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

/* The length of PATH without trailing slashes. */
static size_t bare_len(const char *path) {
  size_t len = strlen(path);
  while (len > 1 && path[len - 1] == '/') len--;
  return len;
}

bool paths_is_usual_state(const char *given) {
  struct path usual, own;
  if (paths_state(NULL, &usual) != 0 || paths_state(given, &own) != 0) return false;
  size_t len = bare_len(own.text);
  if (len == bare_len(usual.text) && memcmp(own.text, usual.text, len) == 0) return true;
  return is_same_directory(own.text, usual.text);
}

static void add_usual_places(struct path_list *list) {
  struct socket_places places = {
      .runtime_dir = getenv("XDG_RUNTIME_DIR"), .temp_dir = getenv("TMPDIR"), .uid = geteuid()};
  for (unsigned place = 0; place < SOCKET_PLACE_COUNT; place++)
    if (socket_path_find(&places, (enum socket_place)place, list->paths[list->count].text) == 0)
      list->count++;
}

int paths_sockets(const char *state, struct path_list *ret) {
  struct path directory;
  ret->count = 0;
  if (state != NULL) {
    int error = paths_state(state, &directory);
    if (error == 0) error = paths_join(directory.text, INTAKE_SOCKET_NAME, &ret->paths[0]);
    if (error != 0) return error;
    ret->count = 1;
  }
  if (state == NULL || paths_is_usual_state(state)) add_usual_places(ret);
  return 0;
}

/* The directory of this executable. */
static int own_directory(struct path *ret) {
  ssize_t len = readlink("/proc/self/exe", ret->text, sizeof ret->text - 1);
  if (len <= 0) return -ENOENT;
  ret->text[len] = '\0';
  char *slash = strrchr(ret->text, '/');
  if (slash == NULL) return -ENOENT;
  *slash = '\0';
  return 0;
}

/* The first of the places NEAR, relative to this executable's directory, that is accessible in
   MODE. */
static int find_near(const char *const *near, int mode, struct path *ret) {
  struct path own;
  if (own_directory(&own) != 0) return -ENOENT;
  for (; *near != NULL; near++)
    if (paths_join(own.text, *near, ret) == 0 && access(ret->text, mode) == 0) return 0;
  return -ENOENT;
}

static int find_in_path(const char *name, struct path *ret) {
  const char *list = getenv("PATH");
  while (list != NULL && *list != '\0') {
    size_t len = strcspn(list, ":");
    int written = snprintf(ret->text, sizeof ret->text, "%.*s/%s", (int)len, list, name);
    if (len > 0 && written > 0 && (size_t)written < sizeof ret->text &&
        access(ret->text, X_OK) == 0)
      return 0;
    list += len + (list[len] == ':');
  }
  return -ENOENT;
}

int paths_program(const char *name, struct path *ret) {
  struct path built;
  if (paths_join("../daemon", name, &built) != 0) return -ENOENT;
  const char *const near[] = {name, built.text, NULL};
  return find_near(near, X_OK, ret) == 0 ? 0 : find_in_path(name, ret);
}

int paths_agent(struct path *ret) {
  static const char *const near[] = {"../lib/fleetprof/libfleetprof.so",
                                     "../preload/libfleetprof.so", NULL};
  struct path found;
  int error = find_near(near, R_OK, &found);
  if (error != 0) return error;
  /* realpath removes "..", as the path is put into the environment of programs. */
  return realpath(found.text, ret->text) != NULL ? 0 : -ENOENT;
}

int paths_library(const char *name, const char *built, struct path *ret) {
  struct path installed;
  if (paths_join("../lib/fleetprof", name, &installed) != 0) return -ENOENT;
  const char *const near[] = {installed.text, built, NULL};
  return find_near(near, X_OK, ret);
}
