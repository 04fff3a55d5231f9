/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a temporary folder, the sums of a scan of it, and its row of a board. */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "made_batch_fixture.h"
#include "scratch.h"

#include "store/store_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
  char dir[64];
  struct store *store;
};

int set_up(void **state);
int tear_down(void **state);
void open_store(struct world *world);
void reopen_store(struct world *world);

struct sums {
  uint64_t blocks, rows, count, weight, series_asked, last_series;
  char series_text[4096];
};

/* A scan's call-backs, with a struct sums as context: they accept every series, check each block's
   nodes and sum the block. */
int want_all(void *context, const struct store_series *series);
int add_block(void *context, const struct store_series *series, const struct store_forest *forest,
              uint64_t start_ms, uint64_t end_ms, const struct store_row *rows, size_t count);

struct sums scan_range(struct store *store, uint64_t from_ms, uint64_t to_ms);
struct sums scan_all(struct store *store);

/* A set of boards with only NAME. */
#define ONLY(name) (&(const struct store_names){(const char *const[]){name}, 1})

/* The board NAME; its texts are not copied. */
struct store_board board_of(struct store *store, const char *name);
/* Asserts that produced is stored plus dropped plus pending, in the board's books and in the losses
   of its whole time. */
void assert_books_close(struct store *store, const char *name);

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
