/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the planned sources again and sends them, each program followed by its sources.  Archives
   that contain a file to send are read a second time, so that at most one file is on disk. */
#include "cli/complaint.h"
#include "source.h"
#include "upload.h"

#include <errno.h>
#include <string.h>

static void on_sent_bytes(void *context, uint64_t sent) {
  struct upload *upload = context;
  progress_show(&upload->progress, upload->found.files[upload->at].name, sent);
}

static void note_failure(struct upload *upload, const struct found_file *file, const char *what,
                         const char *why) {
  upload->failed++;
  progress_clear(&upload->progress);
  complaint("upload: %s: %s: %s", file->name, what, why);
}

static struct send sender(struct upload *upload) {
  return (struct send){upload->api.fetch, on_sent_bytes, upload, &upload->resumed_bytes};
}

/* Whether ERROR would affect all later files, too. */
static bool is_last(int error) {
  return error == -EACCES || error == -ECONNREFUSED;
}

static int send_one(struct upload *upload, const struct found_file *file, int fd) {
  char why[SEND_WHY_BYTES] = "", quality[SEND_QUALITY_BYTES];
  const struct send send = sender(upload);
  const struct send_what what = {.id = span_of(file->id, file->id_len),
                                 .kind = "",
                                 .is_listed = !file->is_split,
                                 .sha256 = file->sha256,
                                 .fd = fd,
                                 .bytes = file->bytes};
  progress_show(&upload->progress, file->name, 0);
  int error = send_bytes(&send, &what, quality, why);
  if (error < 0) note_failure(upload, file, "not taken", *why ? why : strerror(-error));
  if (error >= 0) upload->sent++;
  progress_next(&upload->progress, file->bytes);
  return is_last(error) ? error : 0;
}

/* Whether the sources of file AT are to be sent: the file is at the collector, or will be. */
static bool has_wanted_sources(const struct upload *upload, uint32_t at) {
  const struct found_file *file = &upload->found.files[at];
  enum verdict verdict = upload->plan.verdicts[at];
  return upload->bundler != NULL && file->has_dwarf && file->has_build_id &&
         (verdict == VERDICT_SEND || verdict == VERDICT_KNOWN);
}

static int send_sources(struct upload *upload, const struct found_file *file, int fd) {
  char why[SEND_WHY_BYTES] = "";
  struct send send = sender(upload);
  send.on_progress = NULL; /* the bar counts files: the size of sources is unknown in advance */
  int error = bundler_send(upload->bundler, &send, file, fd, why);
  if (error < 0) {
    note_failure(upload, file, "its sources are not sent", why);
  } else if (*why != '\0') {
    progress_clear(&upload->progress);
    complaint("upload: %s: sources: %s", file->name, why);
  }
  return is_last(error) ? error : 0;
}

/* Files arrive in the same order as when they were found, so each is compared with the next one. */
static int on_sendable(void *context, const struct source_file *file) {
  struct upload *upload = context;
  const struct found *found = &upload->found;
  if (upload->at == found->count) return 0;
  const struct found_file *next = &found->files[upload->at];
  if (next->ordinal != file->ordinal || strcmp(next->name, file->name) != 0) return 0;
  int error = 0;
  if (upload->plan.verdicts[upload->at] == VERDICT_SEND) error = send_one(upload, next, file->fd);
  if (error == 0 && has_wanted_sources(upload, upload->at))
    error = send_sources(upload, next, file->fd);
  upload->at++;
  return error;
}

static void on_known_trouble(void *context, const char *name, const char *why) {
  (void)context, (void)name, (void)why; /* reported when the files were found */
}

static bool is_wanted_again(const struct upload *upload, uint32_t at) {
  return upload->plan.verdicts[at] == VERDICT_SEND || has_wanted_sources(upload, at);
}

/* Sends the planned files of one source, from its first file AT, and moves AT past them. */
static int send_source(struct upload *upload) {
  const struct found *found = &upload->found;
  const char *source = found->files[upload->at].source;
  const struct source_visitor visitor = {on_sendable, on_known_trouble, upload};
  uint32_t end = upload->at;
  bool is_wanted = false;
  for (; end < found->count && found->files[end].source == source; end++)
    if (is_wanted_again(upload, end)) is_wanted = true;
  int error = is_wanted ? source_read(source, true, &visitor) : 0;
  if (is_last(error)) return error;
  for (; is_wanted && upload->at < end; upload->at++)
    if (is_wanted_again(upload, upload->at))
      note_failure(upload, &found->files[upload->at], "not taken",
                   "has changed since it was found");
  upload->at = end;
  return 0;
}

int upload_send(struct upload *upload) {
  progress_init(&upload->progress, upload->plan.counts[VERDICT_SEND], upload->plan.send_bytes);
  int error = 0;
  while (error == 0 && upload->at < upload->found.count) error = send_source(upload);
  progress_clear(&upload->progress);
  return error;
}
