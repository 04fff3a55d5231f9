/* SPDX-License-Identifier: Apache-2.0 */
/* C++ functions local to a file have no linkage name, and many have the same name: each is named by
   its scope, inlined or not. */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

enum { CODE_BYTES_MAX = 8192 };

/* GCC counts lambdas of a function together, and from 14 on those of each signature. */
#if __GNUC__ < 14
#define SECOND "#2"
#define THIRD "#3"
#else
#define SECOND "#1"
#define THIRD "#1"
#endif
#define SPOON "plant::stir(long)::Spoon const&"
#define LAMBDA_OF_SPOON "plant::stir(long)::{lambda(long, " SPOON ")" SECOND "}"

static const char source[] =
    "#define OUT __attribute__((noinline))\n"
    "#ifndef IN\n"
    "#define IN __attribute__((always_inline))\n"
    "#endif\n"
    "namespace alpha { namespace {\n"
    "struct Stage { int n; OUT int step(int x) { return x * 31 / (n + 1); }\n"
    "               IN int turn(int x) { return x * 7 % (n + 3); } };\n"
    "} int go(int x) { Stage s{x}; return s.step(x) + s.turn(x); } }\n"
    "namespace beta { namespace {\n"
    "struct Stage { int n; OUT int step(int x) { return x * 37 / (n + 5); } };\n"
    "} int go(int x) { Stage s{x}; return s.step(x); } }\n"
    "namespace plant {\n"
    "int stir(int x) {\n"
    "  auto f = [&](int y) OUT { return y * x / 3; };\n"
    "  auto g = [&](int y) IN { return y * x / 5; };\n"
    "  return f(x) + g(x);\n"
    "} }\n"
    "namespace plant {\n"
    "int stir(long x) {\n"
    "  struct Spoon { int n; IN int lift(const char *const *y) const { return y[n][0] / 23; } };\n"
    "  struct { int n; IN int hold(unsigned long y) { return n / int(y + 29); } } hand{3};\n"
    "  const char *words = \"x\";\n"
    "  auto f = [=](int y) mutable IN { return y * ++x / 13; };\n"
    "  { auto g = [&](long y, const Spoon &s) IN { return y * s.n / 17; };\n"
    "    auto h = [&](auto y) IN { return y * x / 19; };\n"
    "    Spoon s{7};\n"
    "    return f(5) + g(x, s) + h(x) + s.lift(&words) + hand.hold(x); }\n"
    "} }\n"
    "static OUT int count(int x) { return x * x / 11; }\n"
    "int all(int x) { return alpha::go(x) + beta::go(x) + plant::stir(x) +\n"
    "                         plant::stir(7L) + count(x); }\n";

/* Every name that the index of PATH has for any address, a line each. */
static void list_names(const char *path, struct buf *ret) {
  struct span file = fixture_read(path);
  struct buf bytes = {0};
  struct index_summary summary;
  struct symbol_index index;
  char why[256];
  assert_int_equal(index_builder_build(file, INDEX_ALL, &bytes, &summary, why, sizeof why), 0);
  assert_true(summary.is_from_dwarf);
  assert_int_equal(symbol_index_parse(buf_span(&bytes), &index), 0);
  uint64_t start = index.blocks[0].address;
  buf_append_byte(ret, '\n');
  for (uint64_t at = start; at < start + CODE_BYTES_MAX; at++) {
    struct symbol_frame frames[SYMBOL_CHAIN_MAX];
    int count = symbol_index_chain(&index, at, frames);
    for (int i = 0; i < count; i++) {
      buf_append(ret, frames[i].name, strlen(frames[i].name));
      buf_append_byte(ret, '\n');
    }
  }
  buf_append_byte(ret, '\0');
  assert_false(ret->failed);
  symbol_index_fini(&index);
  buf_fini(&bytes);
  fixture_free(file);
}

static bool has_name(const struct buf *names, const char *name) {
  char line[256];
  snprintf(line, sizeof line, "\n%s\n", name);
  return strstr((const char *)names->data, line) != NULL;
}

static void expect_names(const char *path, const char *const *expected) {
  struct buf names = {0};
  list_names(path, &names);
  for (; *expected != NULL; expected++)
    if (!has_name(&names, *expected)) fail_msg("%s has no %s:%s", path, *expected, names.data);
  assert_false(has_name(&names, "step"));
  assert_false(has_name(&names, "turn"));
  assert_false(has_name(&names, "operator()"));
  buf_fini(&names);
}

static void compile(const char *options) {
  fixture_run("g++ -O2 -g %s -fPIC -shared -nostdlib -o scopes.so scopes.cc", options);
}

