/* SPDX-License-Identifier: Apache-2.0 */
/* Space that the collector reserves in its folder, as a file `reserve`. On a full disk the file is
   deleted, so that a start can open its databases, which takes some pages, and delete old data. */
#ifndef COLLECTOR_RESERVE_H
#define COLLECTOR_RESERVE_H

#include <stdbool.h>

/* The need of a start: 32 KiB of WAL index for each of a dozen open databases, and some pages of
   WAL. On a small disk, a 32nd of it. */
enum { RESERVE_BYTES = 2 << 20, RESERVE_FRACTION = 32 };

/* Deletes the reserve of DIR if the free space is less than its size. Returns whether it did. */
bool reserve_release(const char *dir);

/* Creates the reserve of DIR if it is missing and the free space is eight times its size. */
void reserve_renew(const char *dir);

#endif
