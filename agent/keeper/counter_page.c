/* SPDX-License-Identifier: Apache-2.0 */
/* Two copies of the counters and a selector.  A change is written into the copy that is not
   current, and takes effect by one store of `current`.  kill -9 cannot tear a store, so the next
   reader sees the counters before or after the change and never in between.  Only one process
   writes at a time (the live worker; the supervisor writes before the first worker and after the
   last), so there are no locks.  The file is an ordinary file: the page cache outlives the
   processes.  The batches' own cumulative counters, not this page, cover a power cut.

   A run that could not end leaves its page.  The next run sets it aside before it starts its own.
   So no page is lost if several daemons die in sequence, each before it has closed the previous
   run's counters: PATH.old.0 to PATH.old.15, each removed by the worker that has closed it.

   Rings are not handled here: drain.c compares a ring's tail with a pending drain. */
#include "counter_page.h"

#include "common/clock.h"
#include "common/log.h"
#include "ring/wide.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_page_valid(const struct counter_page *page) {
  return page->magic == COUNTER_PAGE_MAGIC && page->version == COUNTER_PAGE_VERSION &&
         atomic_load(&page->current) <= 1;
}

static void page_begin(struct counter_page *page, uint64_t run) {
  memset(page, 0, COUNTER_PAGE_BYTES);
  page->books[0].run = run;
  clock_boot_id(page->boot_id);
  wide_store(&page->next_seq, 1);
  page->version = COUNTER_PAGE_VERSION;
  page->magic = COUNTER_PAGE_MAGIC;
}

void counter_page_close(struct counter_page *page) {
  if (page != NULL) munmap(page, COUNTER_PAGE_BYTES);
}

const struct counters *counter_page_books(const struct counter_page *page) {
  return &page->books[atomic_load_explicit(&page->current, memory_order_acquire) & 1];
}

/* The copy that is not current, filled with the current values. */
static struct counters *books_draft(struct counter_page *page) {
  uint32_t current = atomic_load_explicit(&page->current, memory_order_acquire) & 1;
  page->books[!current] = page->books[current];
  return &page->books[!current];
}

static void books_switch(struct counter_page *page) {
  uint32_t current = atomic_load_explicit(&page->current, memory_order_relaxed) & 1;
  atomic_store_explicit(&page->current, !current, memory_order_release);
}

void counter_page_prepare(struct counter_page *page, const struct counter_drain *drain,
                          const struct counters *after) {
  uint32_t current = atomic_load_explicit(&page->current, memory_order_relaxed) & 1;
  page->books[!current] = *after;
  page->pending_ring = drain->ring;
  page->pending_slot = drain->slot;
  page->pending_tail = drain->tail;
  page->pending_full = drain->counted_full;
  page->pending_reentry = drain->counted_reentry;
  atomic_store_explicit(&page->pending, 1, memory_order_release);
}

/* A kill between the two stores leaves a drain that is both pending and done.  A second toggle
   would return to the old counters, so the marker has the target copy: pending is 2 + the intended
   value of current during the switch, which is then idempotent. */
void counter_page_commit(struct counter_page *page) {
  uint32_t pending = atomic_load_explicit(&page->pending, memory_order_relaxed);
  if (pending < 2) {
    pending = 2 + !(atomic_load_explicit(&page->current, memory_order_relaxed) & 1);
    atomic_store_explicit(&page->pending, pending, memory_order_release);
  }
  atomic_store_explicit(&page->current, pending - 2, memory_order_release);
  atomic_store_explicit(&page->pending, 0, memory_order_release);
}

bool counter_page_has_pending(const struct counter_page *page, struct counter_drain *ret) {
  if (atomic_load_explicit(&page->pending, memory_order_acquire) == 0) return false;
  *ret = (struct counter_drain){.ring = page->pending_ring,
                                .slot = page->pending_slot,
                                .tail = page->pending_tail,
                                .counted_full = page->pending_full,
                                .counted_reentry = page->pending_reentry};
  return true;
}

