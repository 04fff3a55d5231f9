/* SPDX-License-Identifier: Apache-2.0 */
/* One header of a tar archive (POSIX ustar, sizes over 8 GiB as GNU tar writes them); pure. */
#ifndef BACKUP_TAR_HEADER_H
#define BACKUP_TAR_HEADER_H

#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK_BYTES = 512, TAR_NAME_BYTES = 257 };

/* A regular file: nothing else is in our archives. */
struct tar_member {
  char name[TAR_NAME_BYTES];
  uint64_t size, mtime_s;
  uint32_t mode; /* permission bits */
};

/* Bytes that SIZE takes in an archive, padding included. */
uint64_t tar_padded(uint64_t size);

/* Writes the header of MEMBER.  Returns 0, or -ENAMETOOLONG when its name fits no header. */
int tar_header_encode(const struct tar_member *member, uint8_t block[TAR_BLOCK_BYTES]);

/* Reads a header.  Returns 0; 1 for a block of zeros, which ends an archive; -EBADMSG when it is no
   header, or of anything but a regular file with a relative name that leaves no folder. */
int tar_header_decode(const uint8_t block[TAR_BLOCK_BYTES], struct tar_member *ret);

#endif
