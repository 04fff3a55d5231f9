/* SPDX-License-Identifier: Apache-2.0 */
/* The format is tar, so an operator with only the file and a shell can list it, extract one file,
   and verify all (`tar -xf FILE && sha256sum -c SHA256SUMS`).

   Members are hashed as they are written, and the lines of all of them, in order, are the last
   member. A reader hashes as it reads and makes the same lines: they must be equal. So one
   comparison detects a flipped bit and an extra, missing or moved member. A truncated archive has
   no sums at all.

   The file is written under a temporary name, locked, flushed, and renamed: a file with the final
   name is complete. Memory use is one buffer and the lines, about a hundred bytes a file. */
#include "archive.h"

#include "common/buf.h"
#include "common/hex_text.h"
#include "common/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  STEP_BYTES = 256 << 10,
  SHA256_BYTES = 32,
  SUMS_BYTES_MAX = 64 << 20, /* some 500 000 files */
  END_BLOCKS = 2,
  ARCHIVE_MODE = 0600,
};

static const char sums_name[] = "SHA256SUMS";

struct archive {
  int fd;
  bool is_writing, is_finished, is_at_end;
  char path[PATH_MAX], part[PATH_MAX], scratch[PATH_MAX];
  struct tar_member member; /* the current one */
  bool is_extracted;
  struct buf sums;
  uint8_t *step;
  EVP_MD_CTX *hash;
  archive_progress *on_progress;
  void *context;
};

void archive_close(struct archive *archive) {
  if (archive == NULL) return;
  if (archive->fd >= 0) {
    if (archive->is_writing && !archive->is_finished) unlink(archive->part);
    if (archive->is_writing) unlink(archive->scratch);
    close(archive->fd);
  }
  EVP_MD_CTX_free(archive->hash);
  buf_fini(&archive->sums);
  free(archive->step);
  free(archive);
}

static struct archive *new_archive(void) {
  struct archive *archive = calloc(1, sizeof *archive);
  if (archive == NULL) return NULL;
  archive->fd = -1;
  archive->step = malloc(STEP_BYTES);
  archive->hash = EVP_MD_CTX_new();
  if (archive->step != NULL && archive->hash != NULL) return archive;
  archive_close(archive);
  return NULL;
}

void archive_on_progress(struct archive *archive, archive_progress *on_progress, void *context) {
  archive->on_progress = on_progress;
  archive->context = context;
}

const char *archive_scratch_path(const struct archive *archive) {
  return archive->scratch;
}

/* ---- hashing ---- */

static int hash_begin(struct archive *archive) {
  return EVP_DigestInit_ex(archive->hash, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
}

/* Appends the line of the member NAME after its bytes were hashed. */
static int hash_end(struct archive *archive, const char *name) {
  uint8_t digest[EVP_MAX_MD_SIZE];
  if (EVP_DigestFinal_ex(archive->hash, digest, NULL) != 1) return -ENOMEM;
  hex_text_append(span_of(digest, SHA256_BYTES), &archive->sums);
  buf_printf(&archive->sums, "  %s\n", name);
  if (archive->sums.failed) return -ENOMEM;
  return archive->sums.len <= SUMS_BYTES_MAX ? 0 : -EOVERFLOW;
}

static int note_step(struct archive *archive, size_t len) {
  if (EVP_DigestUpdate(archive->hash, archive->step, len) != 1) return -ENOMEM;
  return archive->on_progress != NULL ? archive->on_progress(archive->context, len) : 0;
}

/* ---- files ---- */

/* Reads exactly LEN bytes. Returns 0, -ENODATA if there are fewer, or -errno. */
static int read_all(int fd, void *bytes, size_t len) {
  for (uint8_t *next = bytes; len > 0;) {
    ssize_t got = read(fd, next, len);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) return -ENODATA;
    next += got;
    len -= (size_t)got;
  }
  return 0;
}

static int write_padding(struct archive *archive, uint64_t size) {
  static const uint8_t zeros[TAR_BLOCK_BYTES];
  return write_all(archive->fd, span_of(zeros, (size_t)(tar_padded(size) - size)));
}

