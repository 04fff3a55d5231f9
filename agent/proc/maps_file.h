/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of its own maps that a program sends. */
#ifndef PROC_MAPS_FILE_H
#define PROC_MAPS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True when FD is the maps file of process PID, open for reading.  Where it is that of another
   mount of procfs, FD is replaced by ours of the same name, if we may read it. */
bool maps_file_take(int fd, pid_t pid);

/* True when process PID has a file mapped whose inode is INODE and whose path ends in /NAME.  (The
   device in maps is not always that of stat.) */
bool maps_file_shows(pid_t pid, uint64_t inode, const char *name);

/* Bytes of our own mapping that begins at START; 0: there is none. */
uint64_t maps_file_own_bytes(uint64_t start);

#endif
