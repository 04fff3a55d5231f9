/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof upload`, a program of its own: it needs libarchive, which a board's `fleetprof run`
   should neither carry nor load.

     paths -> walk -> source -> look -> found -+-> plan -> the planned sources again -> send
                            collector -> known-+

   Archives are read twice, so that no more than one file of them is on disk at a time: first to
   see what there is, then those only that hold something to be sent. */
#include "cli/api_client.h"
#include "cli/complaint.h"
#include "cli/field.h"
#include "known.h"
#include "look.h"
#include "plan.h"
#include "progress.h"
#include "send.h"
#include "settings.h"
#include "source.h"
#include "walk.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NAMELESS = 3, SHOWN_MAX = 50 };
#define MEMORY_BYTES_MAX ((rlim_t)2 << 30) /* zstd --long=30 and a list of a million files fit */

struct upload {
  struct settings settings;
  struct found found;
  struct known_file *known;
  size_t known_count;
  struct plan plan;
  struct api api;
  struct progress progress;
  uint32_t at; /* the next file of the plan; files come in the order they were found in */
  uint64_t resumed_bytes;
  uint32_t sent, failed, passed_over, unowned_lists;
};

/* ---- finding ---- */

static void on_trouble(void *context, const char *name, const char *why) {
  struct upload *upload = context;
  upload->passed_over++;
  complaint("upload: %s: passed over: %s", name, why);
}

static int on_found(void *context, const struct source_file *file) {
  struct upload *upload = context;
  struct found_file found;
  struct span given = span_of(upload->settings.build_id, upload->settings.build_id_len);
  int error = look_at(file, given, &found);
  if (error == 0) return found_add(&upload->found, &found);
  if (error == -ENODATA)
    upload->unowned_lists++;
  else if (error == -EBADMSG)
    on_trouble(upload, file->name, "its headers are torn");
  else if (error != -ENOENT)
    on_trouble(upload, file->name, strerror(-error));
  return error == -ENOMEM ? error : 0;
}

static int on_path(void *context, const char *path, bool is_given) {
  struct upload *upload = context;
  const struct source_visitor visitor = {on_found, on_trouble, upload};
  int error = source_read(path, is_given, &visitor);
  if (error == 0 || error == -ENOMEM || error == -ENOSPC) return error;
  if (error == -EOVERFLOW) return error;
  on_trouble(upload, path, strerror(-error));
  return 0;
}

static int find_all(struct upload *upload) {
  for (int i = 0; i < upload->settings.path_count; i++) {
    const char *path = upload->settings.paths[i];
    int error = walk(path, on_path, on_trouble, upload);
    if (error == 0) continue;
    complaint("upload: %s: %s", path,
              error == -EOVERFLOW ? "more than FOUND_FILES_MAX files" : strerror(-error));
    return error;
  }
  return 0;
}

/* ---- asking ---- */

static int ask_known(struct upload *upload) {
  static const struct fetch_call call = {.method = "GET", .target = "/api/v1/debug/files"};
  struct fetch_answer answer;
  int status = api_call(&upload->api, &call, &answer);
  if (status != 0) return status;
  int error = known_parse(buf_span(&answer.body), &upload->known, &upload->known_count);
  fetch_answer_fini(&answer);
  if (error == 0) return 0;
  complaint("upload: %s: does not answer as a collector does", upload->api.url);
  return EXIT_FAILED;
}

/* ---- sending ---- */

static void on_sent_bytes(void *context, uint64_t sent) {
  struct upload *upload = context;
  progress_show(&upload->progress, upload->found.files[upload->at].name, sent);
}

static void note_failure(struct upload *upload, const struct found_file *file, const char *why) {
  upload->failed++;
  progress_clear(&upload->progress);
  complaint("upload: %s: not taken: %s", file->name, why);
}

static int send_one(struct upload *upload, const struct found_file *file, int fd) {
  char why[SEND_WHY_BYTES] = "";
  const struct send send = {upload->api.fetch, on_sent_bytes, upload, &upload->resumed_bytes};
  progress_show(&upload->progress, file->name, 0);
  int error = send_file(&send, file, fd, why);
  if (error != 0) note_failure(upload, file, *why ? why : strerror(-error));
  if (error == 0) upload->sent++;
  progress_next(&upload->progress, file->bytes);
  return error == -EACCES || error == -ECONNREFUSED ? error : 0;
}

/* Files come as when they were found: each that was found then is the next one in hand. */
static int on_sendable(void *context, const struct source_file *file) {
  struct upload *upload = context;
  const struct found *found = &upload->found;
  if (upload->at == found->count) return 0;
  const struct found_file *next = &found->files[upload->at];
  if (next->ordinal != file->ordinal || strcmp(next->name, file->name) != 0) return 0;
  int error = 0;
  if (upload->plan.verdicts[upload->at] == VERDICT_SEND) error = send_one(upload, next, file->fd);
  upload->at++;
  return error;
}

static void on_known_trouble(void *context, const char *name, const char *why) {
  (void)context, (void)name, (void)why; /* told when it was found */
}

/* Sends what is planned of the source that file AT is the first of, and moves AT behind it. */
static int send_source(struct upload *upload) {
  const struct found *found = &upload->found;
  const char *source = found->files[upload->at].source;
  const struct source_visitor visitor = {on_sendable, on_known_trouble, upload};
  uint32_t end = upload->at;
  bool is_wanted = false;
  for (; end < found->count && found->files[end].source == source; end++)
    if (upload->plan.verdicts[end] == VERDICT_SEND) is_wanted = true;
  int error = is_wanted ? source_read(source, true, &visitor) : 0;
  if (error == -EACCES || error == -ECONNREFUSED) return error;
  for (; is_wanted && upload->at < end; upload->at++)
    if (upload->plan.verdicts[upload->at] == VERDICT_SEND)
      note_failure(upload, &found->files[upload->at], "has changed since it was found");
  upload->at = end;
  return 0;
}

static int send_all(struct upload *upload) {
  progress_init(&upload->progress, upload->plan.counts[VERDICT_SEND], upload->plan.send_bytes);
  int error = 0;
  while (error == 0 && upload->at < upload->found.count) error = send_source(upload);
  progress_clear(&upload->progress);
  return error;
}

/* ---- saying ---- */

static void print_verdicts(const struct upload *upload) {
  static const char *const words[] = {[VERDICT_SEND] = "to send",
                                      [VERDICT_KNOWN] = "is at the collector",
                                      [VERDICT_COVERED] = "has nothing that another has not",
                                      [VERDICT_USELESS] =
                                          "has no build-id: nobody can say whose it is"};
  for (uint32_t i = 0; i < upload->found.count; i++) {
    const struct found_file *file = &upload->found.files[i];
    for (uint32_t byte = 0; byte < file->id_len; byte++) printf("%02x", file->id[byte]);
    printf("  %s  %s\n", file->name, words[upload->plan.verdicts[i]]);
  }
}

static void print_plan(const struct upload *upload) {
  const struct plan *plan = &upload->plan;
  printf("Found %u files with code or symbols: %u to send (%.1f MiB), %u at the collector already, "
         "%u that say nothing more",
         upload->found.count, plan->counts[VERDICT_SEND], (double)plan->send_bytes / (1 << 20),
         plan->counts[VERDICT_KNOWN], plan->counts[VERDICT_COVERED]);
  if (plan->counts[VERDICT_USELESS] > 0)
    printf(", %u debug files without build-id", plan->counts[VERDICT_USELESS]);
  if (upload->unowned_lists > 0)
    printf(", %u lists of symbols that do not say whose they are (--build-id)",
           upload->unowned_lists);
  puts(".");
  fflush(stdout);
}

static void print_nameless(const struct upload *upload) {
  const struct plan *plan = &upload->plan;
  for (uint32_t i = 0; i < plan->nameless_count && i < SHOWN_MAX; i++) {
    const struct found_file *file = &upload->found.files[plan->nameless[i]];
    complaint("upload: %s: cannot be named: %s", file->name,
              file->has_build_id
                  ? "stripped, and no debug file of its build-id is here or at the collector"
                  : "stripped, and without build-id (link with -Wl,--build-id)");
  }
  if (plan->nameless_count > SHOWN_MAX)
    complaint("upload: and %u more", plan->nameless_count - SHOWN_MAX);
}

/* ---- all of it ---- */

/* Returns whether all that was to be named has names.  What could not be read may have been more,
   and of nothing nothing can be promised. */
static bool is_all_named(const struct upload *upload) {
  print_nameless(upload);
  if (upload->passed_over > 0)
    complaint("upload: --require-all: what was passed over (%u) cannot be vouched for",
              upload->passed_over);
  if (upload->found.count == 0)
    complaint("upload: --require-all: there is no program, library or kernel module");
  return upload->plan.nameless_count == 0 && upload->passed_over == 0 && upload->found.count > 0;
}

static int conclude(const struct upload *upload, int error) {
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
  if (upload->resumed_bytes > 0)
    printf("Of an upload that was broken off %.1f MiB were there.\n",
           (double)upload->resumed_bytes / (1 << 20));
  if (upload->passed_over > 0) printf("Passed over: %u files.\n", upload->passed_over);
  bool is_named = !upload->settings.must_name_all || is_all_named(upload);
  if (error != 0 || upload->failed > 0) return EXIT_FAILED;
  return is_named ? EXIT_DONE : EXIT_NAMELESS;
}

static int run(struct upload *upload) {
  int status = find_all(upload) == 0 ? 0 : EXIT_FAILED;
  bool is_online = status == 0 && !upload->settings.is_dry_run;
  if (is_online) status = api_open("upload", &upload->settings.api, &upload->api);
  if (is_online && status == 0) status = ask_known(upload);
  if (status == 0 &&
      plan_make(&upload->found, upload->known, upload->known_count, &upload->plan) != 0) {
    complaint("upload: out of memory");
    status = EXIT_FAILED;
  }
  if (status != 0) return status;
  if (upload->settings.is_verbose || upload->settings.is_dry_run) print_verdicts(upload);
  print_plan(upload);
  return conclude(upload, is_online ? send_all(upload) : 0);
}

/* An archive says how much memory its reader takes: four bytes of a cpio head ask for 4 GiB.  What
   does not fit is told like any other broken archive. */
static void limit_memory(void) {
  const struct rlimit limit = {MEMORY_BYTES_MAX, MEMORY_BYTES_MAX};
  if (UPLOAD_IS_MEMORY_LIMITED) setrlimit(RLIMIT_DATA, &limit);
}

int main(int argc, char **argv) {
  struct upload upload = {.found = {0}};
  setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives */
  signal(SIGPIPE, SIG_IGN);
  limit_memory();
  int status = settings_read(argc, argv, &upload.settings);
  if (status != 0) return status == 1 ? EXIT_DONE : EXIT_USAGE;
  found_init(&upload.found);
  status = run(&upload);
  plan_fini(&upload.plan);
  api_close(&upload.api);
  free(upload.known);
  found_fini(&upload.found);
  return status;
}
