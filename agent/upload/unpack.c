/* SPDX-License-Identifier: Apache-2.0 */
/* An archive is read once from start to end, and a nested archive as a stream.  So only one ELF
   file at a time is unpacked to disk, into an unnamed file.

   Archives are untrusted: the number of files, their lengths, their unpacked size and the nesting
   depth are limited.  Links and devices are never followed or created.  Only formats of firmware
   are tried, and no external program. */
#include "unpack.h"

#include "common/path.h"
#include "file_name.h"
#include "proto/limits.h"
#include "symbol/map_text.h"
#include "temp_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10, HEAD_BYTES = 4096 };

struct unpack {
  const struct source_visitor *visitor;
  const char *path;
  uint32_t members, ordinal;
  uint64_t unpacked_bytes;
  int fd; /* the unnamed file; -1: none yet */
};

/* An archive being read, with the first bytes of its current member. */
struct reading {
  struct unpack *unpack;
  struct archive *archive;
  const char *name;
  int depth;
  uint8_t head[HEAD_BYTES], piece[PIECE_BYTES];
  size_t head_len;
  bool is_head_given;
};

static void complain(struct unpack *unpack, const char *name, const char *why) {
  unpack->visitor->on_trouble(unpack->visitor->context, name, why);
}

static const char *why_of(struct archive *archive) {
  const char *why = archive_error_string(archive);
  return why != NULL ? why : "cannot be unpacked";
}

/* Unpacks up to ROOM more bytes of the current member.  Returns their number, 0 at its end,
   -EOVERFLOW at the limit, or -EBADMSG. */
static long take(struct reading *reading, void *to, size_t room) {
  la_ssize_t got = archive_read_data(reading->archive, to, room);
  if (got < 0) return -EBADMSG;
  reading->unpack->unpacked_bytes += (uint64_t)got;
  return reading->unpack->unpacked_bytes > SOURCE_UNPACKED_BYTES_MAX ? -EOVERFLOW : (long)got;
}

/* Reads the member's first bytes.  Returns 0 or -errno. */
static int take_head(struct reading *reading) {
  reading->head_len = 0;
  reading->is_head_given = false;
  while (reading->head_len < sizeof reading->head) {
    long got =
        take(reading, reading->head + reading->head_len, sizeof reading->head - reading->head_len);
    if (got < 0) return (int)got;
    if (got == 0) return 0;
    reading->head_len += (size_t)got;
  }
  return 0;
}

static int pass_over(struct reading *reading) {
  long got;
  while ((got = take(reading, reading->piece, sizeof reading->piece)) > 0) continue;
  return (int)got;
}

/* ---- one member, on disk ---- */

static int open_nameless(struct unpack *unpack) {
  if (unpack->fd >= 0) return ftruncate(unpack->fd, 0) == 0 ? 0 : -errno;
  int fd = temp_file_open();
  if (fd < 0) return fd;
  unpack->fd = fd;
  return 0;
}

/* Writes the current member to disk.  Returns 0, 1 if it is too large, or -errno. */
static int write_member(struct reading *reading, uint64_t *ret_bytes) {
  struct unpack *unpack = reading->unpack;
  int error = open_nameless(unpack);
  if (error == 0) error = temp_file_write(unpack->fd, span_of(reading->head, reading->head_len), 0);
  uint64_t bytes = reading->head_len;
  while (error == 0) {
    long got = take(reading, reading->piece, sizeof reading->piece);
    if (got <= 0) {
      *ret_bytes = bytes;
      return (int)got;
    }
    if (bytes + (uint64_t)got > LIMIT_DEBUG_FILE_BYTES) return 1;
    error = temp_file_write(unpack->fd, span_of(reading->piece, (size_t)got), bytes);
    bytes += (uint64_t)got;
  }
  return error;
}

static int offer_member(struct reading *reading, const char *name, bool is_list) {
  struct unpack *unpack = reading->unpack;
  struct source_file file = {.source = unpack->path, .name = name, .is_list = is_list};
  file.ordinal = unpack->ordinal++;
  int error = write_member(reading, &file.bytes);
  if (error == 1) {
    complain(unpack, name, "larger than 1 GiB (LIMIT_DEBUG_FILE_BYTES)");
    return pass_over(reading);
  }
  file.fd = unpack->fd;
  return error != 0 ? error : unpack->visitor->on_file(unpack->visitor->context, &file);
}

/* ---- archives ---- */

static int read_members(struct reading *reading, bool is_packed);

/* libarchive's read callback for an archive that is the current member of another. */
static la_ssize_t on_nested_read(struct archive *archive, void *context, const void **ret) {
  struct reading *outer = context;
  bool is_first = !outer->is_head_given;
  outer->is_head_given = true;
  *ret = is_first ? outer->head : outer->piece;
  if (is_first) return (la_ssize_t)outer->head_len;
  long got = take(outer, outer->piece, sizeof outer->piece);
  if (got < 0) archive_set_error(archive, EIO, "the archive around it cannot be unpacked further");
  return got < 0 ? ARCHIVE_FATAL : (la_ssize_t)got;
}