/* ---- writing ---- */

static int set_paths(struct archive *archive, const char *path) {
  size_t room = PATH_MAX;
  return (size_t)snprintf(archive->path, room, "%s", path) < room &&
                 (size_t)snprintf(archive->part, room, "%s.part", path) < room &&
                 (size_t)snprintf(archive->scratch, room, "%s.part.db", path) < room
             ? 0
             : -ENAMETOOLONG;
}

/* Opens and empties the future archive. A killed process's part is reused. */
static int open_part(struct archive *archive) {
  int fd = open(archive->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, ARCHIVE_MODE);
  if (fd < 0) return -errno;
  int error = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
  if (error == 0 && (fchmod(fd, ARCHIVE_MODE) != 0 || ftruncate(fd, 0) != 0)) error = -errno;
  if (error != 0) {
    close(fd);
    return error;
  }
  archive->fd = fd;
  archive->is_writing = true;
  return 0;
}

int archive_create(const char *path, struct archive **ret, char *error, size_t error_len) {
  struct archive *archive = new_archive();
  int result = archive == NULL ? -ENOMEM : set_paths(archive, path);
  if (result == 0) result = open_part(archive);
  if (result != 0) {
    snprintf(error, error_len, "%s.part: %s", path,
             result == -EWOULDBLOCK ? "another backup is writing it" : strerror(-result));
    archive_close(archive);
    return result;
  }
  *ret = archive;
  return 0;
}

static int write_header(struct archive *archive, const struct tar_member *member) {
  uint8_t block[TAR_BLOCK_BYTES];
  int error = tar_header_encode(member, block);
  return error != 0 ? error : write_all(archive->fd, span_of(block, sizeof block));
}

int archive_add(struct archive *archive, const struct tar_member *member, int fd) {
  if (lseek(fd, 0, SEEK_SET) < 0) return -errno;
  int error = write_header(archive, member);
  if (error == 0) error = hash_begin(archive);
  for (uint64_t left = member->size; left > 0 && error == 0;) {
    size_t len = left < STEP_BYTES ? (size_t)left : STEP_BYTES;
    error = read_all(fd, archive->step, len);
    if (error == 0) error = write_all(archive->fd, span_of(archive->step, len));
    if (error == 0) error = note_step(archive, len);
    left -= len;
  }
  if (error == 0) error = write_padding(archive, member->size);
  return error != 0 ? error : hash_end(archive, member->name);
}

static int write_text(struct archive *archive, const char *name, struct span text) {
  struct tar_member member = {.size = text.len, .mode = ARCHIVE_MODE};
  snprintf(member.name, sizeof member.name, "%s", name);
  int error = write_header(archive, &member);
  if (error == 0) error = write_all(archive->fd, text);
  return error != 0 ? error : write_padding(archive, text.len);
}

int archive_add_text(struct archive *archive, const char *name, struct span text) {
  int error = write_text(archive, name, text);
  if (error == 0) error = hash_begin(archive);
  if (error == 0 && EVP_DigestUpdate(archive->hash, text.data, text.len) != 1) error = -ENOMEM;
  return error != 0 ? error : hash_end(archive, name);
}

/* Makes the rename itself durable. */
static int sync_folder_of(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  int len = slash == NULL ? 0 : slash == path ? 1 : (int)(slash - path);
  snprintf(folder, sizeof folder, "%.*s", len > 0 ? len : 1, len > 0 ? path : ".");
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int error = fsync(fd) == 0 ? 0 : -errno;
  close(fd);
  return error;
}

int archive_finish(struct archive *archive) {
  static const uint8_t zeros[END_BLOCKS * TAR_BLOCK_BYTES];
  int error = write_text(archive, sums_name, buf_span(&archive->sums));
  if (error == 0) error = write_all(archive->fd, span_of(zeros, sizeof zeros));
  if (error == 0 && fsync(archive->fd) != 0) error = -errno;
  if (error == 0 && rename(archive->part, archive->path) != 0) error = -errno;
  if (error != 0) return error;
  archive->is_finished = true;
  return sync_folder_of(archive->path);
}

