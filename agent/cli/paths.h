/* SPDX-License-Identifier: Apache-2.0 */
/* Locations of the parts of an installation and of a board. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <stdbool.h>

enum {
  PATHS_BYTES = 4096,
  PATHS_USUAL_MAX = 3,                     /* default places of a socket */
  PATHS_SOCKETS_MAX = 1 + PATHS_USUAL_MAX, /* and the socket of a state directory */
};

struct path {
  char text[PATHS_BYTES];
};

struct path_list {
  struct path paths[PATHS_SOCKETS_MAX];
  unsigned count;
};

/* The state directory: GIVEN made absolute, or the caller's default if GIVEN is NULL.  Returns 0,
   -ENAMETOOLONG, or -ENOENT if neither XDG_STATE_HOME nor HOME is set. */
int paths_state(const char *given, struct path *ret);

/* Whether GIVEN is the caller's default state directory, so that it selects the same daemon as no
   option. */
bool paths_is_usual_state(const char *given);

/* The sockets to try, in order: STATE's alone; the usual places if STATE is NULL; both for the
   default state directory. */
int paths_sockets(const char *state, struct path_list *ret);

/* The program NAME of this installation: next to this executable, in the build tree, or in PATH.
   Returns 0 or -ENOENT. */
int paths_program(const char *name, struct path *ret);

/* libfleetprof.so of this installation.  Returns 0 or -ENOENT. */
int paths_agent(struct path *ret);

/* The program NAME that is installed next to libfleetprof.so, or at BUILT in a build tree, relative
   to this executable.  Returns 0 or -ENOENT. */
int paths_library(const char *name, const char *built, struct path *ret);

/* Writes DIRECTORY/NAME.  Returns 0 or -ENAMETOOLONG. */
int paths_join(const char *directory, const char *name, struct path *ret);

#endif
