/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof upload` is a separate program because it needs libarchive, which `fleetprof run` on a
   board should neither contain nor load.

      paths -> walk -> source -> look -> found -+-> plan -> the planned sources again -> send
                                collector -> known-+

   Archives are read twice, so that at most one of their files is on disk at a time: first to list
   their files, then only the archives that contain a file to send. */
#include "cli/complaint.h"
#include "cli/patience.h"
#include "common/clock.h"
#include "common/progress_line.h"
#include "known.h"
#include "outcome.h"
#include "upload.h"

#include "common/hex_text.h"
#include "common/text.h"

#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NAMELESS = 3, SHOWN_MAX = 50 };
#define READ_NS_MAX \
  (60 * NS_PER_SECOND) /* for the collector to read all of the debug information */
#define MEMORY_BYTES_MAX ((rlim_t)2 << 30) /* zstd --long=30 and a list of a million files fit */

/* ---- requests ---- */

static int ask_known(struct upload *upload) {
  static const struct fetch_call call = {.method = "GET", .target = "/api/v1/debug/files"};
  struct fetch_answer answer;
  int status = api_call(&upload->api, &call, &answer);
  if (status != 0) return status;
  free(upload->known);
  upload->known = NULL;
  upload->known_count = 0;
  int error = known_parse(buf_span(&answer.body), &upload->known, &upload->known_count);
  fetch_answer_fini(&answer);
  if (error == 0) return 0;
  complaint("upload: %s: does not answer as a collector does", upload->api.url);
  return EXIT_FAILED;
}

/* Whether unread debug information may still name a nameless file. */
static bool may_become_better(const struct plan *plan) {
  for (uint32_t i = 0; i < plan->nameless_count; i++)
    if (plan->nameless[i].has_dwarf) return true;
  return false;
}

/* Sleeps for a second, and shows the waiting time on a terminal. */
static void pause_shown(uint64_t waited_ns) {
  struct progress_line line;
  char text[96];
  snprintf(text, sizeof text, "upload: waiting for the collector to read debug information %llu s",
           (unsigned long long)(waited_ns / NS_PER_SECOND));
  progress_line_init(&line, true);
  progress_line_show(&line, text);
  nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  progress_line_clear(&line);
}

/* Headers only suggest the use of a file: requests the collector's result for all files.  Returns
   an exit status. */
static int judge_names(struct upload *upload) {
  const uint64_t start_ns = clock_monotonic_ns();
  for (;;) {
    int status = ask_known(upload);
    if (status != 0) return status;
    if (plan_judge(&upload->found, upload->known, upload->known_count, &upload->plan) != 0)
      return EXIT_FAILED;
    if (!may_become_better(&upload->plan)) return 0;
    if (clock_monotonic_ns() - start_ns > READ_NS_MAX) return 0;
    pause_shown(clock_monotonic_ns() - start_ns);
  }
}

/* Requests the collector's state after sending.  Returns an exit status. */
static int look_back(struct upload *upload) {
  if (upload->found.count == 0) return 0;
  int status = upload->settings.must_name_all ? judge_names(upload)
               : upload->sent > 0             ? ask_known(upload)
                                              : 0;
  bool is_there = upload->sent > 0 || upload->plan.counts[VERDICT_KNOWN] > 0;
  upload->is_unseen = status == 0 && is_there &&
                      !plan_is_any_seen(&upload->found, upload->known, upload->known_count);
  return status;
}

/* ---- output ---- */

static const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

static void print_bytes(uint64_t bytes) {
  if (bytes < 1 << 20)
    printf("%" PRIu64 " KiB", (bytes + 1023) >> 10);
  else
    printf("%.1f MiB", (double)bytes / (1 << 20));
}

static void print_verdicts(const struct upload *upload) {
  static const char *const words[] = {[VERDICT_SEND] = "to send",
                                      [VERDICT_KNOWN] = "is at the collector",
                                      [VERDICT_COVERED] = "has nothing that another has not",
                                      [VERDICT_USELESS] =
                                          "has no build-id: nobody can say whose it is"};
  for (uint32_t i = 0; i < upload->found.count; i++) {
    const struct found_file *file = &upload->found.files[i];
    char id[2 * LIMIT_MODULE_ID_BYTES + 1];
    hex_text_print(span_of(file->id, file->id_len), id, sizeof id);
    text_print(stdout, "%s  %s  %s", id, file->name, words[upload->plan.verdicts[i]]);
  }
}

static void print_plan(const struct upload *upload) {
  const struct plan *plan = &upload->plan;
  printf("Found %u file%s with code or symbols: %u to send (", upload->found.count,
         plural(upload->found.count), plan->counts[VERDICT_SEND]);
  print_bytes(plan->send_bytes);
  printf("), %u at the collector already, %u that say%s nothing more", plan->counts[VERDICT_KNOWN],
         plan->counts[VERDICT_COVERED], plan->counts[VERDICT_COVERED] == 1 ? "s" : "");
  if (plan->counts[VERDICT_USELESS] > 0)
    printf(", %u debug files without build-id", plan->counts[VERDICT_USELESS]);
  if (upload->unowned_lists > 0)
    printf(", %u lists of symbols that do not say whose they are (--build-id)",
           upload->unowned_lists);
  if (upload->unowned_splits > 0)
    printf(", %u files of split debug information that do not say whose they are (make PROGRAM.dwp "
           "beside PROGRAM of them, or tell --build-id)",
           upload->unowned_splits);
  puts(".");
  fflush(stdout);
}

static const char *why_nameless(const struct upload *upload, const struct nameless *nameless) {
  if (nameless->has_symbols)
    return "the collector reads no names of all functions from what there is (GET /api/v1/debug "
           "says why)";
  if (!upload->found.files[nameless->file].has_build_id)
    return "stripped, and without build-id (link with -Wl,--build-id)";
  return upload->settings.is_dry_run
             ? "stripped, and no debug file of its build-id is here; no collector was asked"
             : "stripped, and no debug file of its build-id is here or was sent to the collector";
}

static void print_nameless(const struct upload *upload) {
  const struct plan *plan = &upload->plan;
  for (uint32_t i = 0; i < plan->nameless_count && i < SHOWN_MAX; i++)
    complaint("upload: %s: cannot be named: %s", upload->found.files[plan->nameless[i].file].name,
              why_nameless(upload, &plan->nameless[i]));
  if (plan->nameless_count > SHOWN_MAX)
    complaint("upload: and %u more", plan->nameless_count - SHOWN_MAX);
}

/* ---- the whole run ---- */

/* Returns whether all modules have names.  Files that could not be read count against it, and so
   does an empty set. */
static bool is_all_named(const struct upload *upload) {
  print_nameless(upload);
  if (upload->passed_over > 0)
    complaint("upload: --require-all: what was passed over (%u) cannot be vouched for",
              upload->passed_over);
  if (upload->found.count == 0)
    complaint("upload: --require-all: there is no program, library or kernel module");
  return upload->plan.nameless_count == 0 && upload->passed_over == 0 && upload->found.count > 0;
}

static void print_sources(const struct upload *upload) {
  const struct bundler_counts *counts = bundler_count(upload->bundler);
  printf("Sources: of programs sent %u, there already %u, none found %u; files there %" PRIu64
         ", not found %" PRIu64,
         counts->sent, counts->known, counts->empty, counts->packed, counts->missing);
  if (counts->forbidden > 0)
    printf(", not taken %" PRIu64 " (no sources by their names, hidden, or links out of the "
           "folders)",
           counts->forbidden);
  if (counts->large > 0) printf(", too large %" PRIu64 " (LIMIT_SOURCE_BYTES)", counts->large);
  puts(".");
}

/* Warns of uploads that no board has used: a file of another build is accepted, but names
   nothing. */
static void print_unseen(const struct upload *upload) {
  if (upload->is_unseen)
    puts("None of it has been sampled so far: no board has used a program, library or kernel with "
         "these build-ids.  Where boards run this already, it is another build.");
}

static void print_outcome(const struct upload *upload) {
  const struct plan *plan = &upload->plan;
  if (upload->settings.is_dry_run)
    puts("Nothing was sent: --dry-run.");
  else if (upload->found.count == 0)
    puts("Nothing to upload: no file with code or symbols was found.");
  else if (plan->counts[VERDICT_SEND] == 0)
    puts("Nothing to upload: all files are at the collector.");
  else
    printf("Sent %u of %u files, %u failed.\n", upload->sent, plan->counts[VERDICT_SEND],
           upload->failed);
  if (upload->resumed_bytes > 0) {
    printf("Of an upload that was broken off ");
    print_bytes(upload->resumed_bytes);
    puts(" were there.");
  }
  print_unseen(upload);
  if (upload->bundler != NULL && !upload->settings.is_dry_run) print_sources(upload);
  if (upload->passed_over > 0)
    printf("Passed over: %u file%s.\n", upload->passed_over, plural(upload->passed_over));
}

static int conclude(const struct upload *upload, int error) {
  bool is_json = upload->settings.is_json;
  int unwritten = is_json ? outcome_write(upload) : 0;
  if (!is_json) print_outcome(upload);
  if (unwritten != 0) complaint("upload: stdout: %s", strerror(-unwritten));
  bool is_named = !upload->settings.must_name_all || is_all_named(upload);
  if (error != 0 || unwritten != 0 || upload->failed > 0) return EXIT_FAILED;
  return is_named ? EXIT_DONE : EXIT_NAMELESS;
}

static int run(struct upload *upload) {
  patience_watch("upload: looking for files with code or symbols");
  int status = upload_find(upload) == 0 ? 0 : EXIT_FAILED;
  patience_end();
  bool is_online = status == 0 && !upload->settings.is_dry_run;
  if (is_online) status = api_open("upload", &upload->settings.api, &upload->api);
  if (is_online && status == 0) status = ask_known(upload);
  if (status == 0 &&
      plan_make(&upload->found, upload->known, upload->known_count, &upload->plan) != 0) {
    complaint("upload: out of memory");
    status = EXIT_FAILED;
  }
  if (status != 0) return status;
  bool is_json = upload->settings.is_json;
  if (!is_json && (upload->settings.is_verbose || upload->settings.is_dry_run))
    print_verdicts(upload);
  if (!is_json) print_plan(upload);
  int error = is_online ? upload_send(upload) : 0;
  if (is_online && error == 0) status = look_back(upload);
  return status != 0 ? status : conclude(upload, error);
}

/* The parser of debug information has its own memory limits. */
static int prepare_sources(struct upload *upload) {
  const struct settings *settings = &upload->settings;
  char why[512];
  if (settings->source_folders.count + settings->source_maps.count == 0) return 0;
  int error = bundler_open(&settings->source_folders, &settings->source_maps, &upload->bundler, why,
                           sizeof why);
  if (error == 0) return 0;
  complaint("upload: sources: %s", why);
  return EXIT_USAGE;
}

/* An archive determines its reader's memory: four bytes of a cpio header request 4 GiB.  Failed
   allocations are reported as for any broken archive. */
static void limit_memory(void) {
  const struct rlimit limit = {MEMORY_BYTES_MAX, MEMORY_BYTES_MAX};
  if (UPLOAD_IS_MEMORY_LIMITED) setrlimit(RLIMIT_DATA, &limit);
}

int main(int argc, char **argv) {
  struct upload upload = {.found = {0}};
  setlocale(LC_CTYPE, "C.UTF-8"); /* for names in archives */
  signal(SIGPIPE, SIG_IGN);
  int status = settings_read(argc, argv, &upload.settings);
  if (status != 0) return status == 1 ? EXIT_DONE : EXIT_USAGE;
  found_init(&upload.found);
  status = prepare_sources(&upload);
  limit_memory();
  if (status == 0) status = run(&upload);
  bundler_close(upload.bundler);
  plan_fini(&upload.plan);
  api_close(&upload.api);
  free(upload.known);
  found_fini(&upload.found);
  return status;
}
