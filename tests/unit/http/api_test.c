/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers on a real store, without sockets: the answers, field by field. */
#include "api_world.h"

#include "quota/quota.h"

static void append_second_board(void) {
  static bool is_there;
  if (!is_there) append_hundred("press-8", 78);
  is_there = true;
}

static int set_up_hundred(void **state) {
  int failed = set_up(state);
  if (!failed) append_hundred("press-7", 77);
  return failed;
}

static void the_table_has_every_promised_field(void **state) {
  (void)state;
  const char *body = ask(api_profile, NULL, NULL, NULL, NULL);
  assert_int_equal(request.answer.status, 0);
  assert_has(body, "{\"total\":1000,\"unit\":\"nanoseconds\",\"samples\":100,");
  assert_has(body, "\"loss\":{");
  assert_has(
      body,
      "\"functions\":[{\"name\":\"tool+0x10\",\"module\":\"tool\",\"file\":null,\"line\":null,"
      "\"quality\":\"none\",\"self\":600,\"total\":1000,\"self_share\":0.6,\"self_ci\":[0.50");
  assert_has(body, "\"total_share\":1,\"total_ci\":[0.9");
  assert_has(body, "\"self_samples\":60,\"total_samples\":100,\"too_few_samples\":false,"
                   "\"too_few_boards\":false}");
  assert_has(body, "\"basis\":{\"unit\":\"samples\",\"units\":0,\"scope\":\"these\"}");
  assert_has(body, "],\"rest\":{\"functions\":0,\"weight\":0,\"samples\":0}}");
  assert_has(body, "{\"name\":\"[kernel]\",\"module\":\"[kernel]\",\"file\":null,\"line\":null,"
                   "\"quality\":null,\"self\":100,");
}

static void every_form_of_json_says_how_stacks_ended(void **state) {
  (void)state;
  static const char *const forms[] = {"top", "tree"};
  for (unsigned i = 0; i < 2; i++)
    assert_has(ask(api_profile, "format", forms[i], NULL, NULL),
               "\"stacks\":{\"weight\":1000,\"not_told\":1,\"complete\":0,\"truncated\":0,"
               "\"no_table\":0,\"bad\":0,\"other_stack\":0,\"meanings\":{\"not_told\":\"");
}

static void a_limit_cuts_rows_and_not_shares(void **state) {
  (void)state;
  const char *body = ask(api_profile, "limit", "1", NULL, NULL);
  assert_has(body, "\"total\":1000,");
  assert_has(body, "\"self_share\":0.6,");
  assert_null(strstr(body, "\"name\":\"[kernel]\""));
  assert_has(body, "],\"rest\":{\"functions\":2,\"weight\":400,\"samples\":40}}");
}

static void the_order_says_which_rows_a_limit_leaves(void **state) {
  static const uint64_t heavy[][2] = {{0, 0x70}, {0, 0x80}}, light[][2] = {{0, 0x70}, {0, 0x90}};
  static struct window window;
  (void)state;
  window_init(&window, "desk", 11);
  window_add(&window, heavy, 2, 60, 600);
  window_add(&window, light, 2, 40, 400);
  window_append(&window, service.parts.store, "press-9", 2,
                clock_walltime_ns() / NS_PER_MS - 60000);
  const char *asked[] = {"order", "self", "limit", "1", "match", "{service=\"desk\"}", NULL};
  assert_has(ask_with(api_profile, asked), "\"functions\":[{\"name\":\"tool+0x80\",");
  asked[1] = "total";
  const char *body = ask_with(api_profile, asked);
  assert_has(body, "\"functions\":[{\"name\":\"tool+0x70\",");
  assert_null(strstr(body, "tool+0x80"));
  asked[1] = "name";
  assert_has(ask_with(api_profile, asked), "order: \\\"name\\\" is not self or total");
  assert_int_equal(request.answer.status, 400);
  for (unsigned i = 0; i < 7; i++) {
    static const char *const others[] = {"tree",       "columns",   "folded",     "pprof",
                                         "speedscope", "callgrind", "perf-script"};
    body = ask(api_profile, "order", "total", "format", others[i]);
    assert_has(body, "\"parameter\":\"order\"");
    assert_has(body, "order: only the format top takes it");
    assert_int_equal(request.answer.status, 400);
  }
  assert_has(ask(api_profile, "order", "total", "format", "json"), "\"functions\":[");
}

static void a_selector_that_matches_nothing_gives_an_empty_table(void **state) {
  (void)state;
  const char *body = ask(api_profile, "match", "{service=\"other\"}", NULL, NULL);
  assert_has(body, "{\"total\":0,");
  assert_has(body, "\"functions\":[]");
}

