/* SPDX-License-Identifier: Apache-2.0 */
/* --debug DIR: where else the files are that name functions. */
#ifndef CLI_DEBUG_CHOICE_H
#define CLI_DEBUG_CHOICE_H

#include "common/options.h"

struct debug_folders;

/* The row of an option table whose settings, a SETTINGS, have a struct option_list MEMBER. */
/* clang-format off */
#define DEBUG_CHOICE_ROW(settings, member) \
    {"debug", 0, "DIR", NULL, "Names", \
     "look for debug files, by their build-ids, in DIR and all below it first: a -dbg tree of " \
     "Yocto or Buildroot, what a build left before it was stripped; may be given many times", \
     OPTION_LIST, offsetof(settings, member)}
/* clang-format on */

/* Takes what the words of the line have not said, and is no path from /, out of LIST, and says so:
   a variable FLEETPROF_DEBUG=1 means something else, and a folder called 1 nobody has meant. */
void debug_choice_pass_over(const char *command, int argc, char *const argv[],
                            struct option_list *list);

/* Opens the folders of LIST.  Returns 0, to be ended by debug_folders_close; or 1 after a complaint
   of COMMAND. */
int debug_choice_open(const char *command, const struct option_list *list,
                      struct debug_folders **ret);

/* Says on stderr what of FOLDERS was not looked at, if anything. */
void debug_choice_tell(const char *command, const struct debug_folders *folders);

#endif
