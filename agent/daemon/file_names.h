/* SPDX-License-Identifier: Apache-2.0 */
/* Adds names to a finished profile file. */
#ifndef DAEMON_FILE_NAMES_H
#define DAEMON_FILE_NAMES_H

#include <stdint.h>

/* Runs `fleetprof name` on FD, a profile file without other writers, and waits for it, at most ten
   seconds.  It inherits the COUNT FILES, which may be the sampled files.  If fleetprof is missing
   or fails, the file is valid without names.  The caller must have no other children. */
void file_names_write(int fd, const int *files, uint32_t count);

#endif