static void the_tree_hangs_together(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "tree", NULL, NULL);
  assert_has(body, "\"nodes\":[{\"name\":\"root\",\"module\":\"\",\"file\":null,\"line\":null,"
                   "\"quality\":null,\"parent\":-1,\"self\":0,\"total\":1000}");
  assert_has(body, "\"name\":\"tool+0x10\",\"module\":\"tool\",\"file\":null,\"line\":null,"
                   "\"quality\":\"none\",\"parent\":0,\"self\":600,\"total\":1000}");
  assert_has(body, "\"parent\":1,\"self\":300,\"total\":300}");
}

static void columns_are_the_same_tree(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "columns", "limit", "3");
  assert_has(body, "\"functions\":[{\"name\":\"root\",");
  assert_has(body, "\"nodes\":{\"function\":[0,1,2],\"parent\":[-1,0,1],\"self\":[0,600,300],"
                   "\"total\":[1000,1000,300]},\"inlined\":[],"
                   "\"rest\":{\"nodes\":1,\"weight\":100,\"samples\":10}}");
  assert_has(body, "\"stacks\":{");
}

/* If nodes in the middle are left out, later nodes are numbered by their places in the rest. */
static void columns_number_the_nodes_that_are_left(void **state) {
  static const uint64_t light[][2] = {{0, 0x40}}, heavy[][2] = {{0, 0x50}, {0, 0x60}};
  static struct window window;
  (void)state;
  window_init(&window, "till", 9);
  window_add(&window, light, 1, 1, 1);
  window_add(&window, heavy, 1, 50, 500);
  window_add(&window, heavy, 2, 40, 400);
  window_append(&window, service.parts.store, "press-9", 1,
                clock_walltime_ns() / NS_PER_MS - 60000);
  static const char *const asked[] = {
      "format", "columns", "limit", "3", "match", "{service=\"till\"}", NULL};
  const char *body = ask_with(api_profile, asked);
  assert_has(body, "\"nodes\":{\"function\":[0,1,2],\"parent\":[-1,0,1],"
                   "\"self\":[0,500,400],\"total\":[901,900,400]}");
}

static void a_tree_may_begin_with_a_labels_values(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "tree", "by", "board");
  assert_has(body, "\"name\":\"press-7\",");
  assert_has(body, "\"parent\":0,\"self\":0,\"total\":1000},");
  assert_null(strstr(body, "\"stacks\""));
  body = ask(api_profile, "format", "pprof", "by", "board");
  assert_has(body, "\"parameter\":\"by\"");
  assert_has(body, "only the formats tree and columns take it");
}

static void a_limited_tree_keeps_the_heaviest_and_their_parents(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "tree", "limit", "3");
  assert_has(body, "\"parent\":-1,");
  assert_has(body, "\"parent\":1,\"self\":300,\"total\":300}]");
  assert_null(strstr(body, "[kernel]"));
}

static void folded_stacks_are_plain_text(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "folded", NULL, NULL);
  assert_string_equal(request.answer.type, "text/plain; charset=utf-8");
  assert_has(body, "tool+0x10 600\n");
  assert_has(body, "tool+0x10;tool+0x20 300\n");
  assert_has(body, "tool+0x10;[kernel] 100\n");
  body = ask(api_profile, "format", "folded", "limit", "1");
  assert_string_equal(body, "tool+0x10 600\n");
}

static void files_for_other_tools_say_what_they_are(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "pprof", NULL, NULL);
  assert_string_equal(request.answer.type, "application/octet-stream");
  assert_has(request.answer.fields, "filename=\"fleetprof.pb.gz\"");
  assert_memory_equal(body, "\x1f\x8b", 2);
  body = ask(api_profile, "format", "speedscope", NULL, NULL);
  assert_string_equal(request.answer.type, "application/json");
  assert_has(body, "\"weights\":[600,300,100]");
  body = ask(api_profile, "format", "callgrind", NULL, NULL);
  assert_string_equal(request.answer.type, "text/plain; charset=utf-8");
  assert_has(body, "\nfn=(1) tool+0x10\n0 ");
  assert_has(body, "\ntotals: ");
  body = ask(api_profile, "format", "perf-script", NULL, NULL);
  assert_string_equal(request.answer.type, "text/plain; charset=utf-8");
  assert_has(body, " cpu-clock: \n\t              10 [unknown] (tool)\n\n");
  body = ask(api_profile, "format", "speedscope", "limit", "1");
  assert_has(body, "\"weights\":[600]");
}

