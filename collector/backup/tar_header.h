/* SPDX-License-Identifier: Apache-2.0 */
/* One header of a tar archive (POSIX ustar, sizes over 8 GiB as GNU tar writes them); pure. */
#ifndef BACKUP_TAR_HEADER_H
#define BACKUP_TAR_HEADER_H

#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK_BYTES = 512, TAR_NAME_BYTES = 257 };

/* A regular file: archives have no other members. */
struct tar_member {
  char name[TAR_NAME_BYTES];
  uint64_t size, mtime_s;
  uint32_t mode; /* permission bits */
};

/* Returns the bytes that SIZE takes in an archive, including padding. */
uint64_t tar_padded(uint64_t size);

/* Writes the header of MEMBER. Returns 0, or -ENAMETOOLONG if its name does not fit. */
int tar_header_encode(const struct tar_member *member, uint8_t block[TAR_BLOCK_BYTES]);

/* Reads a header. Returns 0; 1 for a block of zeros, which ends an archive. Returns -EBADMSG if it
   is not a header, not of a regular file, or its name is not a plain relative one. */
int tar_header_decode(const uint8_t block[TAR_BLOCK_BYTES], struct tar_member *ret);

#endif