/* From pending >= 2 on a drain cannot be forgotten: it is finished. */
void counter_page_forget(struct counter_page *page) {
  if (atomic_load_explicit(&page->pending, memory_order_acquire) >= 2) {
    counter_page_commit(page);
    return;
  }
  atomic_store_explicit(&page->pending, 0, memory_order_release);
}

void counter_page_produce(struct counter_page *page, uint64_t records) {
  books_draft(page)->produced += records;
  books_switch(page);
}

/* The seq changes after the counters: a kill in between leaves an empty open window, and the next
   worker finds the seq used and ships the empty window again. */
void counter_page_ship(struct counter_page *page, uint64_t shipped) {
  books_draft(page)->shipped += shipped;
  books_switch(page);
  wide_store(&page->next_seq, wide_peek(&page->next_seq) + 1);
}

void counter_page_drop(struct counter_page *page, enum loss_reason reason, uint64_t records) {
  books_draft(page)->dropped[reason] += records;
  books_switch(page);
}

void counter_page_unship(struct counter_page *page, enum loss_reason reason, uint64_t records) {
  struct counters *draft = books_draft(page);
  if (records > draft->shipped) records = draft->shipped;
  draft->shipped -= records;
  draft->dropped[reason] += records;
  books_switch(page);
}

void counter_page_end_run(struct counter_page *page) {
  books_draft(page)->final = 1;
  books_switch(page);
}

/* Maps PATH, which is created if it is missing and FLAGS has O_CREAT. */
static int page_map(const char *path, int flags, struct counter_page **ret) {
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (fd < 0) return -errno;
  void *map = MAP_FAILED;
  int error = 0;
  if (ftruncate(fd, COUNTER_PAGE_BYTES) < 0 || (error = posix_fallocate(fd, 0, COUNTER_PAGE_BYTES)))
    error = error ? error : errno;
  else if ((map = mmap(NULL, COUNTER_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
           MAP_FAILED)
    error = errno;
  close(fd);
  if (error) return -error;
  *ret = map;
  return 0;
}

static bool old_path(const char *path, unsigned index, char ret[PATH_MAX]) {
  int len = snprintf(ret, PATH_MAX, "%s.old.%u", path, index);
  return len > 0 && len < PATH_MAX;
}

/* True if another run has to close PAGE's run. */
static bool is_unclosed(const struct counter_page *page) {
  if (!is_page_valid(page)) return false;
  const struct counters *books = counter_page_books(page);
  return books->run != 0 && books->produced > 0 && !books->final;
}

/* Uses the first free name; if there is none, the last is overwritten. */
static int put_aside(const char *path) {
  char old[PATH_MAX];
  unsigned index = 0;
  for (; index < COUNTER_PAGE_OLD_MAX; index++) {
    if (!old_path(path, index, old)) return -ENAMETOOLONG;
    if (access(old, F_OK) < 0 && errno == ENOENT) break;
  }
  if (index == COUNTER_PAGE_OLD_MAX)
    log_warn("books %s: %d runs wait to be closed; the last of them is given up", path, index);
  return rename(path, old) < 0 ? -errno : 0;
}

int counter_page_open(const char *path, uint64_t run, struct counter_page **ret) {
  struct counter_page *page;
  int error = page_map(path, O_CREAT, &page);
  if (error) return error;
  if (is_unclosed(page)) {
    counter_page_close(page);
    error = put_aside(path);
    if (!error) error = page_map(path, O_CREAT, &page);
    if (error) return error;
  }
  page_begin(page, run);
  *ret = page;
  return 0;
}

int counter_page_open_old(const char *path, unsigned index, struct counter_page **ret) {
  char old[PATH_MAX];
  struct counter_page *page;
  if (!old_path(path, index, old)) return -ENAMETOOLONG;
  int error = page_map(old, 0, &page);
  if (error) return error;
  if (!is_unclosed(page)) {
    counter_page_close(page);
    return -EBADMSG;
  }
  *ret = page;
  return 0;
}

void counter_page_remove_old(const char *path, unsigned index) {
  char old[PATH_MAX];
  if (old_path(path, index, old)) unlink(old);
}

uint64_t counters_open(const struct counters *books) {
  uint64_t closed = books->shipped + loss_total(books);
  return books->produced > closed ? books->produced - closed : 0;
}
