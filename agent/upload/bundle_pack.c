/* SPDX-License-Identifier: Apache-2.0 */
/* Contents are appended to an unnamed file one by one, so that only one is in memory.  The bundle's
   head is known when all are written.  Equal sources give equal bytes: the collector recognizes a
   bundle by its hash. */
#include "bundle_pack.h"

#include "proto/compress.h"
#include "proto/limits.h"
#include "proto/source_bundle.h"
#include "symbol/source_path.h"
#include "temp_file.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL = 9, STEP_BYTES = 256 << 10 };

/* A source and its two names. */
struct candidate {
  const char *there; /* in debug information */
  const char *path;  /* in the bundle */
};

struct packing {
  const struct bundle_roots *roots;
  struct source_item *items;
  struct buf raw, frame; /* of the current source */
  uint64_t content_bytes;
  struct bundle_packed packed;
};

static int compare_candidates(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  return strcmp(x->path, y->path);
}

/* Reads BYTES from FD; fewer if the file has shrunk meanwhile. */
static int read_all(int fd, uint64_t bytes, struct buf *ret) {
  buf_clear(ret);
  while (ret->len < bytes) {
    uint8_t *to = buf_reserve(ret, (size_t)bytes - ret->len);
    if (to == NULL) return -ENOMEM;
    ssize_t got = read(fd, to, (size_t)bytes - ret->len);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) break;
    ret->len += (size_t)got;
  }
  return 0;
}

static int add_content(struct packing *packing, const char *path) {
  struct bundle_packed *packed = &packing->packed;
  buf_clear(&packing->frame);
  int error = compress(buf_span(&packing->raw), LEVEL, &packing->frame);
  if (error == 0)
    error = temp_file_write(packed->fd, buf_span(&packing->frame), packing->content_bytes);
  if (error != 0) return error;
  packing->content_bytes += packing->frame.len;
  packing->items[packed->count++] =
      (struct source_item){path, (uint32_t)packing->frame.len, (uint32_t)packing->raw.len};
  bool is_over =
      packed->count > LIMIT_SOURCE_FILES || packing->content_bytes > LIMIT_SOURCE_BUNDLE_BYTES;
  return is_over ? -EOVERFLOW : 0;
}

static int add_source(struct packing *packing, const struct candidate *candidate) {
  struct bundle_packed *packed = &packing->packed;
  uint64_t bytes = 0;
  int fd = bundle_roots_find(packing->roots, candidate->there, &bytes);
  if (fd < 0) {
    ++*(fd == -EPERM ? &packed->forbidden : &packed->missing);
    if (packed->example == NULL) packed->example = candidate->there;
    return 0;
  }
  int error = 0;
  if (bytes > LIMIT_SOURCE_BYTES) {
    packed->too_large++;
  } else {
    error = read_all(fd, bytes, &packing->raw);
    if (error == 0) error = add_content(packing, candidate->path);
  }
  close(fd);
  return error;
}

static int hash_file(int fd, uint64_t bytes, EVP_MD_CTX *context) {
  uint8_t *step = malloc(STEP_BYTES);
  int error = step != NULL ? 0 : -ENOMEM;
  for (uint64_t at = 0; error == 0 && at < bytes;) {
    ssize_t got = pread(fd, step, STEP_BYTES, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      error = got < 0 ? -errno : -EIO;
    else if (EVP_DigestUpdate(context, step, (size_t)got) != 1)
      error = -ENOMEM;
    at += got > 0 ? (uint64_t)got : 0;
  }
  free(step);
  return error;
}

static int hash(struct bundle_packed *packed, uint64_t content_bytes) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool is_ready = context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
                  EVP_DigestUpdate(context, packed->head.data, packed->head.len) == 1;
  int error = is_ready ? hash_file(packed->fd, content_bytes, context) : -ENOMEM;
  if (error == 0 && EVP_DigestFinal_ex(context, packed->sha256, NULL) != 1) error = -ENOMEM;
  EVP_MD_CTX_free(context);
  return error;
}

/* Returns PATHS with their names in the bundle, sorted by these. */
static struct candidate *make_candidates(const struct bundle_paths *paths) {
  struct candidate *candidates = arena_array(paths->arena, paths->count + 1u, sizeof *candidates);
  struct buf path = {0};
  bool is_made = candidates != NULL;
  for (uint32_t i = 0; is_made && i < paths->count; i++) {
    source_path_join("/", paths->paths[i], &path);
    const char *copy = arena_string(paths->arena, (const char *)path.data, path.len);
    candidates[i] = (struct candidate){paths->paths[i], copy};
    is_made = !path.failed && copy != NULL;
  }
  buf_fini(&path);
  if (!is_made) return NULL;
  qsort(candidates, paths->count, sizeof *candidates, compare_candidates);
  return candidates;
}

static int pack_all(struct packing *packing, const struct candidate *candidates, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const struct candidate *candidate = &candidates[i];
    if (candidate->path[1] == '\0') continue;
    if (i > 0 && strcmp(candidate->path, candidates[i - 1].path) == 0) continue;
    int error = add_source(packing, candidate);
    if (error != 0) return error;
  }
  struct bundle_packed *packed = &packing->packed;
  int error = source_bundle_head(packing->items, packed->count, &packed->head);
  packed->bytes = packed->head.len + packing->content_bytes;
  return error == 0 ? hash(packed, packing->content_bytes) : error;
}

int bundle_pack(const struct bundle_roots *roots, const struct bundle_paths *paths,
                struct bundle_packed *ret) {
  const struct candidate *candidates = make_candidates(paths);
  struct packing packing = {.roots = roots, .packed = {.fd = temp_file_open()}};
  packing.items = arena_array(paths->arena, paths->count + 1u, sizeof *packing.items);
  int error = candidates == NULL || packing.items == NULL ? -ENOMEM : 0;
  if (error == 0 && packing.packed.fd < 0) error = packing.packed.fd;
  if (error == 0) error = pack_all(&packing, candidates, paths->count);
  buf_fini(&packing.raw);
  buf_fini(&packing.frame);
  if (error == 0)
    *ret = packing.packed;
  else
    bundle_packed_fini(&packing.packed);
  return error;
}

void bundle_packed_fini(struct bundle_packed *packed) {
  if (packed->fd >= 0) close(packed->fd);
  buf_fini(&packed->head);
  *packed = (struct bundle_packed){.fd = -1};
}