static void a_function_is_called_by_its_symbol(void **state) {
  (void)state;
  static const char *const expected[] = {"alpha::(anonymous namespace)::Stage::step(int)",
                                         "beta::(anonymous namespace)::Stage::step(int)",
                                         "alpha::go(int)",
                                         "plant::stir(int)::{lambda(int)#1}::operator()(int) const",
                                         "count(int)",
                                         NULL};
  compile("");
  expect_names("scopes.so", expected);
}

static void one_that_is_nowhere_but_inlined_is_called_by_what_is_around_it(void **state) {
  (void)state;
  static const char *const expected[] = {"alpha::(anonymous namespace)::Stage::turn(int)",
                                         "plant::stir(int)::{lambda(int)#2}::operator()(int) const",
                                         "plant::stir(long)::Spoon::lift(char const* const*) const",
                                         "plant::stir(long)::{unnamed type#1}::hold(unsigned long)",
                                         "plant::stir(long)::{lambda(int)#1}::operator()(int)",
                                         LAMBDA_OF_SPOON "::operator()(long, " SPOON ") const",
                                         NULL};
  compile("");
  expect_names("scopes.so", expected);
  compile("-gdwarf-4");
  expect_names("scopes.so", expected);
}

/* A function known only from debug information in one build is a symbol in the other. */
static void it_is_called_so_where_it_is_not_inlined_too(void **state) {
  (void)state;
  static const char *const expected[] = {"alpha::(anonymous namespace)::Stage::turn(int)",
                                         "plant::stir(int)::{lambda(int)#2}::operator()(int) const",
                                         "plant::stir(long)::Spoon::lift(char const* const*) const",
                                         "plant::stir(long)::{unnamed type#1}::hold(unsigned long)",
                                         "plant::stir(long)::{lambda(int)#1}::operator()(int)",
                                         LAMBDA_OF_SPOON "::operator()(long, " SPOON ") const",
                                         NULL};
  compile("-D'IN=__attribute__((noipa))'");
  fixture_run("nm -C scopes.so | grep -qF 'stir(int)::{lambda(int)#2}::operator()(int) const' && "
              "nm -C scopes.so | grep -qF 'turn(int)'");
  expect_names("scopes.so", expected);
}

/* The forms of template arguments that compilers share. */
static const char templates[] =
    "#define IN __attribute__((INLINED))\n"
    "namespace {\n"
    "enum class Mode { fast, slow };\n"
    "template <class T> struct Box { T t; template <class U> IN int put(U u) { return t + u * 3; } "
    "};\n"
    "template <class F> IN int apply(F f, int x) { return f(x) * 7; }\n"
    "template <class T, int N> IN int scale(const T &t) { return t.n * N; }\n"
    "template <Mode M, bool B> IN int mode(int x) { return M == Mode::fast ? x * 3 : x * 5 + B; }\n"
    "template <class... A> IN int sum(A... a) { return (int(a) + ... + 0) * 9; }\n"
    "template <template <class> class C> IN int wrapped(int x) { return x * int(sizeof(C<int>)); "
    "}\n"
    "}\n"
    "int one(int x) {\n"
    "  struct Local { int n; } local{x};\n"
    "  auto f = [=](int y) IN { return y * x / 3; };\n"
    "  auto g = [=](int y) IN { return y * x / 5; };\n"
    "  Box<long> box{x};\n"
    "  return apply(f, x) + apply(g, x) + scale<Local, 3>(local) + mode<Mode::slow, true>(x) +\n"
    "         sum(x, 2L, 'c') + wrapped<Box>(x) + box.put(2.5f);\n"
    "}\n"
    "int two(int x) {\n"
    "  struct Local { int n; } local{x};\n"
    "  return scale<Local, 3>(local) + apply([=](int y) IN { return y / (x + 21); }, x + 9);\n"
    "}\n";

static void instances_of_a_template_are_told_apart(void **state) {
  (void)state;
#define HERE "(anonymous namespace)::"
  static const char *const expected[] = {
      "int " HERE "apply<one(int)::{lambda(int)#1}>(one(int)::{lambda(int)#1}, int)",
      "int " HERE "apply<one(int)::{lambda(int)#2}>(one(int)::{lambda(int)#2}, int)",
      "int " HERE "apply<two(int)::{lambda(int)#1}>(two(int)::{lambda(int)#1}, int)",
      "one(int)::{lambda(int)#1}::operator()(int) const",
      "int " HERE "scale<one(int)::Local, 3>(one(int)::Local const&)",
      "int " HERE "scale<two(int)::Local, 3>(two(int)::Local const&)",
      "int " HERE "mode<(" HERE "Mode)1, true>(int)",
      "int " HERE "sum<int, long, char>(int, long, char)",
      "int " HERE "Box<long>::put<float>(float)",
      NULL};
  static const char *const ways[] = {"always_inline", "noipa"};
  fixture_write("templates.cpp", templates, sizeof templates - 1);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    fixture_run("g++ -std=c++17 -O2 -g -DINLINED=%s -fPIC -shared -nostdlib -o templates.so"
                " templates.cpp 2>/dev/null",
                ways[i]);
    expect_names("templates.so", expected);
  }
}

