/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of an installation and of a board lie. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <stdbool.h>

enum {
  PATHS_BYTES = 4096,
  PATHS_USUAL_MAX = 3,                     /* places where a socket is when nobody says where */
  PATHS_SOCKETS_MAX = 1 + PATHS_USUAL_MAX, /* and that of a state */
};

struct path {
  char text[PATHS_BYTES];
};

struct path_list {
  struct path paths[PATHS_SOCKETS_MAX];
  unsigned count;
};

/* The state directory: GIVEN made absolute, or the caller's default when GIVEN is NULL.  Returns 0,
   -ENAMETOOLONG, or -ENOENT when there is neither XDG_STATE_HOME nor HOME. */
int paths_state(const char *given, struct path *ret);

/* Whether GIVEN is the directory that the caller has by default: who names it means no other daemon
   than who names none. */
bool paths_is_usual_state(const char *given);

/* The sockets to try, in order: STATE's alone, or the usual places when STATE is NULL; both of the
   usual state. */
int paths_sockets(const char *state, struct path_list *ret);

/* The program NAME of this installation: beside our own executable, in the build tree, in PATH.
   Returns 0 or -ENOENT. */
int paths_program(const char *name, struct path *ret);

/* libfleetprof.so of this installation.  Returns 0 or -ENOENT. */
int paths_agent(struct path *ret);

/* The program NAME that is installed beside libfleetprof.so, or lies at BUILT, relative to our own
   executable, in a build tree.  Returns 0 or -ENOENT. */
int paths_library(const char *name, const char *built, struct path *ret);

/* Writes DIRECTORY/NAME.  Returns 0 or -ENAMETOOLONG. */
int paths_join(const char *directory, const char *name, struct path *ret);

#endif
