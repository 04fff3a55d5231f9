/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the maps descriptor that a program sends. */
#ifndef PROC_MAPS_FILE_H
#define PROC_MAPS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True if FD is the maps file of process PID, open for reading.  If FD belongs to another mount of
   procfs, it is replaced by the same file of our mount, if that is permitted. */
bool maps_file_take(int fd, pid_t pid);

/* True if process PID has mapped a file with inode INODE and a path that ends in /NAME.  (The
   device in maps may differ from that of stat.) */
bool maps_file_shows(pid_t pid, uint64_t inode, const char *name);

/* The length of our own mapping that begins at START; 0 if there is none. */
uint64_t maps_file_own_bytes(uint64_t start);

#endif
