/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof report`: files -> one profile in addresses -> names -> one of the formats on stdout.

   What could be read is shown, and what could not is said on stderr with its size: a profile that
   was torn by a crash is often the one that matters.  A file that is no profile at all ends the
   report, because a sum that silently lacks a term is worse than none.

   Output is made in memory and written once; a reader that goes away early (`| head`) is no error.
 */
#include "commands.h"
#include "common/arena.h"
#include "common/buf.h"
#include "report/named_tree.h"
#include "report/namer.h"
#include "report/profile_reader.h"
#include "report/top_text.h"
#include "report_settings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TREE_BYTES_MAX ((size_t)1 << 30)

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const double worth_a_word = 0.01; /* of all: a module without names */

struct report {
  struct report_settings settings;
  struct profile profile;
  struct namer *namer;
  struct arena arena;
  struct view_tree tree;
  struct buf out;
};

static void tell_damage(const char *path, const struct profile_damage *damage) {
  if (damage->torn_bytes > 0)
    fprintf(stderr,
            "fleetprof: report: %s: the last %llu bytes are of a write that was cut short, "
            "and left out\n",
            path, (unsigned long long)damage->torn_bytes);
  if (damage->damaged_bytes > 0 || damage->bad_batches > 0)
    fprintf(stderr,
            "fleetprof: report: %s: %llu bytes and %llu batches are damaged, and left out\n", path,
            (unsigned long long)damage->damaged_bytes, (unsigned long long)damage->bad_batches);
  if (damage->is_unfinished)
    fprintf(stderr,
            "fleetprof: report: %s: its run still goes on or was killed: the last moments "
            "are not in it\n",
            path);
}

static int read_files(struct report *report) {
  char why[PROFILE_READER_WHY_BYTES];
  struct profile_damage damage;
  for (int i = 0; i < report->settings.file_count; i++) {
    const char *path = report->settings.files[i];
    int error = profile_reader_read(path, &report->profile, &damage, why);
    if (error != 0) {
      fprintf(stderr, "fleetprof: report: %s: %s\n", path, why);
      return error;
    }
    tell_damage(path, &damage);
  }
  return 0;
}

/* Says which modules stay without names. */
static void tell_nameless(const struct report *report) {
  const struct profile *profile = &report->profile;
  for (uint32_t i = 0; i < profile->module_count; i++) {
    const struct profile_module *module = &profile->modules[i];
    const char *why;
    uint64_t weight = 0;
    for (uint32_t j = 0; j < profile->frame_count; j++)
      if (profile->frames[j].module == i) weight += profile->frames[j].weight;
    double share = profile->weight > 0 ? (double)weight / (double)profile->weight : 0;
    if (module->kind != MODULE_ELF || share < worth_a_word) continue;
    if (namer_load(report->namer, i, module, &why) == 0) continue;
    fprintf(stderr, "fleetprof: report: %s: %.1f %% of all has no names: %s\n", module->path,
            100 * share, why);
  }
}

static int print(struct report *report) {
  const struct top_text style = {.limit = (uint32_t)report->settings.options.limit,
                                 .has_colour =
                                     isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == NULL};
  return top_text_print(&report->profile, &report->tree, &style, &report->arena, &report->out);
}

static int write_out(const struct buf *out) {
  for (size_t done = 0; done < out->len;) {
    ssize_t put = write(STDOUT_FILENO, out->data + done, out->len - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno == EPIPE ? 0 : -errno;
    done += (size_t)put;
  }
  return 0;
}

static int make(struct report *report) {
  int error = read_files(report);
  if (error != 0) return error;
  error = named_tree_build(&report->profile, report->namer, NULL, &report->arena, &report->tree);
  if (error == 0 && (report->settings.options.is_verbose || isatty(STDERR_FILENO) == 1))
    tell_nameless(report);
  if (error == 0) error = print(report);
  if (error == 0) error = write_out(&report->out);
  if (error != 0) fprintf(stderr, "fleetprof: report: %s\n", strerror(-error));
  return error;
}

int report_main(int argc, char **argv) {
  static struct report report;
  if (report_settings_parse(argc, argv, &report.settings) != 0) {
    fprintf(stderr, "fleetprof: report: %s\n", report.settings.error);
    return EXIT_USAGE;
  }
  if (report.settings.is_done) return 0;
  signal(SIGPIPE, SIG_IGN);
  arena_init(&report.arena, TREE_BYTES_MAX);
  int error = namer_open(&report.namer);
  if (error == 0) error = profile_init(&report.profile);
  if (error != 0)
    fprintf(stderr, "fleetprof: report: cannot start: %s\n", strerror(-error));
  else
    error = make(&report);
  namer_close(report.namer);
  profile_fini(&report.profile);
  arena_fini(&report.arena);
  buf_fini(&report.out);
  return error == 0 ? 0 : EXIT_FAILED;
}
