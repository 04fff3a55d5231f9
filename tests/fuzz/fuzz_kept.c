/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was left in the state directory, a recorder's or a histogram's, with anything changed
   in it and of any length: the next daemon settles it, ships it or refuses it, and takes it away;
   the books add up, and the spool has what they say.

     input: flags (1 byte: histogram, of another boot), bytes cut off the end (2 bytes), patches.h
 */
#include "daemon/kept_ship.h"
#include "patches.h"

#include "common/clock.h"
#include "common/log.h"
#include "ring/histogram_books.h"
#include "ring/image_table.h"
#include "ring/recorder_format.h"
#include "ring/recorder_writer.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SLOTS = 2, SLOT_BYTES = 128, TEXT_BYTES = 2048, IS_HISTOGRAM = 1, IS_OLD_BOOT = 2 };
enum { PATH_BYTES = 160, RUN = 99 };

static const uint64_t text = 0x400000;
static char dir[] = "/tmp/fuzz-kept.XXXXXX";
static struct counter_page *page;
static struct targets targets;
static struct perf_rings no_perf;
static struct drain drain;
static struct shipper shipper;

static void on_file(void *context, struct span id, const char *path, const char *open_path) {
  (void)context, (void)id, (void)path, (void)open_path;
}

static void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  (void)context, (void)run;
  counter_page_unship(page, reason, records);
}

static void clean_up(void) {
  char command[64];
  spool_close(shipper.spool);
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  if (system(command) != 0) abort();
}

static void open_pipeline(void) {
  log_set_level(LOG_LEVEL_ERROR);
  char path[PATH_BYTES];
  struct modules *modules;
  struct processes *processes;
  struct window *window;
  const struct spool_limits limits = {4 << 20, 1 << 20, 3600000000000ULL};
  if (mkdtemp(dir) == NULL || modules_new(on_file, NULL, &modules) != 0 ||
      processes_new(modules, &processes) != 0 || window_new(modules, &window) != 0)
    abort();
  snprintf(path, sizeof path, "%s/books", dir);
  if (counter_page_open(path, RUN, &page) != 0) abort();
  drain = (struct drain){.page = page,
                         .targets = &targets,
                         .processes = processes,
                         .modules = modules,
                         .window = window,
                         .perf = &no_perf};
  snprintf(path, sizeof path, "%s/spool", dir);
  if (drain_init(&drain) != 0 || spool_open(path, &limits, on_loss, NULL, &shipper.spool) != 0)
    abort();
  shipper.drain = &drain;
  snprintf(path, sizeof path, "%s/kept", dir);
  if (mkdir(path, 0700) != 0) abort();
  atexit(clean_up);
}

static void make_image(uint8_t *ring) {
  struct image_table *image = image_table_of(ring);
  image->region_count = image->module_count = 1;
  image->regions[0] = (struct image_region){text, text + TEXT_BYTES, 0x1000, 0, 0, 0};
  image->modules[0].id_len = 20;
  memcpy(image->modules[0].path, "/usr/bin/x", 11);
  memcpy(image->service, "x", 2);
  image->pid = 0x3fffffff;
  image->alive_boottime_ns = image->alive_walltime_ns = 1ULL << 50;
}

static void make_recorder(uint8_t *ring, const struct ring_terms *terms) {
  struct ring_reader daemon = {
      .base = ring, .slot_count = SLOTS, .slot_bytes = SLOT_BYTES, .collect = RING_RECORDER};
  ring_init(&daemon, terms);
  for (uint32_t i = 0; i < SLOTS; i++) {
    uint64_t at = RECORDER_OFFSET + i * (uint64_t)(RING_SLOT_HEADER_BYTES + SLOT_BYTES);
    struct ring_slot *slot = (struct ring_slot *)(void *)(ring + at);
    uint32_t place = 0;
    slot->owner = ring_owner(77, i + 1);
    for (uint64_t pc = text; pc < text + 20 + 90 * i; pc += 5)
      recorder_writer_put(slot, SLOT_BYTES, 1ULL << RING_PAIR_PC_BITS | pc, &place);
  }
}

static void make_histogram(uint8_t *ring, size_t size, const struct histogram_shape *shape,
                           const struct ring_terms *terms) {
  struct ring_writer target;
  struct ring_terms told;
  struct histogram_books books;
  uint32_t hint = 0;
  histogram_init(ring, shape, terms);
  if (ring_writer_init(&target, &told, ring, size) != 0) abort();
  make_image(ring);
  for (uint64_t pc = text - 64; pc < text + TEXT_BYTES; pc += 48)
    histogram_writer_add(&target.histogram, pc, 3, &hint);
  histogram_books_open(&books, ring, shape);
  histogram_books_begin(&books, 1000);
  for (uint32_t bin = 0; bin < shape->bin_count; bin += 4) histogram_books_step(&books, bin, 1);
  histogram_books_sum_up(&books, (struct histogram_sum){9, 27});
  histogram_books_seal(&books, (struct histogram_note){RUN, atomic_load(&page->next_seq)});
}

static uint8_t *make(bool is_histogram, size_t *ret_size) {
  struct histogram_shape shape = {.counter_bytes = 2, .is_shipped = true};
  const struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
  histogram_shape_fit(&shape, TEXT_BYTES, 1);
  *ret_size =
      is_histogram ? histogram_total_bytes(&shape) : recorder_total_bytes(SLOTS, SLOT_BYTES);
  uint8_t *ring = calloc(1, *ret_size);
  if (ring == NULL) abort();
  if (is_histogram)
    make_histogram(ring, *ret_size, &shape, &terms);
  else
    make_recorder(ring, &terms);
  make_image(ring);
  return ring;
}

static void print_path(char path[PATH_BYTES], unsigned flags) {
  uint8_t boot[16] = {0};
  if (!(flags & IS_OLD_BOOT)) clock_boot_id(boot);
  int len = snprintf(path, PATH_BYTES, "%s/kept/", dir);
  for (unsigned i = 0; i < sizeof boot; i++)
    len += snprintf(path + len, PATH_BYTES - (size_t)len, "%02x", (unsigned)boot[i]);
  snprintf(path + len, PATH_BYTES - (size_t)len, "-%016x.7.%s", 5,
           flags & IS_HISTOGRAM ? "hist" : "rec");
}

static void leave(const char *path, const uint8_t *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) abort();
  close(fd);
}

static void check(const char *path, uint64_t shipped_before) {
  const struct counters *books = counter_page_books(page);
  struct spool_item item;
  uint64_t spooled = 0;
  if (access(path, F_OK) == 0) abort();
  if (books->produced != books->shipped + loss_total(books)) abort();
  while (spool_next(shipper.spool, &item) == 0) {
    spooled += item.records;
    spool_ack(shipper.spool, item.run, item.seq);
  }
  if (spooled != books->shipped - shipped_before) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  char path[PATH_BYTES];
  size_t size;
  if (len < 3) return 0;
  if (page == NULL) open_pipeline();
  uint8_t *ring = make(data[0] & IS_HISTOGRAM, &size);
  size_t cut = (size_t)data[1] | (size_t)data[2] << 8;
  patches_apply(ring, size, data + 3, len - 3);
  image_table_of(ring)->pid = 0x3fffffff; /* else it may be somebody's who lives */
  print_path(path, data[0]);
  leave(path, ring, size - cut % size);
  free(ring);
  uint64_t shipped = counter_page_books(page)->shipped;
  kept_ship_settle(&shipper, dir);
  kept_ship_left(&shipper, dir);
  check(path, shipped);
  return 0;
}
