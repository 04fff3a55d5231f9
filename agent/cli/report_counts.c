/* SPDX-License-Identifier: Apache-2.0 */
/* Output by option:

        (nothing)            count and address of every module, each behind a line with its name
        --module NAME        count and address of that module
        --just-pcs           addresses alone    } of the program itself,
        --just-counts        counts alone       } unless --module names another
        --counts-to FIFO     counts to FIFO and addresses to stdout at once, for paste

   Opening a fifo blocks until its reader opens it, as usual. */
#include "report_counts.h"
#include "common/buf.h"
#include "complaint.h"
#include "output_text.h"
#include "report/counts.h"
#include "report/two_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what, int error) {
  fprintf(stderr, "fleetprof: report: %s: %s\n", what, strerror(-error));
  return error;
}

void report_counts_tell_modules(const char *wanted, const struct profile *profile) {
  struct buf modules = {0};
  counts_print_modules(profile, &modules);
  complaint("report: --module: no '%.200s' in this profile; there are %.1000s", wanted,
            modules.len > 0 ? buf_text(&modules) : "none");
  buf_fini(&modules);
}

static int find_module(const struct report_settings *settings, const struct profile *profile,
                       uint32_t *ret) {
  const struct report_options *options = &settings->options;
  bool is_split = options->is_just_pcs || options->is_just_counts || options->counts_to != NULL;
  *ret = COUNTS_ALL;
  if (options->module == NULL && !is_split) return 0;
  *ret = counts_find_module(profile, options->module);
  if (*ret != BATCH_NONE) return 0;
  if (options->module != NULL)
    report_counts_tell_modules(options->module, profile);
  else
    fputs("fleetprof: report: the program itself is not in this profile: name a --module\n",
          stderr);
  return -ENOENT;
}

/* Opens the fifo last: nothing earlier depends on its reader. */
static int write_both(const struct report_settings *settings, const struct buf *counts,
                      const struct buf *pcs) {
  struct pipe_end ends[2] = {{-1, buf_span(counts)}, {dup(STDOUT_FILENO), buf_span(pcs)}};
  const char *path = settings->options.counts_to;
  close(STDOUT_FILENO); /* so that readers see its end when the last address is written */
  ends[0].fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_TRUNC, 0666);
  int error = ends[0].fd < 0 || ends[1].fd < 0 ? -errno : two_pipes_write(ends);
  return error == 0 ? 0 : fail(path, error);
}

static int write_out(const char *path, const struct buf *text) {
  if (path != NULL) return output_text_write("report", path, text);
  struct pipe_end ends[2] = {{dup(STDOUT_FILENO), buf_span(text)}, {-1, {NULL, 0}}};
  int error = ends[0].fd < 0 ? -errno : two_pipes_write(ends);
  return error == 0 ? 0 : fail("stdout", error);
}

int report_counts(const struct report_settings *settings, const struct profile *profile) {
  const struct report_options *options = &settings->options;
  struct buf counts = {0}, pcs = {0};
  uint32_t module;
  int error = find_module(settings, profile, &module);
  if (error != 0) return error;
  bool is_split = options->counts_to != NULL || options->is_just_pcs || options->is_just_counts;
  if (is_split)
    error = counts_print_columns(profile, module, &counts, &pcs);
  else
    error = counts_print(profile, module, &counts);
  if (error != 0)
    fail("counts", error);
  else if (options->counts_to != NULL)
    error = write_both(settings, &counts, &pcs);
  else
    error = write_out(options->output, options->is_just_pcs ? &pcs : &counts);
  buf_fini(&counts);
  buf_fini(&pcs);
  return error;
}
