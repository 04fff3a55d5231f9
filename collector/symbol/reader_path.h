/* SPDX-License-Identifier: Apache-2.0 */
/* Where fleetprof-symbols is. */
#ifndef SYMBOL_READER_PATH_H
#define SYMBOL_READER_PATH_H

/* Opens the program that belongs to the one that asks: of its installation, or of its build.
   Returns a descriptor to execute it by, which the caller closes, or -errno. */
int reader_path_open(void);

#endif