/* ---- reading ---- */

int archive_open(const char *path, struct archive **ret) {
  struct archive *archive = new_archive();
  if (archive == NULL) return -ENOMEM;
  archive->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (archive->fd < 0) {
    int error = -errno;
    archive_close(archive);
    return error;
  }
  archive->is_extracted = true;
  *ret = archive;
  return 0;
}

/* A truncated archive counts as damaged. */
static int read_part(struct archive *archive, void *bytes, size_t len) {
  int error = read_all(archive->fd, bytes, len);
  return error == -ENODATA ? -EBADMSG : error;
}

static int skip_padding(struct archive *archive, uint64_t size) {
  uint8_t padding[TAR_BLOCK_BYTES];
  size_t len = (size_t)(tar_padded(size) - size);
  int error = read_part(archive, padding, len);
  for (size_t i = 0; error == 0 && i < len; i++)
    if (padding[i] != 0) error = -EBADMSG;
  return error;
}

int archive_extract(struct archive *archive, int fd) {
  if (archive->is_extracted) return -EPROTO;
  int error = hash_begin(archive);
  for (uint64_t left = archive->member.size; left > 0 && error == 0;) {
    size_t len = left < STEP_BYTES ? (size_t)left : STEP_BYTES;
    error = read_part(archive, archive->step, len);
    if (error == 0 && fd >= 0) error = write_all(fd, span_of(archive->step, len));
    if (error == 0) error = note_step(archive, len);
    left -= len;
  }
  if (error == 0) error = skip_padding(archive, archive->member.size);
  if (error == 0) error = hash_end(archive, archive->member.name);
  archive->is_extracted = error == 0;
  return error;
}

int archive_extract_text(struct archive *archive, char *text) {
  if (archive->is_extracted) return -EPROTO;
  size_t size = (size_t)archive->member.size;
  int error = read_part(archive, text, size);
  if (error == 0) error = skip_padding(archive, size);
  if (error == 0) error = hash_begin(archive);
  if (error == 0 && EVP_DigestUpdate(archive->hash, text, size) != 1) error = -ENOMEM;
  if (error == 0) error = hash_end(archive, archive->member.name);
  archive->is_extracted = error == 0;
  return error;
}

/* Compares the last member with the computed lines; only the end mark may follow. */
static int check_sums(struct archive *archive, uint64_t size) {
  uint8_t block[TAR_BLOCK_BYTES];
  struct tar_member member;
  if (size != archive->sums.len) return -EBADMSG;
  for (size_t at = 0; at < archive->sums.len;) {
    size_t len = archive->sums.len - at < STEP_BYTES ? archive->sums.len - at : STEP_BYTES;
    int error = read_part(archive, archive->step, len);
    if (error != 0) return error;
    if (memcmp(archive->step, archive->sums.data + at, len) != 0) return -EBADMSG;
    at += len;
  }
  int error = skip_padding(archive, size);
  if (error == 0) error = read_part(archive, block, sizeof block);
  if (error != 0) return error;
  archive->is_at_end = tar_header_decode(block, &member) == 1;
  return archive->is_at_end ? 0 : -EBADMSG;
}

int archive_next(struct archive *archive, struct tar_member *ret) {
  uint8_t block[TAR_BLOCK_BYTES];
  if (archive->is_at_end) return 0;
  int error = archive->is_extracted ? 0 : archive_extract(archive, -1);
  if (error == 0) error = read_part(archive, block, sizeof block);
  if (error == 0) error = tar_header_decode(block, &archive->member);
  if (error != 0) return error == 1 ? -EBADMSG : error; /* an end without sums */
  if (strcmp(archive->member.name, sums_name) == 0)
    return check_sums(archive, archive->member.size);
  archive->is_extracted = false;
  *ret = archive->member;
  return 1;
}
