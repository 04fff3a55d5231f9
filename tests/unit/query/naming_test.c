/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a tree come from a real file, this test's own executable, through the real symbolizer:
   and only for the board that sent it. */
#include "fixture.h"

#include "names/symbolizer.h"

#include <link.h>
#include <openssl/evp.h>

/* Never called: samples claim to have been taken in it. */
__attribute__((noinline, used)) void a_function_to_be_named(void);
void a_function_to_be_named(void) {
  __asm__ volatile("nop; nop; nop; nop");
}

struct own_file {
  uint64_t load_address;
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  size_t build_id_len;
};

/* Finds the GNU build-id note of the first object, which is the program. */
static int read_own_notes(struct dl_phdr_info *object, size_t size, void *context) {
  struct own_file *own = context;
  (void)size;
  own->load_address = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_NOTE) continue;
    const uint8_t *at = (const uint8_t *)(object->dlpi_addr + segment->p_vaddr);
    const uint8_t *end = at + segment->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *note = (const void *)at;
      const uint8_t *name = at + sizeof *note, *desc = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= sizeof own->build_id) {
        memcpy(own->build_id, desc, note->n_descsz);
        own->build_id_len = note->n_descsz;
      }
      at = desc + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

static void send_own_file(struct debug_store *debug, const struct own_file *own) {
  uint8_t sha256[32];
  char why[256] = "";
  struct buf bytes = {0};
  FILE *file = fopen("/proc/self/exe", "rb");
  assert_non_null(file);
  for (size_t got = 1; got > 0; bytes.len += got) {
    uint8_t *room = buf_reserve(&bytes, 65536);
    assert_non_null(room);
    got = fread(room, 1, 65536, file);
  }
  fclose(file);
  assert_int_equal(EVP_Digest(bytes.data, bytes.len, sha256, NULL, EVP_sha256(), NULL), 1);
  for (size_t at = 0; at < bytes.len; at += LIMIT_DEBUG_CHUNK_BYTES) {
    size_t left = bytes.len - at;
    struct debug_piece piece = {.board = "b1",
                                .id = span_of(own->build_id, own->build_id_len),
                                .offset = at,
                                .total = bytes.len,
                                .sha256 = span_of(sha256, sizeof sha256),
                                .bytes = span_of(bytes.data + at, left < LIMIT_DEBUG_CHUNK_BYTES
                                                                      ? left
                                                                      : LIMIT_DEBUG_CHUNK_BYTES)};
    if (debug_store_write(debug, &piece, why, sizeof why) < 0) fail_msg("%s", why);
  }
  buf_fini(&bytes);
}

static void append_sample(struct store *store, const char *board, const struct own_file *own) {
  uint64_t address = (uint64_t)(uintptr_t)a_function_to_be_named - own->load_address;
  const uint64_t frames[][2] = {{0, address}, {0, address + 2}, {0, 0xffffffffffff}};
  struct window window;
  window_init(&window, "own", 1);
  window.modules[0].id = span_of(own->build_id, own->build_id_len);
  window_add(&window, frames, 3, 1, 10);
  window_append(&window, store, board, 1, NOON_MS);
}

/* Weight that passes through NAME's outermost node. */
static uint64_t weight_of(const struct query_source *source, struct arena *arena, const char *match,
                          const char *name) {
  struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct selector *selector = NULL;
  struct view_tree tree;
  char why[128];
  assert_int_equal(selector_parse(match, &selector, why, sizeof why), 0);
  range.selector = selector;
  assert_int_equal(query_tree(source, &range, arena, &tree), 0);
  selector_free(selector);
  for (uint32_t i = 0; i < tree.node_count; i++)
    if (strcmp(tree.functions[tree.nodes[i].function].name, name) == 0)
      return tree.nodes[i].total_weight;
  return 0;
}

/* How good what named NAME is. */
static const char *quality_of(const struct query_source *source, struct arena *arena,
                              const char *name) {
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  assert_int_equal(query_tree(source, &range, arena, &tree), 0);
  for (uint32_t i = 1; i < tree.function_count; i++)
    if (strcmp(tree.functions[i].name, name) == 0) return tree.functions[i].quality;
  return "";
}

static void a_file_names_the_samples_of_the_board_that_sent_it(void **state) {
  (void)state;
  char dir[] = "/tmp/naming_test.XXXXXX", error[256] = "";
  const char *name = "a_function_to_be_named";
  struct debug_store *debug = NULL;
  struct query_source source = {0};
  struct own_file own = {0};
  struct arena arena;
  dl_iterate_phdr(read_own_notes, &own);
  if (own.build_id_len == 0) skip(); /* linked without one */
  assert_non_null(mkdtemp(dir));
  if (debug_store_open(dir, &debug, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(debug, &source.symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
  if (store_open(dir, &source.store, error, sizeof error) != 0) fail_msg("%s", error);
  arena_init(&arena, 64 << 20);
  append_sample(source.store, "b1", &own);
  append_sample(source.store, "b2", &own);
  assert_int_equal(weight_of(&source, &arena, "", name), 0);
  send_own_file(debug, &own);
  struct span id = span_of(own.build_id, own.build_id_len);
  assert_int_equal(symbolizer_prepare(source.symbolizer, "b1", id), 0);
  assert_int_equal(weight_of(&source, &arena, "{board=\"b1\"}", name), 10);
  assert_true(symbolizer_settle(source.symbolizer, 20000));
  assert_string_equal(quality_of(&source, &arena, name), "dwarf");
  assert_string_equal(quality_of(&source, &arena, "tool+0xffffffffffff"), "none");
  assert_int_equal(weight_of(&source, &arena, "{board=\"b1\"}", "tool+0xffffffffffff"), 10);
  assert_int_equal(weight_of(&source, &arena, "{board=\"b2\"}", name), 0);
  assert_int_equal(weight_of(&source, &arena, "", name), 10);
  store_close(source.store);
  symbolizer_close(source.symbolizer);
  debug_store_close(debug);
  arena_fini(&arena);
  remove_dir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_names_the_samples_of_the_board_that_sent_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
