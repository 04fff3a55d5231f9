/* SPDX-License-Identifier: Apache-2.0 */
/* --debug DIR: additional directories of debug files. */
#ifndef CLI_DEBUG_CHOICE_H
#define CLI_DEBUG_CHOICE_H

#include "common/options.h"

struct debug_folders;

/* The row of an option table.  SETTINGS is the settings' type; its MEMBER is a struct
   option_list. */
/* clang-format off */
#define DEBUG_CHOICE_ROW(settings, member) \
    {"debug", 0, "DIR", NULL, "Names", \
     "look for debug files, by their build-ids, in DIR and all below it first: a -dbg tree of " \
     "Yocto or Buildroot, what a build left before it was stripped; may be given many times", \
     OPTION_LIST, offsetof(settings, member)}
/* clang-format on */

/* Removes words from LIST that are neither on the command line nor absolute paths, and prints a
   warning.  A variable FLEETPROF_DEBUG=1 is meant as a switch, not as a directory. */
void debug_choice_pass_over(const char *command, int argc, char *const argv[],
                            struct option_list *list);

/* Opens the folders of LIST.  Returns 0, to be ended by debug_folders_close; or 1 after an error
   message of COMMAND. */
int debug_choice_open(const char *command, const struct option_list *list,
                      struct debug_folders **ret);

/* Warns on stderr if parts of FOLDERS were not searched. */
void debug_choice_tell(const char *command, const struct debug_folders *folders);

#endif
