/* SPDX-License-Identifier: Apache-2.0 */
/* Reading continues as long as there is a complete entry.  Damage by a crash, a full disk or a bad
   block is measured and reported, and loses nothing else.

   The first bytes show whether a file is a profile; common mistakes are named.  Only the caller can
   decide whether an empty file is a mistake: a run that was killed at once leaves one. */
#include "profile_reader.h"
#include "ring_file.h"

#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"
#include "proto/spool_segment.h"
#include "ring/ring_format.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH_ARENA_BYTES ((size_t)LIMIT_BATCH_UNPACK_BYTES * 2)

/* ---- the file's type ---- */

static const struct {
  const char *magic;
  const char *what;
} foreigners[] = {
    {"\x1f\x8b", "is gzip, maybe a pprof profile: go tool pprof reads those"},
    {"PERFILE2", "is a perf.data file: perf report reads those"},
    {"\x7f"
     "ELF",
     "is a program: give the file that run --output wrote"},
    {"gmon", "is a gmon.out file: gprof reads those"},
    {"# callgrind", "is a callgrind file: callgrind_annotate reads those"},
    {"{", "is JSON: a report reads what run --output wrote"},
};

static int refuse(const uint8_t *head, size_t len, char *why) {
  for (size_t i = 0; i < sizeof foreigners / sizeof *foreigners; i++) {
    size_t magic_len = strlen(foreigners[i].magic);
    if (len < magic_len || memcmp(head, foreigners[i].magic, magic_len) != 0) continue;
    snprintf(why, PROFILE_READER_WHY_BYTES, "%s", foreigners[i].what);
    return -EBADMSG;
  }
  snprintf(why, PROFILE_READER_WHY_BYTES,
           "is not a profile: give the file that run --output wrote");
  return -EBADMSG;
}

static int check_head(int fd, uint64_t size, char *why) {
  uint8_t head[16] = {0};
  uint32_t magic;
  uint16_t version;
  ssize_t got = pread(fd, head, sizeof head, 0);
  if (size == 0) return 0;
  if (got < 0) {
    int error = -errno;
    snprintf(why, PROFILE_READER_WHY_BYTES, "cannot be read: %s", strerror(-error));
    return error;
  }
  memcpy(&magic, head, sizeof magic);
  memcpy(&version, head + sizeof magic, sizeof version);
  if (got < 8 && memcmp(head, "FPS1", got < 4 ? (size_t)got : 4) == 0) return 0; /* torn at once */
  if (le32toh(magic) != SPOOL_MAGIC) return refuse(head, (size_t)got, why);
  if (le16toh(version) <= SPOOL_VERSION) return 0;
  snprintf(why, PROFILE_READER_WHY_BYTES,
           "was written by a newer version (format %u; this one, " FLEETPROF_VERSION
           ", reads up to %d)",
           (unsigned)le16toh(version), SPOOL_VERSION);
  return -EPROTO;
}

static bool is_ring(int fd) {
  uint32_t magic;
  return pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic == RING_MAGIC;
}

/* ---- entries ---- */

struct reading {
  int fd;
  struct profile *profile;
  struct profile_damage *damage;
  struct buf packed, raw;
  struct arena arena;
  uint64_t later_version; /* of the protocol, if it is unknown here */
};

/* Reads and decompresses ENTRY into READING's raw.  Returns 0, -EBADMSG, or an error that ends the
   reading. */
static int read_payload(struct reading *reading, const struct spool_entry *entry) {
  int error = spool_segment_read(reading->fd, entry, &reading->packed);
  if (error != 0) return error;
  buf_clear(&reading->raw);
  return decompress(buf_span(&reading->packed), entry->raw_len, LIMIT_BATCH_RAW_BYTES,
                    &reading->raw);
}

/* Returns 0; -EBADMSG to leave out this batch; or an error that ends the reading. */
static int read_batch(struct reading *reading, const struct spool_entry *entry) {
  char why[LIMIT_VALUE_BYTES];
  struct batch batch;
  int error = read_payload(reading, entry);
  if (error == 0)
    error = batch_decode(buf_span(&reading->raw), &reading->arena, &batch, why, sizeof why);
  if (error == -EOVERFLOW) error = -EBADMSG; /* over the limits of a batch */
  if (error == 0) error = profile_add(reading->profile, &batch, entry->seq);
  return error;
}

