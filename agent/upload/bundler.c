/* SPDX-License-Identifier: Apache-2.0 */
/* debug file -> paths of its sources -> local files -> a bundle -> the collector.  Modules are
   processed one by one, so that at most one bundle is on disk. */
#include "bundler.h"

#include "bundle_pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Memory limit of one module's paths; those of a Linux kernel take 5 MB. */
#define PATHS_BYTES_MAX ((size_t)256 << 20)

struct bundler {
  struct bundle_roots *roots;
  struct bundle_reader *reader;
  struct bundler_counts counts;
};

int bundler_open(const struct option_list *folders, const struct option_list *maps,
                 struct bundler **ret, char *why, size_t why_len) {
  struct bundler *bundler = calloc(1, sizeof *bundler);
  int error = bundler != NULL ? 0 : -ENOMEM;
  if (error == 0) {
    error = bundle_roots_open(folders, maps, &bundler->roots, why, why_len);
    if (error != 0) {
      bundler_close(bundler);
      return error;
    }
    error = bundle_reader_open(&bundler->reader);
  }
  if (error == 0) {
    *ret = bundler;
    return 0;
  }
  bundler_close(bundler);
  snprintf(why, why_len, "no reader of debug information: %s", strerror(-error));
  return error;
}

void bundler_close(struct bundler *bundler) {
  if (bundler == NULL) return;
  bundle_roots_close(bundler->roots);
  bundle_reader_close(bundler->reader);
  free(bundler);
}

static int send_packed(struct bundler *bundler, const struct send *send,
                       const struct found_file *file, const struct bundle_packed *packed,
                       char why[SEND_WHY_BYTES]) {
  char quality[SEND_QUALITY_BYTES];
  const struct send_what what = {.id = span_of(file->id, file->id_len),
                                 .kind = "/sources",
                                 .sha256 = packed->sha256,
                                 .head = buf_span(&packed->head),
                                 .fd = packed->fd,
                                 .bytes = packed->bytes};
  int sent = send_bytes(send, &what, quality, why);
  if (sent < 0) return sent;
  ++*(sent == 0 ? &bundler->counts.sent : &bundler->counts.known);
  bundler->counts.packed += packed->count;
  return 0;
}

static int pack_and_send(struct bundler *bundler, const struct send *send,
                         const struct found_file *file, const struct bundle_paths *paths,
                         char why[SEND_WHY_BYTES]) {
  struct bundler_counts *counts = &bundler->counts;
  struct bundle_packed packed;
  int error = bundle_pack(bundler->roots, paths, &packed);
  if (error == -EOVERFLOW)
    snprintf(why, SEND_WHY_BYTES, "they are more than a bundle takes (LIMIT_SOURCE_*)");
  else if (error != 0)
    snprintf(why, SEND_WHY_BYTES, "%s", strerror(-error));
  if (error != 0) return -EBADMSG;
  counts->missing += packed.missing;
  counts->forbidden += packed.forbidden;
  counts->large += packed.too_large;
  if (packed.count > 0)
    error = send_packed(bundler, send, file, &packed, why);
  else
    snprintf(why, SEND_WHY_BYTES, "none of %u lies in the folders; one is %.256s", paths->count,
             packed.example != NULL ? packed.example : "not told");
  if (packed.count == 0) counts->empty++;
  bundle_packed_fini(&packed);
  return error;
}

int bundler_send(struct bundler *bundler, const struct send *send, const struct found_file *file,
                 int fd, char why[SEND_WHY_BYTES]) {
  struct arena arena;
  struct bundle_paths paths;
  arena_init(&arena, PATHS_BYTES_MAX);
  int error = bundle_paths_read(bundler->reader, fd, &arena, &paths, why, SEND_WHY_BYTES);
  error = error == 0 ? pack_and_send(bundler, send, file, &paths, why) : -EBADMSG;
  arena_fini(&arena);
  return error;
}

const struct bundler_counts *bundler_count(const struct bundler *bundler) {
  return &bundler->counts;
}