static void json_is_what_report_calls_the_table(void **state) {
  (void)state;
  assert_has(ask(api_profile, "format", "json", NULL, NULL), "\"functions\":[");
}

static void an_unknown_format_is_named(void **state) {
  (void)state;
  const char *body = ask(api_profile, "format", "magic", NULL, NULL);
  assert_int_equal(request.answer.status, 400);
  assert_string_equal(request.answer.type, "application/problem+json");
  assert_has(body, "format: \\\"magic\\\" is not one of top, json, tree, columns, folded");
  assert_has(body, "\"parameter\":\"format\"");
}

static void boards_have_every_promised_field(void **state) {
  (void)state;
  const char *body = ask(api_boards, NULL, NULL, NULL, NULL);
  assert_has(body, "{\"boards\":[{\"name\":\"press-7\",\"labels\":{\"site\":\"\\u003cb");
  assert_has(body,
             "\"arch\":\"armv7l\",\"kernel\":\"5.4.0\",\"versions\":{\"fleetprofd\":\"0.1.0\"},"
             "\"first_seen\":\"20");
  assert_has(
      body, "\"sampler\":\"perf\",\"achieved_hz\":98.7,\"asked_hz\":99,"
            "\"rate_reason\":\"budget\",\"cost\":{\"handler_ns_p50\":61,"
            "\"handler_ns_p99\":480,\"sample_ns\":2800,\"daemon_cpu\":0.00084,"
            "\"added_cpu\":0.0021,\"bytes_day\":123456},\"budget\":{\"cpu\":0.005,"
            "\"bytes_day\":null,\"state\":\"cpu\"},\"clock\":\"synced\","
            "\"loss\":{\"ring_full\":5,\"pending\":15},\"refused\":null,\"stacks\":{\"not_told\":0,"
            "\"complete\":0.75,\"truncated\":0.25,\"no_table\":0,\"bad\":0,\"other_stack\":0}");
  assert_has(body, "\"cpus\":4,\"cpus_most\":4,\"cpus_changed\":null,\"revoked\"");
  assert_has(ask(api_boards, "match", "{board=\"other\"}", NULL, NULL), "{\"boards\":[]}");
}

static int64_t when_revoked(void *context, const char *board) {
  return strcmp(board, context) == 0 ? 1500000000 : 0;
}

static void a_revoked_board_says_since_when(void **state) {
  (void)state;
  static char revoked[] = "press-7", other[] = "press-8";
  assert_has(ask(api_boards, NULL, NULL, NULL, NULL), "\"revoked\":null}");
  service.parts.revoked_s = when_revoked;
  service.parts.revoked_context = revoked;
  assert_has(ask(api_boards, NULL, NULL, NULL, NULL), "\"revoked\":\"2017-07-14T02:40:00");
  service.parts.revoked_context = other;
  assert_has(ask(api_boards, NULL, NULL, NULL, NULL), "\"revoked\":null}");
  service.parts.revoked_s = NULL;
}

static void a_board_s_quotas_are_told_with_what_is_used_of_them(void **state) {
  (void)state;
  const struct quota_limits limits = {.a_day = {[QUOTA_BYTES] = 1000, [QUOTA_SERIES] = 7}};
  struct quota_verdict verdict;
  struct quotas *quotas = quotas_new(&limits);
  assert_null(strstr(ask(api_boards, NULL, NULL, NULL, NULL), "quotas"));
  service.parts.quotas = quotas;
  quotas_take_bytes(quotas, "press-7", 900, clock_monotonic_ns(), &verdict);
  quotas_take_bytes(quotas, "press-7", 900, clock_monotonic_ns(), &verdict);
  assert_has(ask(api_boards, NULL, NULL, NULL, NULL),
             "\"quotas\":{\"bytes\":{\"used\":900,\"limit\":1000,\"refused\":0,\"delayed\":1},"
             "\"refusals\":{\"used\":0,\"limit\":null,\"refused\":0,\"delayed\":0},"
             "\"series\":{\"used\":0,\"limit\":7,\"refused\":0,\"delayed\":0},"
             "\"nodes\":{\"used\":0,\"limit\":null,\"refused\":0,\"delayed\":0}");
  service.parts.quotas = NULL;
  quotas_free(quotas);
}