/* The type behind auto is in debug information, and the form in the source is derived from that. */
static const char generic[] =
    "#define IN __attribute__((INLINED))\n"
    "static volatile int sink;\n"
    "void plain(int x) { auto f = [](auto m) IN { sink = m * 3; }; f(x); f((unsigned char)x); }\n"
    "void refers(int x) { const int c = x; auto f = [](auto &m) IN { sink = m * 5; };\n"
    "                     f(x); f(c); }\n"
    "void any(int x) { auto f = [](auto &&m) IN { sink = m * 7; }; f(x); }\n"
    "void moved(int x) { auto f = [](auto &&m) IN { sink = m * 7; }; f(x + 1); }\n"
    "void more(int x) { auto f = [](const auto &m, long k, auto *p) IN { sink = m / k + *p; };\n"
    "                   f(x, x, &x); }\n"
    "void inner(int x) { auto f = [](auto m) IN {\n"
    "    auto g = [m](auto n) IN { sink = m / n; }; sink = m * 9; g('c'); };\n"
    "  f(x); }\n"
    "void twice(int x) { auto f = [](int a, auto b) IN { sink = a / (b + 11); }; f(x, x); }\n";

static void a_lambda_with_auto_is_called_as_its_source_has_it(void **state) {
  (void)state;
#define LAMBDA(AROUND, PARAMETERS) "auto " AROUND "::{lambda" PARAMETERS "#1}::operator()"
  static const char *const expected[] = {
      LAMBDA("plain(int)", "(auto:1)") "<int>(int) const",
      LAMBDA("plain(int)", "(auto:1)") "<unsigned char>(unsigned char) const",
      LAMBDA("refers(int)", "(auto:1&)") "<int const>(int const&) const",
      LAMBDA("any(int)", "(auto:1&&)") "<int&>(int&) const",
      LAMBDA("moved(int)", "(auto:1&&)") "<int>(int&&) const",
      LAMBDA("more(int)",
             "(auto:1 const&, long, auto:2*)") "<int, int>(int const&, long, int*) const",
      LAMBDA("inner(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
             "(auto:1)") "<char>(char) const",
      NULL};
  static const char *const ways[] = {"always_inline", "noipa"};
  fixture_write("generic.cpp", generic, sizeof generic - 1);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    fixture_run("g++ -std=c++17 -O2 -g -DINLINED=%s -fPIC -shared -nostdlib -o generic.so"
                " generic.cpp 2>/dev/null",
                ways[i]);
    expect_names("generic.so", expected);
  }
}

/* There are two ways to take an int by it: not even a guess. */
static void a_lambda_whose_auto_may_be_one_of_two_is_called_without_them(void **state) {
  (void)state;
  static const char *const expected[] = {
      "auto twice(int)::{lambda#1}::operator()<int>(int, int) const", NULL};
  fixture_write("generic.cpp", generic, sizeof generic - 1);
  fixture_run("g++ -std=c++17 -O2 -g -DINLINED=always_inline -fPIC -shared -nostdlib"
              " -o generic.so generic.cpp 2>/dev/null");
  expect_names("generic.so", expected);
}

static const char *const templates_of_lto[] = {
    "int " HERE "apply<one(int)::{lambda(int)#1}>(one(int)::{lambda(int)#1}, int)",
    "int " HERE "apply<one(int)::{lambda(int)#2}>(one(int)::{lambda(int)#2}, int)",
    "int " HERE "scale<one(int)::Local, 3>(one(int)::Local const&)",
    "int " HERE "Box<long>::put<float>(float)", NULL};

static void optimization_of_a_whole_program_changes_no_name(void **state) {
  (void)state;
  static const char *const expected[] = {"alpha::(anonymous namespace)::Stage::step(int)",
                                         "alpha::(anonymous namespace)::Stage::turn(int)",
                                         "beta::(anonymous namespace)::Stage::step(int)",
                                         "plant::stir(int)::{lambda(int)#1}::operator()(int) const",
                                         "plant::stir(int)::{lambda(int)#2}::operator()(int) const",
                                         "plant::stir(long)::Spoon::lift(char const* const*) const",
                                         NULL};
  compile("-flto");
  expect_names("scopes.so", expected);
  fixture_write("templates.cpp", templates, sizeof templates - 1);
  fixture_run("g++ -std=c++17 -O2 -g -flto -DINLINED=always_inline -fPIC -shared -nostdlib"
              " -o templates.so templates.cpp 2>/dev/null");
  expect_names("templates.so", templates_of_lto);
}

