/* SPDX-License-Identifier: Apache-2.0 */
/* An alternative end of the pipeline: batches go to a file of the user's instead of to a spool and
   a collector.

      head: MARK, run 0 │ BATCH │ BATCH │ BATCH │ torn by kill -9, cut by the next worker
                           │ MARK, run 0, names

   The head has the batches' protocol version, so that an older program can reject the file.  The
   entries are the spool's, so the same reader checks them after a crash.  The file is valid up to
   the last batch, whichever process was killed.  The head identifies a profile even if nothing was
   sampled.

   Nothing is ever removed: the user manages the file's size, and a full disk is counted
   (spool_error).  There is no fsync: appended data survives the death of every process, and for
   power cuts a spool and a collector are the better choice. */
#include "profile_file.h"
#include "spool.h"

#include "common/owned_path.h"
#include "proto/limits.h"
#include "proto/spool_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int profile_file_open(const char *path) {
  struct stat found;
  int fd = owned_path_open(path, O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd < 0) return fd;
  int error = fstat(fd, &found) < 0 ? -errno : 0;
  if (!error && !S_ISREG(found.st_mode)) error = -EINVAL;
  if (!error) return fd;
  close(fd);
  return error;
}

static int write_entry(struct profile_file *file, struct spool_entry *entry, struct span payload) {
  entry->offset = file->end;
  int error = spool_segment_write(file->fd, entry, payload);
  if (!error) file->end += SPOOL_HEADER_BYTES + payload.len;
  /* A partial write that cannot be truncated looks torn at worst, which is harmless. */
  if (error && ftruncate(file->fd, (off_t)file->end) < 0) return error;
  return error;
}

static int write_head(struct profile_file *file) {
  struct spool_entry head = {.records = LIMIT_PROTOCOL_VERSION, .kind = SPOOL_MARK};
  return write_entry(file, &head, span_of(NULL, 0));
}

/* Moves to the end of the last complete entry.  Damage in between stays: readers skip it. */
static int find_end(struct profile_file *file, uint64_t size) {
  struct spool_reader reader = {.fd = file->fd, .end = size};
  struct spool_entry entry;
  bool is_profile = false;
  int error;
  while ((error = spool_segment_next(&reader, &entry)) == 0) {
    is_profile = true;
    file->end = reader.offset;
    if (entry.kind != SPOOL_BATCH) continue;
    file->last_run = entry.run;
    file->last_seq = entry.seq;
  }
  if (error != -ENOENT) return error;
  return is_profile ? 0 : -EBADMSG;
}

int profile_file_resume(int fd, struct profile_file *ret) {
  struct profile_file file = {.fd = fd};
  struct stat found;
  if (fstat(fd, &found) < 0) return -errno;
  int error = found.st_size == 0 ? write_head(&file) : find_end(&file, (uint64_t)found.st_size);
  if (error) return error;
  if ((uint64_t)found.st_size > file.end && ftruncate(fd, (off_t)file.end) < 0) return -errno;
  *ret = file;
  return 0;
}

int profile_file_append(struct profile_file *file, const struct spool_item *item) {
  struct spool_entry entry = {.run = item->run,
                              .seq = item->seq,
                              .records = item->records,
                              .raw_len = item->raw_len,
                              .kind = SPOOL_BATCH};
  int error = write_entry(file, &entry, item->zstd);
  if (error) return error;
  file->last_run = item->run;
  file->last_seq = item->seq;
  return 0;
}

uint64_t profile_file_last_seq(const struct profile_file *file, uint64_t run) {
  return file->last_run == run ? file->last_seq : 0;
}