static void the_books_close_with_what_is_pending(void **state) {
  (void)state;
  append_second_board();
  const char *body = ask(api_loss, NULL, NULL, NULL, NULL);
  assert_has(body, "{\"board\":\"press-7\",\"produced\":120,\"stored\":100,"
                   "\"dropped\":{\"ring_full\":5,\"pending\":15}}");
  assert_has(body,
             "\"produced\":240,\"stored\":200,\"dropped\":{\"ring_full\":10,\"pending\":30}}");
  body = ask(api_loss, "match", "{board=\"press-8\"}", NULL, NULL);
  assert_has(body, "\"produced\":120,\"stored\":100,\"dropped\":{\"ring_full\":5,\"pending\":15}}");
  assert_null(strstr(body, "press-7"));
}

static void boards_and_books_are_selected_by_the_boards_own_labels(void **state) {
  (void)state;
  static void (*const handlers[])(struct request *) = {api_boards, api_loss};
  static const char *const good[] = {"{arch=\"armv7l\"}", "{kernel=~\"5.*\"}",
                                     "{site=\"<b>north</b>\"}", "{none=\"\"}"};
  static const char *const bad[] = {"{arch=\"x86_64\"}", "{kernel!~\"5.*\"}",
                                    "{site!=\"<b>north</b>\"}", "{none=\"x\"}"};
  for (size_t i = 0; i < 8; i++) {
    assert_has(ask(handlers[i % 2], "match", good[i / 2], NULL, NULL), "press-7");
    assert_has(ask(handlers[i % 2], "match", bad[i / 2], NULL, NULL), "{\"boards\":[]");
  }
}

static void a_label_that_only_samples_have_is_refused_for_boards(void **state) {
  (void)state;
  assert_has(ask(api_loss, "match", "{board=\"press-7\",thread=\"io\"}", NULL, NULL),
             "match: thread is a label of samples");
  assert_int_equal(request.answer.status, 400);
  assert_string_equal(request.answer.type, "application/problem+json");
  assert_has(ask(api_boards, "match", "{service!=\"x\"}", NULL, NULL), "match: service is");
  assert_int_equal(request.answer.status, 400);
}

static void boards_of_a_range_are_those_seen_in_it(void **state) {
  (void)state;
  assert_has(ask(api_boards, "from", "-5m", NULL, NULL), "press-7");
  assert_has(ask(api_boards, "from", "-3h", "to", "-2h"), "{\"boards\":[]}");
  assert_has(ask(api_boards, "from", "4102444800", "to", "4102444900"), "{\"boards\":[]}");
}

static void a_limit_cuts_the_boards_listed_and_not_the_sums(void **state) {
  (void)state;
  append_second_board();
  const char *body = ask(api_loss, "limit", "1", NULL, NULL);
  assert_null(strstr(body, "press-8"));
  assert_has(body, "}}],\"produced\":240,\"stored\":200,");
  assert_null(strstr(ask(api_boards, "limit", "1", NULL, NULL), "press-8"));
}

static void common_parameters_are_taken_and_checked_by_the_module_list(void **state) {
  (void)state;
  assert_has(ask(api_debug_list, "match", "{board=\"a\"}", "from", "-2h"), "{\"modules\":[");
  assert_int_equal(request.answer.status, 0);
  assert_has(ask(api_debug_list, "match", "{board", NULL, NULL), "\"parameter\":\"match\"");
  assert_has(ask(api_debug_list, "limit", "0", NULL, NULL), "\"parameter\":\"limit\"");
}

static void a_query_that_takes_too_long_is_told_its_limit(void **state) {
  (void)state;
  answer_fini(&request.answer);
  arena_fini(&request.arena);
  request = (struct request){.service = &service};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  request.started_ns = clock_monotonic_ns() - 111 * NS_PER_SECOND;
  api_profile(&request);
  assert_int_equal(request.answer.status, 504);
  assert_has(buf_text(&request.answer.body), "time limit of 110 seconds");
}

static void an_upload_of_another_modules_file_is_refused_in_words(void **state) {
  (void)state;
  struct buf file = {0};
  uint8_t block[4096];
  FILE *self = fopen("/proc/self/exe", "rb");
  assert_non_null(self);
  for (size_t len; (len = fread(block, 1, sizeof block, self)) > 0;) buf_append(&file, block, len);
  fclose(self);
  answer_fini(&request.answer);
  arena_fini(&request.arena);
  request = (struct request){.service = &service,
                             .argument = "abcd",
                             .piece = file.data,
                             .piece_len = file.len,
                             .body_len = file.len};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  api_debug_put(&request);
  assert_int_equal(request.answer.status, 422);
  assert_has(buf_text(&request.answer.body), "another module's");
  buf_fini(&file);
}

