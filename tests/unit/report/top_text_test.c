/* SPDX-License-Identifier: Apache-2.0 */
/* The text output: counts are exact, the singular is used for 1, and no text is repeated. */
#include "profile_fixture.h"

#include "report/diff_text.h"
#include "report/named_tree.h"
#include "report/top_text.h"

#include <math.h>
#include <string.h>

struct world {
  struct profile profile;
  struct arena arena;
  struct view_tree tree;
  struct buf out;
};

static void add(struct world *world, const char *path, uint64_t count, uint64_t weight) {
  bool is_elf = path[0] == '/';
  const struct batch_module module = {
      .id = span_of("\1", is_elf), .path = path, .kind = is_elf ? MODULE_ELF : MODULE_PSEUDO};
  assert_int_equal(
      profile_add_leaf(&world->profile, &module, is_elf ? 0x10 : 0, count, weight * 1000000), 0);
}

static void begin(struct world *world) {
  memset(world, 0, sizeof *world);
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(profile_init(&world->profile), 0);
}

/* A target of which SAMPLES were taken. */
static void target(struct world *world, const char *sampler, uint32_t asked_mhz, uint64_t samples) {
  const struct batch_target target = {.exe = "/tool",
                                      .service = "tool",
                                      .sampler = sampler,
                                      .asked_mhz = asked_mhz,
                                      .why = samples > 0 ? "" : "timer: it is static",
                                      .module = BATCH_NONE};
  profile_note_target(&world->profile, &target, samples);
}

static char *print(struct world *world, bool has_colour) {
  const struct top_text style = {.limit = 10, .has_colour = has_colour};
  assert_int_equal(named_tree_build(&world->profile, NULL, NULL, &world->arena, &world->tree), 0);
  assert_int_equal(
      top_text_print(&world->profile, &world->tree, &style, &world->arena, &world->out), 0);
  return buf_text(&world->out);
}

static void end(struct world *world) {
  buf_fini(&world->out);
  arena_fini(&world->arena);
  profile_fini(&world->profile);
}

static void assert_says(const char *text, const char *words) {
  if (strstr(text, words) == NULL) fail_msg("'%s' is not in:\n%s", words, text);
}

static void what_clocks_told_is_weight_but_no_sample(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "timer", 1000000, 100);
  add(&world, "/bin/tool", 100, 400);
  add(&world, "[kernel]", 0, 100);
  const char *text = print(&world, false);
  assert_says(text, "100 samples, 0.50 s of CPU time, by timer at 250 Hz (asked: 1000)\n");
  assert_int_equal(world.tree.total_count, 100);
  /* Wilson of 0.8 for 125 trials: the kernel had 25 of them, and no sample. */
  assert_says(text, " 80.0 %   72.1 ..  86.1 %   80.0 %  tool+0x10\n");
  assert_says(text, "%  [kernel]\n");
  end(&world);
}

static void weights_that_differ_are_told_and_widen_the_intervals(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "timer", 1000000, 1010);
  add(&world, "/bin/tool", 600, 600), add(&world, "/bin/other", 400, 400);
  add(&world, "/bin/tool", 6, 6000), add(&world, "/bin/other", 4, 4000);
  add(&world, "[kernel]", 0, 0);
  const char *text = print(&world, false);
  assert_says(
      text,
      "1010 samples, 11.00 s of CPU time (weights differ: worth 12 samples), by timer at 91.82 Hz "
      "(asked: 1000)\n");
  /* Wilson's interval of 60 of 100 for 12.1 trials and not for 1010. */
  assert_says(text, " 60.0 %   33.4 ..  81.8 %   60.0 %  tool+0x10\n");
  end(&world);
}

static void an_average_far_above_the_wish_is_no_rate(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "timer", 1000, 1010);
  add(&world, "/bin/tool", 1000, 1000), add(&world, "/bin/tool", 10, 10000);
  assert_says(print(&world, false), ", by timer at several rates\n");
  end(&world);
}

