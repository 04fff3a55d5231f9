/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof upload` is a separate program next to the agent's library.  It needs an archive
   library that no board needs, and builds for boards omit it. */
#include "commands.h"
#include "complaint.h"
#include "paths.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FAILED = 1 };

int upload_main(int argc, char **argv) {
  (void)argc;
  struct path program;
  if (paths_library("fleetprof-upload", "../upload/fleetprof-upload", &program) != 0) {
    complaint(
        "upload: this installation has no lib/fleetprof/fleetprof-upload, as builds for boards "
        "do: upload from the machine that builds the firmware");
    return EXIT_FAILED;
  }
  execv(program.text, argv);
  complaint("upload: %s: %s", program.text, strerror(errno));
  return EXIT_FAILED;
}