static void labels_are_sorted_and_told_once(void **state) {
  (void)state;
  append_second_board();
  const char *names = ask(api_labels, NULL, NULL, NULL, NULL);
  assert_has(names, "\"board\"");
  assert_has(names, "\"service\"");
  answer_fini(&request.answer);
  arena_fini(&request.arena);
  request = (struct request){
      .service = &service, .argument = "board", .started_ns = clock_monotonic_ns()};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  api_label_values(&request);
  assert_string_equal(buf_text(&request.answer.body), "{\"data\":[\"press-7\",\"press-8\"]}\n");
}

static void counters_are_told_in_prometheus_form(void **state) {
  (void)state;
  metrics_count(service.metrics, &routes[0], 200);
  metrics_count(service.metrics, NULL, 400);
  metrics_observe(service.metrics, 3 * NS_PER_SECOND);
  const char *body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "fleetprof_build_info{version=\"");
  assert_has(body, "{method=\"GET\",route=\"/api/v1/boards\",status=\"2xx\"} 1\n");
  assert_has(body, "{method=\"\",route=\"\",status=\"4xx\"} 1\n");
  assert_has(body, "_bucket{le=\"1\"} 0\n");
  assert_has(body, "_bucket{le=\"5\"} 1\n");
  assert_has(body, "_sum 3.000000000\n");
}

static void the_description_lists_every_route(void **state) {
  (void)state;
  const char *body = ask(api_openapi, NULL, NULL, NULL, NULL);
  for (size_t i = 0; i < routes_count; i++) {
    char key[128];
    const char *plus = strstr(routes[i].path, "{+"); /* {+rest} is {rest} there */
    int before = plus ? (int)(plus - routes[i].path) + 1 : (int)strlen(routes[i].path);
    snprintf(key, sizeof key, "\"%.*s%s\":{", before, routes[i].path, plus ? plus + 2 : "");
    assert_has(body, key);
  }
  assert_has(body, "\"put\":{\"summary\"");
}

static void long_answers_are_compressed_and_short_ones_left(void **state) {
  (void)state;
  ask(api_openapi, NULL, NULL, NULL, NULL);
  size_t before = request.answer.body.len;
  answer_compress(&request.answer, NULL);
  assert_true(request.answer.is_gzip);
  assert_true(request.answer.body.len * 2 < before);
  assert_memory_equal(request.answer.body.data, "\x1f\x8b", 2);
  ask(api_loss, NULL, NULL, NULL, NULL);
  answer_compress(&request.answer, NULL);
  assert_false(request.answer.is_gzip);
}

#define TEST(name) cmocka_unit_test_teardown(name, end_request)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_table_has_every_promised_field),
      TEST(every_form_of_json_says_how_stacks_ended),
      TEST(a_limit_cuts_rows_and_not_shares),
      TEST(a_selector_that_matches_nothing_gives_an_empty_table),
      TEST(the_tree_hangs_together),
      TEST(a_limited_tree_keeps_the_heaviest_and_their_parents),
      TEST(folded_stacks_are_plain_text),
      TEST(files_for_other_tools_say_what_they_are),
      TEST(json_is_what_report_calls_the_table),
      TEST(columns_are_the_same_tree),
      TEST(a_tree_may_begin_with_a_labels_values),
      TEST(an_unknown_format_is_named),
      TEST(boards_have_every_promised_field),
      TEST(a_revoked_board_says_since_when),
      TEST(a_board_s_quotas_are_told_with_what_is_used_of_them),
      TEST(the_books_close_with_what_is_pending),
      TEST(boards_and_books_are_selected_by_the_boards_own_labels),
      TEST(a_label_that_only_samples_have_is_refused_for_boards),
      TEST(boards_of_a_range_are_those_seen_in_it),
      TEST(a_limit_cuts_the_boards_listed_and_not_the_sums),
      TEST(common_parameters_are_taken_and_checked_by_the_module_list),
      TEST(a_query_that_takes_too_long_is_told_its_limit),
      TEST(an_upload_of_another_modules_file_is_refused_in_words),
      TEST(labels_are_sorted_and_told_once),
      TEST(counters_are_told_in_prometheus_form),
      TEST(the_description_lists_every_route),
      TEST(long_answers_are_compressed_and_short_ones_left),
      TEST(columns_number_the_nodes_that_are_left), /* last: their samples stay */
      TEST(the_order_says_which_rows_a_limit_leaves),
  };
  return cmocka_run_group_tests(tests, set_up_hundred, tear_down);
}