static struct archive *new_archive(enum file_form form) {
  struct archive *archive = archive_read_new();
  if (archive == NULL) return NULL;
  archive_read_support_filter_gzip(archive);
  archive_read_support_filter_xz(archive);
  archive_read_support_filter_lzma(archive);
  archive_read_support_filter_zstd(archive);
  archive_read_support_filter_bzip2(archive);
  if (form == FORM_PACKED) {
    archive_read_support_format_raw(archive);
    return archive;
  }
  archive_read_support_filter_rpm(archive);
  archive_read_support_format_tar(archive);
  archive_read_support_format_cpio(archive);
  archive_read_support_format_ar(archive);
  return archive;
}

/* Reads the archive NAME: the file FD, or the current member of OUTER. */
static int read_archive(struct unpack *unpack, const char *name, int fd, struct reading *outer) {
  enum file_form form = file_name_form(name);
  struct reading *reading = calloc(1, sizeof *reading);
  if (reading != NULL) reading->archive = new_archive(form);
  int error = -ENOMEM;
  if (reading != NULL && reading->archive != NULL) {
    reading->unpack = unpack;
    reading->name = name;
    reading->depth = outer != NULL ? outer->depth + 1 : 1;
    int opened = outer != NULL
                     ? archive_read_open(reading->archive, outer, NULL, on_nested_read, NULL)
                     : archive_read_open_fd(reading->archive, fd, PIECE_BYTES);
    error = opened == ARCHIVE_OK ? read_members(reading, form == FORM_PACKED) : -EBADMSG;
    if (error == -EBADMSG) complain(unpack, name, why_of(reading->archive));
    if (error == -EBADMSG) error = 0; /* files before and after it are still valid */
    if (error == -EOVERFLOW && outer == NULL) {
      complain(unpack, name, "unpacks to more than is read of one archive (SOURCE_*_MAX)");
      error = 0;
    }
  }
  if (reading != NULL) archive_read_free(reading->archive);
  free(reading);
  return error;
}

/* Determines the kind of the member NAME by its first bytes. */
static int read_member(struct reading *reading, const char *name) {
  struct unpack *unpack = reading->unpack;
  int error = take_head(reading);
  if (error != 0) return error;
  struct span head = span_of(reading->head, reading->head_len);
  if (head.len >= SELFMAG && memcmp(head.data, ELFMAG, SELFMAG) == 0)
    return offer_member(reading, name, false);
  if (file_name_is_list(name) && map_text_is(head)) return offer_member(reading, name, true);
  if (file_name_form(name) == FORM_PLAIN || head.len == 0) return pass_over(reading);
  if (reading->depth == SOURCE_DEPTH_MAX) {
    complain(unpack, name, "archives are nested too deep (SOURCE_DEPTH_MAX)");
    return pass_over(reading);
  }
  error = read_archive(unpack, name, -1, reading);
  return error != 0 ? error : pass_over(reading);
}

/* A packed file is named as the file in it, plus a suffix. */
static void name_member(const struct reading *reading, struct archive_entry *entry, bool is_packed,
                        char name[SOURCE_NAME_BYTES]) {
  const char *member = archive_entry_pathname(entry);
  if (is_packed)
    snprintf(name, SOURCE_NAME_BYTES, "%.*s", (int)strcspn(reading->name, "\n"), reading->name);
  else
    snprintf(name, SOURCE_NAME_BYTES, "%s!%s", reading->name, member != NULL ? member : "?");
  char *dot = is_packed ? strrchr(name, '.') : NULL;
  if (dot != NULL) *dot = '\0';
}

/* Of hard-linked files tar stores the bytes with the first, cpio with the last.  ar may omit the
   file type. */
static bool has_bytes(struct archive_entry *entry) {
  mode_t type = archive_entry_filetype(entry);
  return (type == AE_IFREG || type == 0) &&
         (!archive_entry_size_is_set(entry) || archive_entry_size(entry) > 0);
}

static int read_members(struct reading *reading, bool is_packed) {
  struct unpack *unpack = reading->unpack;
  char *name = malloc(SOURCE_NAME_BYTES);
  if (name == NULL) return -ENOMEM;
  int error = 0;
  while (error == 0) {
    struct archive_entry *entry;
    int code = archive_read_next_header(reading->archive, &entry);
    if (code == ARCHIVE_EOF) break;
    if (code == ARCHIVE_RETRY) continue;
    if (code < ARCHIVE_WARN) error = -EBADMSG;
    if (error == 0 && ++unpack->members > SOURCE_MEMBERS_MAX) error = -EOVERFLOW;
    if (error != 0) break;
    bool is_file = is_packed || has_bytes(entry);
    name_member(reading, entry, is_packed, name);
    error = is_file ? read_member(reading, name) : 0;
  }
  free(name);
  return error;
}

int unpack_read(const char *path, int fd, const struct source_visitor *visitor) {
  struct unpack unpack = {.visitor = visitor, .path = path, .fd = -1};
  int error = read_archive(&unpack, path, fd, NULL);
  if (unpack.fd >= 0) close(unpack.fd);
  return error;
}
