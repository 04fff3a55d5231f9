/* SPDX-License-Identifier: Apache-2.0 */
/* The default places of a daemon's socket: the system's, then the user's own. */
#ifndef INTAKE_SOCKET_PATH_H
#define INTAKE_SOCKET_PATH_H

#include <sys/types.h>

enum { SOCKET_PATH_BYTES = 4096 };

#define SOCKET_PATH_SYSTEM_DIR "/run/fleetprof"

/* In the order of use. */
enum socket_place {
  SOCKET_PLACE_SYSTEM,  /* /run/fleetprof */
  SOCKET_PLACE_RUNTIME, /* $XDG_RUNTIME_DIR/fleetprof, 0700 and owned by the user, as is its parent
                         */
  SOCKET_PLACE_TEMP,    /* fleetprof-UID in the temporary directory, 0700 and owned by the user */
  SOCKET_PLACE_COUNT,
};

/* The inputs of the rules; the caller reads the environment. */
struct socket_places {
  const char *runtime_dir; /* XDG_RUNTIME_DIR, or NULL */
  const char *temp_dir;    /* TMPDIR, or NULL for /tmp */
  uid_t uid;
};

/* Writes the directory of PLACE.  Returns 0, -ENOENT if there is no such place here, or
   -ENAMETOOLONG. */
int socket_path_dir(const struct socket_places *places, enum socket_place place,
                    char ret_path[SOCKET_PATH_BYTES]);

/* Writes the socket's path of PLACE.  Returns 0, -ENOENT, -ENAMETOOLONG, or -EPERM if the directory
   is not exclusively the user's: it may be another user's trap. */
int socket_path_find(const struct socket_places *places, enum socket_place place,
                     char ret_path[SOCKET_PATH_BYTES]);

#endif
