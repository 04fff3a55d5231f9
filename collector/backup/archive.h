/* SPDX-License-Identifier: Apache-2.0 */
/* A tar archive whose last member, SHA256SUMS, verifies the others. */
#ifndef BACKUP_ARCHIVE_H
#define BACKUP_ARCHIVE_H

#include "common/span.h"
#include "tar_header.h"

struct archive;

/* Called after each copied piece of BYTES. Returns 0, or an error that ends the copy. */
typedef int archive_progress(void *context, uint64_t bytes);

/* Starts the archive PATH (mode 0600). Until it is finished it is PATH.part, which one process at a
   time may write. Returns 0 or -errno, with one line in ERROR. */
int archive_create(const char *path, struct archive **ret, char *error, size_t error_len);
void archive_on_progress(struct archive *archive, archive_progress *on_progress, void *context);

/* Returns the path of a temporary file beside the archive; it is deleted with archive_close. */
const char *archive_scratch_path(const struct archive *archive);

/* Adds MEMBER with exactly MEMBER->size bytes of FD from its beginning. Returns 0, -ENAMETOOLONG,
   -ENODATA if FD has fewer bytes, or -errno. */
int archive_add(struct archive *archive, const struct tar_member *member, int fd);
int archive_add_text(struct archive *archive, const char *name, struct span text);

/* Writes the sums, makes everything durable and renames the archive. Returns 0 or -errno. The
   caller still calls archive_close. */
int archive_finish(struct archive *archive);

/* Opens the archive PATH for reading. Returns 0 or -errno. */
int archive_open(const char *path, struct archive **ret);

/* Steps to the next member. Returns 1 with it in RET; 0 at the end if all sums are right; -EBADMSG
   if the archive is damaged, truncated, or lacks its sums; or -errno. */
int archive_next(struct archive *archive, struct tar_member *ret);

/* Copies the content of the current member to FD, or to TEXT of exactly its size. */
int archive_extract(struct archive *archive, int fd);
int archive_extract_text(struct archive *archive, char *text);

/* Ends reading or writing. An unfinished archive is deleted. */
void archive_close(struct archive *archive);

#endif
