/* SPDX-License-Identifier: Apache-2.0 */
/* A pair is judged with a real file and the real symbolizer. The file is this test's own
   executable, which has three functions with known calls. On x86-64 a word is the return address if
   the row shows that the stack is as the call left it. */
#include "query/pair_judge.h"

#include "own_file.h"

#include "names/symbolizer.h"

__asm__(".text\n"
        ".type judged_leaf, @function\n"
        "judged_leaf: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
        ".size judged_leaf, . - judged_leaf\n"
        ".type judged_framed, @function\n"
        "judged_framed: .cfi_startproc\n push %rbp\n .cfi_adjust_cfa_offset 8\n"
        " call judged_leaf\n"
        "judged_leaf_returns: call judged_framed\n"
        "judged_framed_returns: pop %rbp\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n"
        ".size judged_framed, . - judged_framed\n"
        ".type judged_other, @function\n"
        "judged_other: .cfi_startproc\n push %rbp\n .cfi_adjust_cfa_offset 8\n"
        " call judged_leaf\n"
        "judged_leaf_returns_to_other: call judged_framed\n"
        "judged_framed_returns_to_other: pop %rbp\n .cfi_adjust_cfa_offset -8\n ret\n"
        " .cfi_endproc\n"
        ".size judged_other, . - judged_other\n");

extern const char judged_leaf[], judged_framed[], judged_leaf_returns[], judged_framed_returns[],
    judged_leaf_returns_to_other[], judged_framed_returns_to_other[];

struct judging {
  char dir[64];
  struct own_file own;
  struct debug_store *debug;
  struct symbolizer *symbolizer;
};

static struct judging judging;

static int set_up(void **state) {
  char error[256];
  (void)state;
  if (!find_own_file(&judging.own)) return -1;
  snprintf(judging.dir, sizeof judging.dir, "/tmp/fleetprof-judge.XXXXXX");
  if (mkdtemp(judging.dir) == NULL) return -1;
  if (debug_store_open(judging.dir, &judging.debug, error, sizeof error) != 0) return -1;
  if (symbolizer_open(judging.debug, &judging.symbolizer, error, sizeof error) != 0) return -1;
  send_own_file(judging.debug, &judging.own);
  struct span id = span_of(judging.own.build_id, judging.own.build_id_len);
  if (symbolizer_prepare(judging.symbolizer, "b1", id) != 0) return -1;
  return symbolizer_settle(judging.symbolizer, 20000) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  symbolizer_close(judging.symbolizer);
  debug_store_close(judging.debug);
  remove_dir(judging.dir);
  return 0;
}

/* A pair as a board ships it: PC, and LINK, a return address, less one. */
static struct pair_verdict judge_of(const char *board, const char *pc, const char *link) {
  const struct store_module module = {span_of(judging.own.build_id, judging.own.build_id_len),
                                      "/proc/self/exe", MODULE_ELF};
  const struct store_node nodes[] = {
      {BATCH_NONE, 0, (uint64_t)(uintptr_t)link - 1 - judging.own.load_address},
      {0, 0, (uint64_t)(uintptr_t)pc - judging.own.load_address}};
  const struct store_forest forest = {1, 2, 1, nodes, &module, 0};
  const struct pair_view view = {judging.symbolizer, board, "x86_64", &forest};
  return pair_judge(&view, 1);
}

static struct pair_verdict judge(const char *pc, const char *link) {
  return judge_of("b1", pc, link);
}

static void a_row_and_a_call_tell_the_caller(void **state) {
  (void)state;
  struct pair_verdict verdict = judge(judged_leaf, judged_leaf_returns);
  assert_int_equal(verdict.rung, PAIR_BY_ROW);
  assert_true(verdict.is_outside);
  assert_false(verdict.is_refuted);
  assert_false(verdict.is_unseen);
}

static void a_function_that_calls_itself_is_its_own_caller(void **state) {
  (void)state;
  struct pair_verdict verdict = judge(judged_framed, judged_framed_returns);
  assert_int_equal(verdict.rung, PAIR_BY_ROW);
  assert_false(verdict.is_outside);
}

static void behind_no_call_nothing_returns(void **state) {
  (void)state;
  struct pair_verdict verdict = judge(judged_leaf, judged_framed + 1);
  assert_int_equal(verdict.rung, PAIR_UNRESOLVED);
  assert_true(verdict.is_outside);
  assert_true(verdict.is_refuted);
  assert_false(judge(judged_leaf, judged_leaf + 1).is_refuted); /* it is inside */
}

static void where_the_stack_has_grown_a_word_on_it_is_believed_nowhere(void **state) {
  (void)state;
  const char *grown = judged_framed + 1;
  struct pair_verdict verdict = judge(grown, judged_framed_returns_to_other);
  assert_int_equal(verdict.rung, PAIR_UNRESOLVED);
  assert_true(verdict.is_outside);
  assert_false(verdict.is_refuted); /* the call leads here: it may be so */
  verdict = judge(grown, judged_leaf_returns_to_other);
  assert_int_equal(verdict.rung, PAIR_UNRESOLVED);
  assert_true(verdict.is_refuted);
  assert_false(judge(grown, judged_leaf_returns).is_outside);
}

static void of_another_boards_module_nothing_is_known(void **state) {
  (void)state;
  struct pair_verdict verdict = judge_of("b2", judged_leaf, judged_leaf_returns);
  assert_int_equal(verdict.rung, PAIR_UNRESOLVED);
  assert_true(verdict.is_unseen);
  assert_false(verdict.is_outside);
}

static void a_pc_alone_has_no_caller(void **state) {
  const struct store_node node = {BATCH_NONE, 0, 0x100};
  const struct store_forest forest = {1, 1, 1, &node, NULL, 0};
  const struct pair_view view = {judging.symbolizer, "b1", "x86_64", &forest};
  (void)state;
  assert_int_equal(pair_judge(&view, 0).rung, PAIR_UNRESOLVED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_and_a_call_tell_the_caller),
      cmocka_unit_test(a_function_that_calls_itself_is_its_own_caller),
      cmocka_unit_test(behind_no_call_nothing_returns),
      cmocka_unit_test(where_the_stack_has_grown_a_word_on_it_is_believed_nowhere),
      cmocka_unit_test(of_another_boards_module_nothing_is_known),
      cmocka_unit_test(a_pc_alone_has_no_caller),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
