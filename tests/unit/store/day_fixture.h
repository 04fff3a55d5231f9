/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a store's day, that of NOON_MS: filled, deleted by age, inspected and changed. */
#ifndef TESTS_DAY_FIXTURE_H
#define TESTS_DAY_FIXTURE_H

#include "store_fixture.h"

#include "store/day_folder.h"

bool has_file(const struct world *world, enum day_kind kind);

/* Ten windows of BOARD in each of HOURS hours from noon on. */
void append_hours(struct world *world, const char *board, unsigned hours);

/* Retention by age: windows, and sums of five minutes, before these times may be deleted. Returns
   the result of store_retain. */
int retain_by_age(struct world *world, uint64_t windows_ms, uint64_t minutes_ms);

/* The single number that SQL returns from the file of KIND. */
uint64_t ask_day(const struct world *world, enum day_kind kind, const char *sql);
uint64_t count_windows(const struct world *world);

/* Runs SQL on the database at PATH. */
void change_file(const char *path, const char *sql);

#endif
