/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "symbol/index_names.h"
#include "symbol/index_texts.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NAMES = 4000, THREADS = 4 };

static struct index_names names;
static uint32_t told[NAMES]; /* the format's reference to each name */
static struct buf directory, packed;
static struct index_texts texts;

/* A mangled name of some length, and its readable form. */
static void name_of(int number, char *mangled, size_t len, char *ret_readable,
                    size_t readable_len) {
  char word[64];
  int word_len = snprintf(word, sizeof word, "f%0*d", 1 + number % 50, number);
  snprintf(mangled, len, "_ZN%d%s4pushEi", word_len, word);
  snprintf(ret_readable, readable_len, "%s::push(int)", word);
}

static int set_up(void **state) {
  (void)state;
  static char mangled[NAMES][96]; /* they stay where they are */
  char readable[96];
  for (int i = 0; i < NAMES; i++) {
    name_of(i, mangled[i], sizeof mangled[i], readable, sizeof readable);
    assert_int_equal(index_names_add(&names, span_of_string(mangled[i]), &told[i]), 0);
  }
  struct span plain = buf_span(&names.strings.bytes);
  assert_true(plain.len > 5 * INDEX_TEXT_BLOCK_BYTES);
  assert_int_equal(index_texts_pack(plain, INDEX_TEXTS_SMALL, &directory, &packed), 0);
  assert_true(packed.len < plain.len / 4);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  index_names_fini(&names);
  buf_fini(&directory);
  buf_fini(&packed);
  return 0;
}

static int open_texts(void **state) {
  (void)state;
  return index_texts_init(&texts, buf_span(&directory), buf_span(&packed));
}

static int close_texts(void **state) {
  (void)state;
  index_texts_fini(&texts);
  return 0;
}

static void each_name_comes_back_with_the_one_it_was_made_of(void **state) {
  (void)state;
  char mangled[96], readable[96];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < NAMES; i++) {
      int number = i * 1237 % NAMES; /* here and there */
      name_of(number, mangled, sizeof mangled, readable, sizeof readable);
      assert_true((told[number] & 1) != 0);
      const char *name = index_texts_at(&texts, told[number] >> 1);
      assert_non_null(name);
      assert_string_equal(name, readable);
      assert_string_equal(name + strlen(name) + 1, mangled);
    }
  }
}

static void a_place_where_no_text_begins_has_none(void **state) {
  (void)state;
  assert_null(index_texts_at(&texts, (told[7] >> 1) + 1));
  assert_null(index_texts_at(&texts, (uint32_t)names.strings.bytes.len));
  assert_null(index_texts_at(&texts, UINT32_MAX));
}

static void *ask_for_all(void *ret) {
  const char **found = ret;
  for (int i = 0; i < NAMES; i++) found[i] = index_texts_at(&texts, told[i] >> 1);
  return NULL;
}

static void threads_that_ask_at_once_get_the_same_texts(void **state) {
  (void)state;
  static const char *found[THREADS][NAMES];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask_for_all, found[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    for (int name = 0; name < NAMES; name++) {
      assert_non_null(found[i][name]);
      assert_ptr_equal(found[i][name], found[0][name]);
    }
}

static void a_damaged_block_costs_its_own_texts_only(void **state) {
  (void)state;
  struct index_text_block *second = &((struct index_text_block *)(void *)directory.data)[1];
  uint8_t *damaged = packed.data + second->offset;
  damaged[0] ^= 0xff;
  for (int i = 0; i < NAMES; i++) {
    uint32_t block = (told[i] >> 1) / INDEX_TEXT_BLOCK_BYTES;
    assert_true((index_texts_at(&texts, told[i] >> 1) == NULL) == (block == 1));
  }
  damaged[0] ^= 0xff;
}

/* Reads a text of each block. Returns the number of successes. */
static uint32_t ask_for_blocks(struct index_texts *asked) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < asked->count; i++)
    if (index_texts_at(asked, i * INDEX_TEXT_BLOCK_BYTES) != NULL) count++;
  return count;
}

static void no_sender_takes_the_memory_for_names_from_others(void **state) {
  (void)state;
  struct index_texts greedy[2], later, operators;
  struct index_texts *all[] = {&greedy[0], &greedy[1], &later, &operators};
  struct index_texts_counts before, counts;
  index_texts_count(&before);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(index_texts_init(all[i], buf_span(&directory), buf_span(&packed)), 0);
  greedy[0].sender = greedy[1].sender = 7;
  later.sender = 8;
  operators.sender = INDEX_TEXTS_OPERATORS;
  uint32_t blocks = later.count;
  index_texts_set_limit(4ULL * blocks * INDEX_TEXT_BLOCK_BYTES); /* boards have two indexes' */
  assert_int_equal(ask_for_blocks(&greedy[0]), blocks);
  assert_true(ask_for_blocks(&greedy[1]) <= 1); /* the last block is not whole */
  assert_true(ask_for_blocks(&later) >= blocks / 2 - 1);
  assert_int_equal(ask_for_blocks(&operators), blocks);
  index_texts_count(&counts);
  assert_true(counts.refusals > before.refusals && counts.bytes > before.bytes);
  for (size_t i = 0; i < 4; i++) index_texts_fini(all[i]);
  index_texts_count(&counts);
  assert_int_equal(counts.bytes, before.bytes);
  index_texts_set_limit(INDEX_TEXTS_MEMORY_MAX);
}

static void sizes_that_cannot_be_are_refused(void **state) {
  (void)state;
  struct index_texts none;
  static struct index_text_block many[INDEX_TEXT_BLOCKS_MAX + 1];
  assert_int_equal(index_texts_init(&none, span_of(many, 0), span_of("", 0)), -EBADMSG);
  assert_int_equal(index_texts_init(&none, span_of(many, sizeof many), span_of("", 0)), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define WITH_TEXTS(test) cmocka_unit_test_setup_teardown(test, open_texts, close_texts)
      WITH_TEXTS(each_name_comes_back_with_the_one_it_was_made_of),
      WITH_TEXTS(a_place_where_no_text_begins_has_none),
      WITH_TEXTS(threads_that_ask_at_once_get_the_same_texts),
      WITH_TEXTS(a_damaged_block_costs_its_own_texts_only),
#undef WITH_TEXTS
      cmocka_unit_test(no_sender_takes_the_memory_for_names_from_others),
      cmocka_unit_test(sizes_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