static void names_do_not_depend_on_the_order_of_units(void **state) {
  (void)state;
  fixture_write("templates.cpp", templates, sizeof templates - 1);
  fixture_run("g++ -std=c++17 -O2 -g -flto -DINLINED=always_inline -fPIC -c -o last.o"
              " templates.cpp 2>/dev/null && g++ -O2 -g -flto -fPIC -shared -nostdlib -save-temps"
              " -o last.so last.o && ld -shared -o last.so last*.debug.temp.o last*.ltrans.o &&"
              " readelf --debug-dump=info last.so 2>/dev/null | grep 'DW_AT_name.*[.]cpp$\\|"
              "<artificial>' | tail -n 1 | grep -q '<artificial>'");
  expect_names("last.so", templates_of_lto);
}

static void lines_above_it_change_no_name(void **state) {
  (void)state;
  struct buf before = {0}, after = {0};
  compile("");
  list_names("scopes.so", &before);
  fixture_run("sed '/^namespace plant/i // more\\n' scopes.cc >moved.cc && ! cmp -s *.cc && "
              "g++ -O2 -g -fPIC -shared -nostdlib -o moved.so moved.cc");
  list_names("moved.so", &after);
  assert_string_equal(before.data, after.data);
  buf_fini(&before);
  buf_fini(&after);
}

static void so_is_each_where_no_symbols_are_left(void **state) {
  (void)state;
  static const char *const expected[] = {"alpha::(anonymous namespace)::Stage::step(int)",
                                         "beta::(anonymous namespace)::Stage::step(int)",
                                         "alpha::(anonymous namespace)::Stage::turn(int)",
                                         "plant::stir(int)::{lambda(int)#1}::operator()(int) const",
                                         "plant::stir(int)::{lambda(int)#2}::operator()(int) const",
                                         "count",
                                         "alpha::go(int)",
                                         NULL};
  compile("");
  fixture_run("objcopy --strip-all --keep-section='.debug_*' scopes.so && "
              "! readelf -SW scopes.so | grep -q symtab");
  expect_names("scopes.so", expected);
}

/* The same code, marked as another edition of C++. */
static void every_edition_of_the_language_is_read_alike(void **state) {
  (void)state;
  static const unsigned editions[] = {0x04, 0x11, 0x19, 0x1a, 0x21, 0x2a, 0x2b, 0x3a, 0x30, 0x39};
  static const char *const expected[] = {"alpha::(anonymous namespace)::Stage::step(int)",
                                         "alpha::(anonymous namespace)::Stage::turn(int)",
                                         "beta::(anonymous namespace)::Stage::step(int)", NULL};
  fixture_run("g++ -O2 -g -gdwarf-5 -dA -fPIC -S -o plain.s scopes.cc && "
              "grep -q 'byte.*[^(]DW_AT_language' plain.s");
  for (size_t i = 0; i < sizeof editions / sizeof *editions; i++) {
    fixture_run(
        "sed 's/\\(byte.*\\)0x[0-9a-f]*\\(.*[^(]DW_AT_language\\)/\\10x%x\\2/' plain.s >of.s && "
        "g++ -shared -nostdlib -o scopes.so of.s",
        editions[i]);
    expect_names("scopes.so", expected);
  }
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  if (error == 0) fixture_write("scopes.cc", source, sizeof source - 1);
  return error;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_is_called_by_its_symbol),
      cmocka_unit_test(one_that_is_nowhere_but_inlined_is_called_by_what_is_around_it),
      cmocka_unit_test(it_is_called_so_where_it_is_not_inlined_too),
      cmocka_unit_test(instances_of_a_template_are_told_apart),
      cmocka_unit_test(a_lambda_with_auto_is_called_as_its_source_has_it),
      cmocka_unit_test(a_lambda_whose_auto_may_be_one_of_two_is_called_without_them),
      cmocka_unit_test(optimization_of_a_whole_program_changes_no_name),
      cmocka_unit_test(names_do_not_depend_on_the_order_of_units),
      cmocka_unit_test(lines_above_it_change_no_name),
      cmocka_unit_test(so_is_each_where_no_symbols_are_left),
      cmocka_unit_test(every_edition_of_the_language_is_read_alike),
  };
  return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