static void one_sample_is_one_sample(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "perf", 99000, 1);
  add(&world, "/bin/tool", 1, 10);
  assert_says(print(&world, false), "1 sample, 0.01 s of CPU time, by perf, asked for 99 Hz\n");
  end(&world);
}

static void all_that_have_sampled_are_named_and_nobody_else(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "none", 99000, 3); /* of perf, which had stopped when they were shipped */
  target(&world, "perf", 99000, 50);
  add(&world, "/bin/tool", 100, 1000);
  assert_says(print(&world, false), "CPU time, by perf at 100 Hz (asked: 99)\n");
  target(&world, "timer", 99000, 49);
  buf_clear(&world.out);
  assert_says(print(&world, false), "CPU time, by perf and timer\n");
  target(&world, "itimer", 99000, 1);
  buf_clear(&world.out);
  assert_says(print(&world, false), "CPU time, by perf, timer and itimer\n");
  end(&world);
}

static void one_sampler_at_two_rates_has_none(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "perf", 99000, 50);
  target(&world, "perf", 49000, 50);
  add(&world, "/bin/tool", 100, 1000);
  assert_says(print(&world, false), "CPU time, by perf\n");
  end(&world);
}

static void why_nothing_was_sampled_is_said(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "timer", 99000, 0);
  add(&world, "[unsampled]", 0, 1000);
  const char *text = print(&world, false);
  assert_says(text, "0 samples, 1.00 s of CPU time, by timer, asked for 99 Hz\n");
  assert_says(text, "nothing was sampled: timer: it is static\n");
  assert_says(text, "100.0 %  100.0 .. 100.0 %  100.0 %  [unsampled]\n");
  end(&world);
}

static void processes_too_short_for_the_rate_are_told_what_helps(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  const struct batch_target target = {
      .exe = "/sh", .service = "sh", .sampler = "perf", .asked_mhz = 99000, .module = BATCH_NONE};
  profile_note_target(&world.profile, &target, 0);
  add(&world, "[unsampled]", 0, 70);
  assert_says(print(&world, false),
              "no process had the 10.1 ms of CPU time outside the kernel that "
              "a sample at 99 Hz takes (a higher --hz helps)");
  end(&world);
}

