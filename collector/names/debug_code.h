/* SPDX-License-Identifier: Apache-2.0 */
/* Whether stored files contain the code of their module, which a separate debug file lacks. The
   check of call edges (pairs of PC and link register) needs it. */
#ifndef NAMES_DEBUG_CODE_H
#define NAMES_DEBUG_CODE_H

#include "debug_catalogue.h"
#include "debug_folder.h"

/* Whether one of the COUNT FILES in FOLDER has code, by its headers. Unreadable files have none. */
bool debug_code_is_there(const struct debug_folder *folder, const struct catalogue_file *files,
                         int count);

#endif