/* Returns 0, or an error that ends the reading. */
static int add_batch(struct reading *reading, const struct spool_entry *entry) {
  arena_init(&reading->arena, BATCH_ARENA_BYTES);
  int error = read_batch(reading, entry);
  arena_fini(&reading->arena);
  if (error == 0)
    reading->damage->good_batches++;
  else if (error == -EEXIST)
    reading->damage->known_batches++;
  else if (error == -EBADMSG)
    reading->damage->bad_batches++;
  else
    return error;
  return 0;
}

/* Returns 0, or an error that ends the reading.  A profile is valid without names: those of a newer
   version are ignored, and bad ones are counted. */
static int add_names(struct reading *reading, const struct spool_entry *entry) {
  int error = read_payload(reading, entry);
  if (error == 0) error = kept_names_add(&reading->profile->kept_names, buf_span(&reading->raw));
  if (error == -EBADMSG || error == -EOVERFLOW) reading->damage->bad_names++;
  return error == -EBADMSG || error == -EOVERFLOW || error == -EPROTO ? 0 : error;
}

/* Whether ENTRY is the head of a file that may use a newer protocol. */
static bool is_of_later(const struct spool_entry *entry) {
  return entry->kind == SPOOL_MARK && entry->run == 0 && entry->zstd_len == 0 &&
         entry->records > LIMIT_PROTOCOL_VERSION;
}

static int read_entries(struct reading *reading, struct spool_reader *reader) {
  struct spool_entry entry;
  int error;
  while ((error = spool_segment_next(reader, &entry)) == 0) {
    if (is_of_later(&entry)) {
      reading->later_version = entry.records;
      return -EPROTO;
    }
    if (entry.kind == SPOOL_BATCH)
      error = add_batch(reading, &entry);
    else if (entry.kind == SPOOL_MARK && entry.zstd_len > 0)
      error = add_names(reading, &entry);
    if (error != 0) return error;
  }
  return error == -ENOENT ? 0 : error;
}

static bool is_unfinished(const struct profile *profile, uint32_t first_run) {
  for (uint32_t i = first_run; i < profile->run_count; i++)
    if (!profile->runs[i].counters.final) return true;
  return false;
}

/* Formats the error that ended the reading. */
static void explain(int error, const struct reading *reading, char *why) {
  if (error == -EOVERFLOW)
    snprintf(why, PROFILE_READER_WHY_BYTES, "holds more different call paths than a report can");
  else if (error == -EPROTO && reading->later_version > 0)
    snprintf(why, PROFILE_READER_WHY_BYTES,
             "was written by a newer version (protocol %llu; this one, " FLEETPROF_VERSION
             ", reads up to %d)",
             (unsigned long long)reading->later_version, LIMIT_PROTOCOL_VERSION);
  else if (error != 0)
    snprintf(why, PROFILE_READER_WHY_BYTES, "cannot be read: %s", strerror(-error));
}

static int read_all(int fd, uint64_t size, struct profile *profile, struct profile_damage *damage,
                    char *why) {
  struct spool_reader reader = {.fd = fd, .end = size};
  struct reading reading = {.fd = fd, .profile = profile, .damage = damage};
  uint32_t first_run = profile->run_count;
  int error = read_entries(&reading, &reader);
  if (error == 0) error = kept_names_sort(&profile->kept_names);
  damage->torn_bytes = reader.torn_bytes;
  damage->damaged_bytes = reader.damaged_bytes;
  damage->is_unfinished = is_unfinished(profile, first_run);
  explain(error, &reading, why);
  buf_fini(&reading.packed);
  buf_fini(&reading.raw);
  return error;
}

int profile_reader_read_fd(int fd, struct profile *profile, struct profile_damage *ret,
                           char why[PROFILE_READER_WHY_BYTES]) {
  struct stat found;
  *ret = (struct profile_damage){0};
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    snprintf(why, PROFILE_READER_WHY_BYTES,
             "is no regular file: give the file that run --output "
             "wrote");
    return -EINVAL;
  }
  ret->is_empty = found.st_size == 0;
  if (is_ring(fd)) return ring_file_read(fd, (uint64_t)found.st_size, profile, why);
  int error = check_head(fd, (uint64_t)found.st_size, why);
  return error != 0 ? error : read_all(fd, (uint64_t)found.st_size, profile, ret, why);
}

int profile_reader_read(const char *path, struct profile *profile, struct profile_damage *ret,
                        char why[PROFILE_READER_WHY_BYTES]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    int error = -errno;
    snprintf(why, PROFILE_READER_WHY_BYTES, "%s", strerror(-error));
    return error;
  }
  int error = profile_reader_read_fd(fd, profile, ret, why);
  close(fd);
  return error;
}
