/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for sockets, shared by the command line, the daemon and the preload: a system daemon in
   /run/fleetprof, a user's in $XDG_RUNTIME_DIR/fleetprof, else in a directory of the user's in the
   temporary directory.

   /tmp is writable by all users, and XDG_RUNTIME_DIR may be inherited through su or sudo -E.  A
   directory with our name there may be an attacker's, set up to pass us a malicious ring.  It is
   used only if it is a real directory (no link), owned by the user, and closed to all others; so
   only the user and root can have put a socket into it.  Only root can write to /run.

   No environment is read here (the preload has its own reader), and nothing is allocated. */
#include "socket_path.h"
#include "intake_format.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int append(char path[SOCKET_PATH_BYTES], const char *directory, const char *name) {
  int written = snprintf(path, SOCKET_PATH_BYTES, "%s/%s", directory, name);
  return written > 0 && written < SOCKET_PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static int temp_dir(const struct socket_places *places, char path[SOCKET_PATH_BYTES]) {
  const char *parent = places->temp_dir;
  if (parent == NULL || parent[0] != '/') parent = "/tmp";
  char name[32];
  snprintf(name, sizeof name, "fleetprof-%u", (unsigned)places->uid);
  return append(path, parent, name);
}

/* Otherwise it is no runtime directory, by the XDG specification. */
static bool is_users(const char *runtime_dir, uid_t uid) {
  struct stat found;
  if (runtime_dir == NULL || runtime_dir[0] != '/') return false;
  return stat(runtime_dir, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == uid;
}

static int check_own(const char *directory, uid_t uid) {
  struct stat found;
  if (lstat(directory, &found) != 0) return -ENOENT;
  bool is_ours = S_ISDIR(found.st_mode) && found.st_uid == uid && (found.st_mode & 077) == 0;
  return is_ours ? 0 : -EPERM;
}

int socket_path_dir(const struct socket_places *places, enum socket_place place,
                    char ret_path[SOCKET_PATH_BYTES]) {
  switch (place) {
  case SOCKET_PLACE_SYSTEM:
    memcpy(ret_path, SOCKET_PATH_SYSTEM_DIR, sizeof SOCKET_PATH_SYSTEM_DIR);
    return 0;
  case SOCKET_PLACE_RUNTIME:
    if (!is_users(places->runtime_dir, places->uid)) return -ENOENT;
    return append(ret_path, places->runtime_dir, "fleetprof");
  case SOCKET_PLACE_TEMP:
    return temp_dir(places, ret_path);
  case SOCKET_PLACE_COUNT:
    break;
  }
  return -ENOENT;
}

int socket_path_find(const struct socket_places *places, enum socket_place place,
                     char ret_path[SOCKET_PATH_BYTES]) {
  char directory[SOCKET_PATH_BYTES];
  int error = socket_path_dir(places, place, directory);
  if (error == 0 && place != SOCKET_PLACE_SYSTEM) error = check_own(directory, places->uid);
  return error == 0 ? append(ret_path, directory, INTAKE_SOCKET_NAME) : error;
}
