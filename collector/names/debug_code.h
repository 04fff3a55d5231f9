/* SPDX-License-Identifier: Apache-2.0 */
/* Whether files that were sent have the code of their module, which a separate debug file has not:
   pairs of PC and link register are judged by it. */
#ifndef NAMES_DEBUG_CODE_H
#define NAMES_DEBUG_CODE_H

#include "debug_catalogue.h"
#include "debug_folder.h"

/* Looks at the headers of the COUNT FILES in FOLDER; what cannot be read has none. */
bool debug_code_is_there(const struct debug_folder *folder, const struct catalogue_file *files,
                         int count);

#endif
