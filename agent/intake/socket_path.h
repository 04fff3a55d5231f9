/* SPDX-License-Identifier: Apache-2.0 */
/* Where a daemon's socket may be when nobody says where: the system's, then the user's own. */
#ifndef INTAKE_SOCKET_PATH_H
#define INTAKE_SOCKET_PATH_H

#include <sys/types.h>

enum { SOCKET_PATH_BYTES = 4096 };

#define SOCKET_PATH_SYSTEM_DIR "/run/fleetprof"

/* In the order in which they are tried. */
enum socket_place {
  SOCKET_PLACE_SYSTEM,  /* /run/fleetprof */
  SOCKET_PLACE_RUNTIME, /* $XDG_RUNTIME_DIR/fleetprof, 0700 and the user's, as is its parent */
  SOCKET_PLACE_TEMP,    /* fleetprof-UID in the temporary directory, 0700 and the user's */
  SOCKET_PLACE_COUNT,
};

/* What the places depend on; the caller reads the environment. */
struct socket_places {
  const char *runtime_dir; /* XDG_RUNTIME_DIR, or NULL */
  const char *temp_dir;    /* TMPDIR, or NULL for /tmp */
  uid_t uid;
};

/* Writes the directory of PLACE.  Returns 0, -ENOENT when there is no such place here, or
   -ENAMETOOLONG. */
int socket_path_dir(const struct socket_places *places, enum socket_place place,
                    char ret_path[SOCKET_PATH_BYTES]);

/* Writes the socket's path of PLACE.  Returns 0, -ENOENT, -ENAMETOOLONG, or -EPERM when the
   directory is not the user's alone: somebody else's trap. */
int socket_path_find(const struct socket_places *places, enum socket_place place,
                     char ret_path[SOCKET_PATH_BYTES]);

#endif