static void time_without_samples_has_the_remedy_of_its_sampler(void **state) {
  static const struct {
    const char *sampler;
    uint64_t unsampled_ms;
    const char *said, *unsaid;
  } rows[] = {
      {"perf", 200, "\n[unsampled]: by perf, a thread or process that ends before one ",
       "tick of the"},
      {"timer", 200, "(a higher --hz does not help)", "one period"},
      {"perf", 100, "95 % interval", "\n[unsampled]: by"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct world world;
    begin(&world);
    target(&world, rows[i].sampler, 1000000, 1000);
    add(&world, "/bin/tool", 1000, 1000);
    add(&world, "[unsampled]", 0, rows[i].unsampled_ms);
    char *text = print(&world, false);
    assert_says(text, rows[i].said);
    assert_null(strstr(text, rows[i].unsaid));
    end(&world);
  }
}

static void rates_are_written_out(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  target(&world, "perf", 10000000, 10000);
  add(&world, "/bin/tool", 10000, 1010);
  assert_says(print(&world, false), "at 9901 Hz (asked: 10000)\n");
  end(&world);
}

/* The output for COUNT samples of [kernel] that weigh WEIGHT ms, and NAMED ms of a kernel function,
   beside 100 ms of the program; resets WORLD. */
static const char *print_kernel(struct world *world, uint64_t count, uint64_t weight,
                                uint64_t named) {
  const struct batch_module kernel = {
      .id = span_of("\2", 1), .path = "[kernel]", .kind = MODULE_ELF};
  end(world);
  begin(world);
  target(world, "perf", 100000, 10);
  add(world, "/bin/tool", 10, 100);
  if (weight > 0) add(world, "[kernel]", count, weight);
  if (named > 0)
    assert_int_equal(profile_add_leaf(&world->profile, &kernel, 0x20, 1, named * 1000000), 0);
  return print(world, false);
}

static void a_kernel_of_one_row_has_a_way_to_see_its_functions(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  assert_null(strstr(print_kernel(&world, 0, 9, 0), "\n[kernel]: "));   /* too little */
  assert_null(strstr(print_kernel(&world, 0, 50, 10), "\n[kernel]: ")); /* no more */
  assert_null(strstr(print_kernel(&world, 0, 0, 90), "\n[kernel]: "));
  assert_says(print_kernel(&world, 0, 50, 0),
              "\n[kernel]: the kernel's functions were not sampled");
  assert_says(print_kernel(&world, 5, 50, 0), "\n[kernel]: the kernel's functions have no names");
  end(&world);
}

static void a_colour_that_was_not_begun_is_not_ended(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  add(&world, "/bin/tool", 99, 99);
  add(&world, "/bin/rare", 1, 1);
  const char *text = print(&world, true);
  assert_says(text, "\033[1m 99.0 %\033[0m");
  assert_says(text, "\n  1.0 %  \033[2m");
  assert_says(text, "  rare+0x10\n");
  end(&world);
}

static const char *print_diff(struct world *world, const struct diff_sides *sides,
                              const struct view_diff_options *options,
                              const struct top_text *style) {
  struct view_diff diff;
  assert_int_equal(view_diff(sides->a, sides->b, options, &world->arena, &diff), 0);
  buf_clear(&world->out);
  assert_int_equal(diff_text_print(sides, &diff, style, &world->out), 0);
  return buf_text(&world->out);
}

static void a_difference_is_headed_by_its_files(void **state) {
  static const struct view_diff_options options = {
      .measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {"run", 1, 1}, .a_runs = 1, .b_runs = 1};
  const struct top_text style = {.limit = 10};
  struct world a, b;
  (void)state;
  begin(&a), begin(&b);
  add(&a, "/bin/tool", 500, 500), add(&a, "/bin/same", 500, 500);
  add(&b, "/bin/tool", 500, 500), add(&b, "/bin/same", 500, 500);
  add(&b, "[unsampled]", 0, 0);
  print(&a, false), print(&b, false);
  struct diff_sides sides = {
      .a = &a.tree, .b = &b.tree, .a_name = "old/before.fp", .b_name = "new/after.fp"};
  const char *text = print_diff(&a, &sides, &options, &style);
  assert_says(text, "old/before.fp: 1000 samples, 1.00 s of CPU time\n");
  assert_says(text, "whole: 1.00 s -> 1.00 s of CPU per run, 0.0 %");
  assert_says(text, "\nruns: 1 of a, 1 of b\n");
  assert_says(text, "\nrows: CPU of totals per run, as a part of all that a takes\n");
  assert_says(text, "; about these two runs\n");
  assert_says(text, "before.fp  after.fp  difference");
  assert_says(text, "  50.0 %    50.0 %       0.0 %");
  if (strstr(text, "-0.0 %") != NULL) fail_msg("%s", text);
  sides.b_name = "new/before.fp";
  text = print_diff(&a, &sides, &options, &style);
  assert_says(text, "b = new/before.fp: 1000 samples");
  assert_says(text, "      a        b  difference");
  end(&a), end(&b);
}

/* [kernel] halves, surely; but it was not sampled. */
static void why_an_unclear_row_is_unclear_is_said_where_it_is_shown(void **state) {
  static const struct view_diff_options options = {
      .measure = VIEW_SHARES, .of = VIEW_SELF, .units = {"run", 1, 1}};
  struct top_text style = {.limit = 1};
  struct world a, b;
  (void)state;
  begin(&a), begin(&b);
  add(&a, "/bin/tool", 5000, 5000), add(&a, "[kernel]", 0, 1000);
  add(&b, "/bin/tool", 2000, 2000), add(&b, "/bin/other", 3500, 3500), add(&b, "[kernel]", 0, 500);
  print(&a, false), print(&b, false);
  const struct diff_sides sides = {
      .a = &a.tree, .b = &b.tree, .a_name = "a.fp", .b_name = "b.fp", .pair = "app.old -> app.new"};
  const char *text = print_diff(&a, &sides, &options, &style);
  assert_says(text, "\napp.old -> app.new: the program itself, its functions");
  assert_says(text, "\nrows: share of self, of all that each side takes\n");
  if (strstr(text, "of clocks") != NULL) fail_msg("of what row? %s", text);
  style.limit = 10;
  text = print_diff(&a, &sides, &options, &style);
  assert_says(text, "unclear  [kernel]\n");
  assert_says(text, "are of clocks, not of samples");
  assert_says(text, "\nthe samples have no times (a histogram): how they vary is unknown");
  end(&a), end(&b);
}

/* A difference in a collector's form. */
static void a_row_says_which_change_would_not_have_been_seen(void **state) {
  const struct top_text style = {.limit = 10};
  struct view_tree tree = {.total_weight = 1};
  struct view_change none = {.a = .1, .b = .1, .low = NAN, .high = NAN, .detectable = .014};
  struct view_diff_row rows[3] = {{.name = "faster", .module = "app"},
                                  {.name = "alike", .module = "app"},
                                  {.name = "[unsampled]", .module = "[unsampled]"}};
  struct view_diff diff = {
      .options = {.measure = VIEW_SHARES, .of = VIEW_TOTAL, .units = {"board-hour", 6, 6}},
      .basis = {{"boards", 6}, {"boards", 7}, 0, 0, 5},
      .scope = VIEW_FLEET,
      .whole = {.a = 2e9,
                .b = 3e9,
                .ratio = 1.492,
                .low = 1.361,
                .high = 1.63,
                .verdict = VIEW_UNCLEAR,
                .doubt = VIEW_SHORT,
                .detectable = .12},
      .rows = rows,
      .count = 3};
  const struct diff_sides sides = {
      .a = &tree, .b = &tree, .a_name = "x", .b_name = "y", .is_by_letter = true};
  struct buf out = {0};
  (void)state;
  rows[0].total = (struct view_change){
      .a = .2, .difference = -.2, .low = -.3, .high = -.1, .verdict = VIEW_GONE, .detectable = .1};
  none.verdict = VIEW_SAME, rows[1].total = none;
  none.verdict = VIEW_UNCLEAR, none.doubt = VIEW_HIDDEN, none.detectable = INFINITY;
  rows[2].total = none, rows[2].self = (struct view_change){.a = .02, .b = .25};
  assert_int_equal(diff_text_print(&sides, &diff, &style, &out), 0);
  const char *text = buf_text(&out);
  assert_says(text, "\nwhole: 2.00 s -> 3.00 s of CPU per board-hour, +49.2 % (+36.1 .. +63.0)  "
                    "unclear: too few boards; detectable: 12 %\n");
  assert_says(text, "\nintervals: by 6 and 7 boards; 5 boards are on both sides and compared with "
                    "themselves; about boards like these\n");
  assert_says(text, "     -20.0 %   -30.0 ..  -10.0              gone     faster  (app)\n");
  assert_says(text, "       ? ..      ?       1.4 %  same     alike  (app)\n");
  assert_says(text, "      none  unclear  [unsampled]\n");
  assert_says(text, "\n2.0 % of a and 25.0 % of b was not sampled and may be any function's");
  assert_says(text, "\ntoo few boards: 6; select more boards, or give --scope these\n");
  assert_says(text, "\ndetectable: the least increase that is called changed 4 times of 5; "
                    "none: no increase would be called changed\n");
  buf_fini(&out);
}

static void a_unit_that_the_user_names_divides_the_whole_and_the_rows(void **state) {
  static const struct view_diff_options options = {.measure = VIEW_CPU,
                                                   .of = VIEW_TOTAL,
                                                   .units = {"request", 1000, 2000},
                                                   .a_runs = 1,
                                                   .b_runs = 2};
  const struct top_text style = {.limit = 10};
  struct world a, b;
  (void)state;
  begin(&a), begin(&b);
  add(&a, "/bin/tool", 500, 500), add(&a, "/bin/same", 500, 500);
  add(&b, "/bin/tool", 500, 500), add(&b, "/bin/same", 500, 500);
  print(&a, false), print(&b, false);
  const struct diff_sides sides = {.a = &a.tree, .b = &b.tree, .a_name = "a.fp", .b_name = "b.fp"};
  const char *text = print_diff(&a, &sides, &options, &style);
  assert_says(text, "\nruns: 1 of a, 2 of b\nunits: 1000 request of a, 2000 of b\n");
  assert_says(text, "\nwhole: 1.00 ms -> 500.00 us of CPU per request, -50.0 %");
  assert_says(text, "\nrows: CPU of totals per request, in CPU time of the function\n");
  assert_says(text, " 500 us   250 us     -250 us  ");
  if (strstr(text, "-25.0") != NULL) fail_msg("points of the whole: %s", text);
  end(&a), end(&b);
}

/* It grew by 8 % of itself, which is 4.5 % of the whole. */
static void a_row_of_a_named_unit_is_all_in_its_time(void **state) {
  const struct top_text style = {.limit = 10};
  struct view_tree tree = {.total_weight = 1};
  struct view_diff_row rows[3] = {{.name = "parse", .module = "app"},
                                  {.name = "alike", .module = "app"},
                                  {.name = "blind", .module = "app"}};
  struct view_diff diff = {
      .options = {.measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {"request", 6, 6}},
      .basis = {{"boards", 6}, {"boards", 7}, 0, 0, 5},
      .whole = {.a = 50e3, .b = 52e3, .ratio = 1.04, .detectable = INFINITY},
      .rows = rows,
      .count = 3};
  const struct diff_sides sides = {.a = &tree, .b = &tree, .a_name = "x", .b_name = "y"};
  struct buf out = {0};
  (void)state;
  rows[0].cpu = (struct view_change){.a = .564,
                                     .b = .608,
                                     .difference = .045,
                                     .low = .036,
                                     .high = .99996,
                                     .verdict = VIEW_CHANGED};
  rows[0].moved = (struct view_moved){.amount = .04, .how = VIEW_RENAMED, .of = {.name = "read"}};
  rows[1].cpu = (struct view_change){.a = .1,
                                     .b = .1,
                                     .difference = 1e-17,
                                     .low = -.001,
                                     .high = .001,
                                     .detectable = .014,
                                     .verdict = VIEW_SAME};
  rows[2].cpu = (struct view_change){
      .low = NAN, .high = NAN, .detectable = INFINITY, .verdict = VIEW_UNCLEAR};
  assert_int_equal(diff_text_print(&sides, &diff, &style, &out), 0);
  const char *text = buf_text(&out);
  assert_says(text, "      x        y  difference   95 % interval            detectable  verdict");
  assert_says(text,
              "28.2 us  30.4 us    +2.25 us     +1.8 us ..     +50 us              changed  parse");
  assert_says(text,
              "   5 us     5 us           0      -50 ns ..     +50 ns      700 ns  same     alike");
  assert_says(text,
              "      0        0           0           ? ..          ?        none  unclear  blind");
  assert_says(text, "\ntime that moved: parse (2 us in place of read)\n");
  buf_fini(&out);
}

/* Two functions of one name, one of them without a file; a third of another module. */
static void rows_that_look_alike_show_their_files(void **state) {
  const struct top_text style = {.limit = 10};
  struct top_text_row rows[] = {
      {.name = "step", .module = "tool", .total = 1, .file = "/a/src/x.c"},
      {.name = "main", .module = "tool", .total = 1, .file = "/a/src/m.c"},
      {.name = "step", .module = "libz", .total = 1, .file = "z.c"},
      {.name = "step", .module = "tool", .total = 1, .file = NULL}};
  struct buf out = {0};
  (void)state;
  assert_int_equal(top_text_tell_apart(rows, 4), 0);
  for (unsigned i = 0; i < 4; i++) top_text_print_row(&rows[i], &style, &out);
  assert_says(buf_text(&out), "  step  (tool, src/x.c)\n");
  assert_says(buf_text(&out), "  main  (tool)\n");
  assert_says(buf_text(&out), "  step  (libz)\n");
  assert_says(buf_text(&out), "  step  (tool, file not known)\n");
  buf_fini(&out);
}

static void a_row_fits_the_terminal_and_is_whole_elsewhere(void **state) {
  static const char name[] = "std::vector<int> ns::walk(std::vector<int> const&, long, long)";
  const struct top_text_row row = {.name = name, .module = "tool", .total = 1};
  struct top_text style = {.limit = 10, .columns = 64};
  struct buf out = {0};
  (void)state;
  top_text_print_row(&row, &style, &out);
  assert_says(buf_text(&out), "%  ns::walk(...)  (tool)\n");
  assert_true(out.len <= 64 + 1);
  style.columns = 0;
  buf_clear(&out);
  top_text_print_row(&row, &style, &out);
  assert_says(buf_text(&out), name);
  buf_fini(&out);
}

static void what_intervals_are_about_and_come_from_is_said(void **state) {
  struct buf out = {0};
  (void)state;
  top_text_print_basis((struct view_basis){"samples", 0}, &out);
  assert_string_equal(buf_text(&out), "intervals: of what ran in this time, by samples\n");
  buf_clear(&out);
  top_text_print_basis((struct view_basis){"boards", 5}, &out);
  assert_string_equal(buf_text(&out), "intervals: of boards like these, by how 5 boards differ; so "
                                      "few leave them wide\n");
  buf_clear(&out);
  top_text_print_basis((struct view_basis){"boards", 20}, &out);
  assert_string_equal(buf_text(&out), "intervals: of boards like these, by how 20 boards differ\n");
  buf_fini(&out);
}

static void what_a_limit_leaves_out_is_said_in_weight_and_samples(void **state) {
  struct top_text_rest rest = {.what = "functions", .is_self = true, .whole = 4000};
  struct buf out = {0};
  (void)state;
  top_text_print_rest(&rest, &out);
  assert_int_equal(out.len, 0);
  rest.rows = 412, rest.weight = 124, rest.samples = 1204;
  top_text_print_rest(&rest, &out);
  assert_string_equal(buf_text(&out), "412 more functions: 3.1 % (self), 1204 samples; --limit\n");
  buf_fini(&out);
}

/* main -> work of the fixture with END at their root, and MARKS. */
static void add_ending(struct world *world, const char *end, uint32_t marks, uint64_t seq) {
  struct small_batch small;
  struct batch_module modules[3];
  struct batch batch;
  struct batch_node nodes[] = {{BATCH_NONE, 2, 0}, {0, 0, 0x100}, {1, 0, 0x200}};
  const struct batch_sample samples[] = {{1, 0, SAMPLE_CPU, 10, 10}, {2, 0, SAMPLE_CPU, 90, 90}};
  small_batch_fill(&small, 1, 90, false);
  small.target.marks = marks;
  batch = small.batch;
  memcpy(modules, small.modules, sizeof small.modules);
  modules[2] = (struct batch_module){{NULL, 0}, end, 0, MODULE_PSEUDO};
  if (*end == '\0') nodes[0] = (struct batch_node){BATCH_NONE, 0, 0x50};
  batch.modules = modules, batch.module_count = *end != '\0' ? 3 : 2;
  batch.nodes = nodes, batch.node_count = 3;
  batch.samples = samples, batch.sample_count = 2;
  assert_int_equal(profile_add(&world->profile, &batch, seq), 0);
}

static void how_stacks_ended_is_one_line_and_why_some_are_short(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  add_ending(&world, "", MARK_ENDS_TOLD, 1);
  add_ending(&world, "", 0, 2);
  add_ending(&world, "[truncated]", MARK_ENDS_TOLD, 3);
  add_ending(&world, "[no table]", 0, 4);
  const char *text = print(&world, false);
  assert_says(text, "stacks: 25.0 % complete, 25.0 % truncated, 25.0 % no table, 25.0 % not told\n"
                    "  not told: nobody can say");
  assert_says(text, "\n  truncated: cut before the first function");
  assert_says(text, "--sampler timer copies nothing");
  assert_says(text,
              "\n  no table: ended in code without frame pointers, whose unwind table was not "
              "made in time (what helps: a longer run");
  assert_says(text,
              "  25.0 % end in tool, which has no unwind table that was made in time, or none");
  assert_null(strstr(text, "[truncated]")); /* no row */
  assert_int_equal(world.tree.total_weight, 400);
  end(&world);
}

static void stacks_of_which_nothing_is_known_are_told_and_lone_addresses_are_not(void **state) {
  struct world world;
  (void)state;
  begin(&world);
  add(&world, "/bin/tool", 100, 400); /* a PC alone */
  assert_null(strstr(print(&world, false), "stacks"));
  add_ending(&world, "", 0, 1);
  assert_says(print(&world, false), "stacks: 100.0 % not told\n  not told: nobody can say");
  assert_int_equal(world.tree.stacks_weight[STACK_UNTOLD], 100);
  end(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_says_which_change_would_not_have_been_seen),
      cmocka_unit_test(a_unit_that_the_user_names_divides_the_whole_and_the_rows),
      cmocka_unit_test(a_row_of_a_named_unit_is_all_in_its_time),
      cmocka_unit_test(rows_that_look_alike_show_their_files),
      cmocka_unit_test(a_row_fits_the_terminal_and_is_whole_elsewhere),
      cmocka_unit_test(what_intervals_are_about_and_come_from_is_said),
      cmocka_unit_test(what_a_limit_leaves_out_is_said_in_weight_and_samples),
      cmocka_unit_test(how_stacks_ended_is_one_line_and_why_some_are_short),
      cmocka_unit_test(stacks_of_which_nothing_is_known_are_told_and_lone_addresses_are_not),
      cmocka_unit_test(what_clocks_told_is_weight_but_no_sample),
      cmocka_unit_test(weights_that_differ_are_told_and_widen_the_intervals),
      cmocka_unit_test(an_average_far_above_the_wish_is_no_rate),
      cmocka_unit_test(one_sample_is_one_sample),
      cmocka_unit_test(all_that_have_sampled_are_named_and_nobody_else),
      cmocka_unit_test(one_sampler_at_two_rates_has_none),
      cmocka_unit_test(why_nothing_was_sampled_is_said),
      cmocka_unit_test(processes_too_short_for_the_rate_are_told_what_helps),
      cmocka_unit_test(time_without_samples_has_the_remedy_of_its_sampler),
      cmocka_unit_test(rates_are_written_out),
      cmocka_unit_test(a_kernel_of_one_row_has_a_way_to_see_its_functions),
      cmocka_unit_test(a_colour_that_was_not_begun_is_not_ended),
      cmocka_unit_test(a_difference_is_headed_by_its_files),
      cmocka_unit_test(why_an_unclear_row_is_unclear_is_said_where_it_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
