/* SPDX-License-Identifier: Apache-2.0 */
/* Real ELF files to test with, made by the compiler and binutils in a folder of the test's own. */
#ifndef TESTS_ELF_FIXTURE_H
#define TESTS_ELF_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIXTURE_PATH_BYTES = 4096 };

extern char fixture_dir[64];

int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Runs a shell command in the folder; the test fails when it does. */
__attribute__((format(printf, 1, 2))) void fixture_run(const char *format, ...);

/* Writes LEN BYTES as NAME, a file of the folder or an absolute path. */
void fixture_write(const char *name, const void *bytes, size_t len);

/* Reads a file of the folder into memory of exactly its size, which fixture_free frees. */
struct span fixture_read(const char *name);
void fixture_free(struct span bytes);

/* The path of a file of the folder. */
void fixture_path(const char *name, char path[FIXTURE_PATH_BYTES]);

/* lib.so: a shared library of known functions with symbols, build-id 20 bytes, DWARF. */
void fixture_make_library(const char *options);

/* The build-id of a file of the folder, as printed by readelf. */
size_t fixture_build_id(const char *name, uint8_t id[64]);

#endif
