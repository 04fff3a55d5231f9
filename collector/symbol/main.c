/* SPDX-License-Identifier: Apache-2.0 */
/* fleetprof-symbols: parses untrusted ELF files and debug information for a collector or for
   `fleetprof report`. Not for interactive use: jobs arrive over the socket that it is started
   with. */
#include "nursery.h"
#include "nursery_server.h"
#include "nursery_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { DEADLINE_MS_MAX = 3600000, NICENESS_MAX = 19 };

/* Returns TEXT as a number from 0 to MAX, or -1. */
static long number_of(const char *text, long max) {
  char *end;
  long number = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && number >= 0 && number <= max ? number : -1;
}

int main(int argc, char **argv) {
  int type = 0;
  socklen_t len = sizeof type;
  bool is_started = argc == 4 &&
                    getsockopt(NURSERY_SOCKET, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
                    type == SOCK_SEQPACKET;
  long deadline_ms = is_started ? number_of(argv[1], DEADLINE_MS_MAX) : -1;
  long deadlines = is_started ? number_of(argv[2], NURSERY_DEADLINES_MAX) : -1;
  long niceness = is_started ? number_of(argv[3], NICENESS_MAX) : -1;
  if (deadline_ms < 0 || deadlines < 0 || niceness < 0) {
    fputs("fleetprof-symbols: is started by fleetprof and fleetprof-collector\n", stderr);
    return 2;
  }
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + (int)niceness);
  const struct nursery_options options = {(unsigned)deadline_ms, (unsigned)deadlines,
                                          (int)niceness};
  nursery_serve(&options);
}
