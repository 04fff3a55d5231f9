/* SPDX-License-Identifier: Apache-2.0 */
/* The last thing that happens to a profile file: names. */
#ifndef DAEMON_FILE_NAMES_H
#define DAEMON_FILE_NAMES_H

#include <stdint.h>

/* Has `fleetprof name` write into FD, a profile file that nobody writes into any more, what the
   sampled functions are called, and waits for that: ten seconds at most.  It inherits the COUNT
   FILES, which may be what was sampled.  Without it, and where it fails, the file is good as it is.
   The caller has no other children. */
void file_names_write(int fd, const int *files, uint32_t count);

#endif
