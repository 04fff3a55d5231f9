/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof name`: writes function names into profiles.  A profile holds addresses, and their
   names are in files that the next build replaces and other machines lack.

   `run --output` and `fleetprofd --output` end with this.  There FILE is "-", the profile on stdin,
   and the time limit is short, because a user waits.  Run it by hand for a run that was killed, or
   when debug files arrive later.

   A file that a run still writes is left alone: the holder of its lock writes. */
#include "commands.h"
#include "common/clock.h"
#include "common/options.h"
#include "complaint.h"
#include "debug_choice.h"
#include "elf/debug_folders.h"
#include "report/namer.h"
#include "report/names_writer.h"
#include "report/profile_reader.h"
#include "word_order.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  ERROR_BYTES = 512,
  END_MS = 4000, /* for all files at the end of a run, and again for the file in progress then */
  HAND_MS = 120000,
};

struct name_options {
  bool is_verbose;
  struct option_list debug;
  struct debug_folders *folders; /* opened from `debug` */
};

static const struct option rows[] = {
    DEBUG_CHOICE_ROW(struct name_options, debug),
    {"verbose", 'v', NULL, NULL, "What it says", "say on stderr what was written", OPTION_FLAG,
     offsetof(struct name_options, is_verbose)},
};

static const struct option_table table = {
    .usage = "fleetprof name [OPTION]... FILE...",
    .summary = "Writes into profiles of `fleetprof run --output` what this machine calls the "
               "functions in\nthem, so that `fleetprof report` has names after the next build and "
               "on other machines.\nEvery run ends with this; by hand it is for one that was "
               "killed, or when debug files came\nlater.  FILE may be -: the profile that stdin "
               "is open on, for reading and writing.",
    .epilogue = "EXAMPLES\n  fleetprof name killed.fp; scp killed.fp desk:\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

static int refuse(const char *path, const char *why) {
  complaint("name: %s: %s", path, why);
  return -EINVAL;
}

/* Writes names into the profile on FD, called PATH. */
static int name_open_file(int fd, const char *path, unsigned limit_ms,
                          const struct name_options *options) {
  static struct profile profile;
  uint64_t deadline_ns = clock_monotonic_ns() + limit_ms * NS_PER_MS;
  char why[PROFILE_READER_WHY_BYTES] = "cannot start";
  struct profile_damage damage;
  struct names_written written;
  struct namer *namer = NULL;
  int error = profile_init(&profile);
  if (error == 0) error = profile_reader_read_fd(fd, &profile, &damage, why);
  if (error != 0) {
    profile_fini(&profile);
    return refuse(path, why);
  }
  if (profile.frame_count > 0) error = namer_open(limit_ms, &namer);
  if (namer != NULL) namer_set_folders(namer, options->folders);
  if (namer != NULL && fd == STDIN_FILENO) namer_use_inherited(namer);
  if (namer != NULL && error == 0)
    error = names_writer_write(fd, &profile, namer, deadline_ns, &written);
  namer_close(namer);
  profile_fini(&profile);
  if (error == -EBADMSG) return refuse(path, "is no file of run --output: only those hold names");
  if (error != 0) return refuse(path, strerror(-error));
  if (options->is_verbose && namer != NULL)
    fprintf(stderr, "fleetprof: %s: names of %llu functions in %u modules written, %u left out\n",
            path, (unsigned long long)written.functions, written.modules, written.late);
  return 0;
}

static int name_path(const char *path, const struct name_options *options) {
  if (strcmp(path, "-") == 0) return name_open_file(STDIN_FILENO, "stdin", END_MS, options);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return refuse(path, strerror(errno));
  int error = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
                  ? refuse(path, "a run still writes into it")
                  : name_open_file(fd, path, HAND_MS, options);
  close(fd);
  return error;
}

int name_main(int argc, char **argv) {
  struct name_options options = {.is_verbose = false};
  struct options_result result;
  char error[ERROR_BYTES];
  argc = word_order_sort(&table, argc, argv);
  if (argc < 0) snprintf(error, sizeof error, "%s", strerror(-argc));
  if (argc < 0 || options_parse(&table, argc, argv, &options, &result, error, sizeof error) != 0) {
    complaint("name: %s", error);
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  if (result.first_positional >= argc) {
    complaint("name: no file; usage: %s", table.usage);
    return EXIT_USAGE;
  }
  debug_choice_pass_over("name", argc, argv, &options.debug);
  int status = debug_choice_open("name", &options.debug, &options.folders);
  if (status != 0) return status;
  for (int i = result.first_positional; i < argc; i++)
    if (name_path(argv[i], &options) != 0) status = EXIT_FAILED;
  debug_choice_tell("name", options.folders);
  debug_folders_close(options.folders);
  return status;
}
