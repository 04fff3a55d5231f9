/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fleetprof-symbols. */
#ifndef SYMBOL_READER_PATH_H
#define SYMBOL_READER_PATH_H

/* Opens the program of the caller's installation, or of its build. Returns a descriptor to execute
   it by, which the caller closes, or -errno. */
int reader_path_open(void);

#endif
