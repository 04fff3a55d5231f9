/* SPDX-License-Identifier: Apache-2.0 */
/* A tar archive whose last member, SHA256SUMS, tells whether the others are what was put in. */
#ifndef BACKUP_ARCHIVE_H
#define BACKUP_ARCHIVE_H

#include "common/span.h"
#include "tar_header.h"

struct archive;

/* Told after each piece that was copied: BYTES more are done.  Returns 0, or what to fail with. */
typedef int archive_progress(void *context, uint64_t bytes);

/* Begins an archive that will be at PATH (mode 0600); until it is finished it is PATH.part, which
   one process at a time may write.  Returns 0 or -errno, with one line in ERROR. */
int archive_create(const char *path, struct archive **ret, char *error, size_t error_len);
void archive_on_progress(struct archive *archive, archive_progress *on_progress, void *context);

/* Path of a file beside the archive for what must be copied in between; goes with the archive. */
const char *archive_scratch_path(const struct archive *archive);

/* Adds MEMBER with the bytes of FD from its beginning, exactly as many as it says.  Returns 0,
   -ENAMETOOLONG, -ENODATA when FD has fewer, or -errno. */
int archive_add(struct archive *archive, const struct tar_member *member, int fd);
int archive_add_text(struct archive *archive, const char *name, struct span text);

/* Writes the sums, makes all durable and gives the archive its name.  Returns 0 or -errno; frees
   neither way. */
int archive_finish(struct archive *archive);

/* Opens the archive PATH for reading.  Returns 0 or -errno. */
int archive_open(const char *path, struct archive **ret);

/* Steps to the next member.  Returns 1 with it in RET; 0 at the end, all sums being right; -EBADMSG
   when the archive is damaged, cut, or lacks its sums; or -errno. */
int archive_next(struct archive *archive, struct tar_member *ret);

/* Copies the content of the member just met into FD, or into TEXT of exactly its size. */
int archive_extract(struct archive *archive, int fd);
int archive_extract_text(struct archive *archive, char *text);

/* Ends reading, or writing: what was not finished is deleted. */
void archive_close(struct archive *archive);

#endif
