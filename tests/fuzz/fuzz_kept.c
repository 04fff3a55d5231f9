/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder's or histogram's file left in the state directory, with arbitrary changes and any
   length. The next daemon ships or rejects it and deletes it. The counters add up and match the
   spool.

     input: flags (1 byte: histogram, of another boot), bytes cut off the end (2 bytes), patches.h
 */
#include "daemon/kept_ship.h"
#include "kept_rings.h"
#include "patches.h"

#include "common/log.h"

#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { IS_HISTOGRAM = 1, IS_OLD_BOOT = 2, RUN = 99 };

static char dir[] = "/tmp/fuzz-kept.XXXXXX";
static struct counter_page *page;
static struct targets targets;
static struct perf_rings no_perf;
static struct drain drain;
static struct shipper shipper;

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
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
  char path[KEPT_RINGS_PATH_BYTES];
  struct modules *modules;
  struct processes *processes;
  struct window *window;
  const struct spool_limits limits = {4 << 20, 1 << 20, 3600000000000ULL, 0};
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
  static const uint8_t old_boot[16];
  const struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
  char path[KEPT_RINGS_PATH_BYTES];
  size_t size;
  if (len < 3) return 0;
  if (page == NULL) open_pipeline();
  const struct histogram_note note = {RUN, atomic_load(&page->next_seq)};
  uint8_t *ring = kept_rings_make(data[0] & IS_HISTOGRAM, note, &terms, &size);
  size_t cut = (size_t)data[1] | (size_t)data[2] << 8;
  patches_apply(ring, size, data + 3, len - 3);
  image_table_of(ring)->pid = KEPT_RINGS_NOBODY; /* otherwise it may be the pid of a live process */
  kept_rings_path(dir, data[0] & IS_OLD_BOOT ? old_boot : NULL, data[0] & IS_HISTOGRAM, path);
  close(kept_rings_leave(path, ring, size - cut % size));
  free(ring);
  uint64_t shipped = counter_page_books(page)->shipped;
  kept_ship_settle(&shipper, dir);
  kept_ship_left(&shipper, dir);
  check(path, shipped);
  return 0;
}
