/* SPDX-License-Identifier: Apache-2.0 */
/* A store of debug files in a folder of its own, under a clock that can be put forward, and boards
   that send to it.  Its tests are linked with --wrap=clock_walltime_ns. */
#ifndef TESTS_DEBUG_STORE_FIXTURE_H
#define TESTS_DEBUG_STORE_FIXTURE_H

#include "../symbol/elf_fixture.h"

#include "common/clock.h"
#include "names/debug_store.h"
#include "names/debug_wishes.h"
#include "proto/limits.h"

#include <errno.h>

extern uint64_t days_ahead_ns; /* how far the wall clock stands ahead */
void pass(double days);

extern struct debug_store *store;
extern char why[256]; /* of the last write that was refused */

/* Bytes that begin like an ELF file; this store does not look further. */
struct sample_file {
  uint8_t bytes[1000], sha256[32];
};
struct sample_file sample(uint8_t seed);

extern const struct span id_a, id_b; /* two build-ids */

int set_up(void **state);
int tear_down(void **state);
void reopen(void);

/* BOARD sends the bytes FROM to TO of FILE as those of ID.  Returns as debug_store_write does. */
int write_part(const char *board, struct span id, const struct sample_file *file, size_t from,
               size_t to);
int write_whole(const char *board, struct span id, const struct sample_file *file);

/* The worker has read FILE: it has BUILD_ID and QUALITY. */
void read_as(const struct sample_file *file, struct span build_id, enum debug_quality quality);

bool is_wanted(const char *board, struct span id, uint64_t *ret_offset);
bool is_visible(const char *board, struct span id);

/* Files in FOLDER, its folders apart. */
size_t count_files(const char *folder);

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
