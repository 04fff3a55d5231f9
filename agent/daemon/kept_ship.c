/* SPDX-License-Identifier: Apache-2.0 */
/* Exactly once, whenever the worker is killed:

      1. the window is closed, so that nothing else is pending
      2. the ring records the batch that will have its data: run and seq      (on disk)
      3. the batch is spooled and counted (shipper_ship_apart)
      4. the spool is synced; the file is deleted

   For a ring with that record, the spool shows whether the batch was ever appended.  If so, the
   data is shipped and only step 4 is left, else it is shipped now.  Nothing is sent between 3 and
   4, so the spool can answer.

   A histogram is also shipped while its program lives, with a record in its journal
   (histogram_books.h).  After a crash of the machine it is unknown whether that batch was sent;
   data that may have been shipped is not shipped again.

   Files are read by pread: an unreadable disk block is an error here and not a SIGBUS.  An
   unreadable file is counted as one bad record and removed.

   A file is abandoned if no process has it mapped: the program, or a child that it forked, might
   still write to it.  The kernel reports a user of the file by refusing a lease. */
#include "kept_ship.h"
#include "kept_files.h"

#include "common/clock.h"
#include "common/log.h"
#include "drain/postmortem.h"
#include "proc/proc_stat.h"
#include "proto/batch_codec.h"
#include "ring/histogram_books.h"
#include "ring/histogram_reader.h"
#include "ring/recorder_format.h"
#include "ring/wide.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_FIELD(field) (IMAGE_OFFSET + (off_t)offsetof(struct image_table, field))

static int read_all(int fd, void **ret, size_t *ret_size) {
  struct stat found;
  if (fstat(fd, &found) < 0) return -errno;
  uint64_t most = recorder_total_bytes(RING_SLOTS_MAX, RING_SLOT_BYTES_DEFAULT * 2);
  if (found.st_size < RECORDER_OFFSET || (uint64_t)found.st_size > most) return -EBADMSG;
  size_t size = (size_t)found.st_size, at = 0;
  uint8_t *bytes = malloc(size);
  if (bytes == NULL) return -ENOMEM;
  while (at < size) {
    ssize_t got = pread(fd, bytes + at, size - at, (off_t)at);
    if (got <= 0) {
      int error = got < 0 ? -errno : -EBADMSG;
      free(bytes);
      return error;
    }
    at += (size_t)got;
  }
  *ret = bytes;
  *ret_size = size;
  return 0;
}

static int write_note(const struct shipper *shipper, int fd) {
  const struct counter_page *page = shipper->drain->page;
  const uint64_t note[2] = {counter_page_books(page)->run, wide_load(&page->next_seq)};
  if (pwrite(fd, note, sizeof note, IMAGE_FIELD(shipped_run)) != (ssize_t)sizeof note) return -EIO;
  return fdatasync(fd) < 0 && errno != EINVAL ? -errno : 0; /* EINVAL: a memory file */
}

static int ship(struct shipper *shipper, int fd, struct batch *batch, struct kept_shipped *ret) {
  uint64_t weight_ns = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) weight_ns += batch->samples[i].weight;
  if (batch->sample_count == 0) return 0;
  int error = shipper_close_window(shipper, false);
  if (!error) error = write_note(shipper, fd);
  if (!error) error = shipper_ship_apart(shipper, batch);
  if (error) return error;
  spool_sync(shipper->spool, true);
  *ret = (struct kept_shipped){batch_record_count(batch), weight_ns};
  return 0;
}

int kept_ship(struct shipper *shipper, int fd, struct kept_shipped *ret) {
  struct arena arena;
  struct batch batch = {0};
  void *bytes = NULL;
  size_t size = 0;
  *ret = (struct kept_shipped){0, 0};
  int error = read_all(fd, &bytes, &size);
  if (error) return error;
  const struct image_table *image = image_table_of(bytes);
  bool is_shipped = shipper_has_spooled(shipper, image->shipped_run, image->shipped_seq);
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  if (!is_shipped) {
    error = postmortem_read(bytes, size, &arena, &batch);
    if (!error) error = ship(shipper, fd, &batch, ret);
  }
  arena_fini(&arena);
  free(bytes);
  return error;
}

/* The process that registered it is alive. */
static bool is_alive(int fd) {
  struct image_table *image = malloc(sizeof *image);
  struct proc_stat stat;
  bool is_found = false;
  if (image != NULL && pread(fd, image, sizeof *image, IMAGE_OFFSET) == (ssize_t)sizeof *image)
    is_found = proc_stat_read(image->pid, &stat) == 0 && !proc_stat_is_over(&stat) &&
               proc_ticks_to_ns(stat.start_ticks) == image->start_boottime_ns;
  free(image);
  return is_found;
}

/* A file without a live target. */
struct left {
  const struct kept_file *file;
  int fd;
  int is_free; /* result of kept_files_is_free before our own open */
};

/* A process may still write to it. */
static bool is_in_use(const struct left *left) {
  if (!left->file->is_this_boot) return false;
  return left->is_free < 0 ? is_alive(left->fd) : left->is_free == 0;
}

static void stamp(int fd) {
  const uint64_t now[2] = {clock_boottime_ns(), clock_walltime_ns()};
  if (pwrite(fd, now, sizeof now, IMAGE_FIELD(alive_boottime_ns)) != (ssize_t)sizeof now)
    log_debug("kept: no stamp");
}

/* Returns whether FILE is finished. */
static bool ship_file(struct shipper *shipper, const struct kept_file *file, int fd) {
  struct kept_shipped shipped;
  struct counter_page *page = shipper->drain->page;
  int error = kept_ship(shipper, fd, &shipped);
  if (error == 0) {
    log_info("kept %s: %llu samples shipped post mortem", file->name,
             (unsigned long long)shipped.records);
    return true;
  }
  log_warn("kept %s: %s: %s", file->name,
           error == -EBADMSG || error == -EPROTO ? "cannot be read and is removed" : "not shipped",
           error == -EPROTO ? "written by another version of the agent" : strerror(-error));
  if (error != -EBADMSG && error != -EPROTO) return false;
  counter_page_produce(page, 1);
  counter_page_drop(page, LOSS_BAD_RECORD, 1);
  return true;
}

void kept_ship_target(struct shipper *shipper, const char *state_dir, struct target *target) {
  struct kept_shipped shipped;
  struct counter_page *page = shipper->drain->page;
  uint64_t run = counter_page_books(page)->run;
  if (target->kept.is_shipped) return;
  int error = kept_ship(shipper, target->fds[0], &shipped);
  target->kept.is_shipped = true;
  target->records += shipped.records;
  target->weight_ns += shipped.weight_ns;
  if (shipped.records > 0) shipper_tell_batch(shipper);
  bool is_kept = target->held.is_file && error != -EBADMSG && error != -EPROTO;
  if (error) {
    log_warn("recorder of target %d: not shipped%s: %s", (int)target->held.pid,
             is_kept ? " yet" : "", strerror(-error));
    if (!is_kept) counter_page_produce(page, 1);
    if (!is_kept) counter_page_drop(page, LOSS_BAD_RECORD, 1);
  }
  if (target->held.is_file && !(error && is_kept)) kept_files_remove(state_dir, run, &target->held);
}

/* Returns whether the file is finished. */
typedef bool on_left(struct shipper *shipper, const struct left *left);

static void for_each_left(struct shipper *shipper, const char *state_dir, on_left *act) {
  struct kept_file *files = calloc(KEPT_FILES_MAX, sizeof *files);
  int count = files != NULL ? kept_files_list(state_dir, files) : 0;
  uint64_t run = counter_page_books(shipper->drain->page)->run;
  for (int i = 0; i < count; i++) {
    if (files[i].run == run && targets_find(shipper->drain->targets, files[i].id) != NULL) continue;
    struct left left = {.file = &files[i], .is_free = kept_files_is_free(state_dir, &files[i])};
    left.fd = kept_files_open(state_dir, &files[i]);
    if (left.fd < 0) continue;
    bool is_done = act(shipper, &left);
    close(left.fd);
    if (is_done) kept_files_unlink(state_dir, &files[i]);
  }
  free(files);
}

static bool ship_unless_used(struct shipper *shipper, const struct left *left) {
  if (!is_in_use(left)) return ship_file(shipper, left->file, left->fd);
  stamp(left->fd);
  return false;
}

void kept_ship_left(struct shipper *shipper, const char *state_dir) {
  for_each_left(shipper, state_dir, ship_unless_used);
}

/* The accounting of the histogram in BYTES.  False if it is inconsistent. */
static bool find_books(void *bytes, size_t size, struct histogram_books *ret) {
  struct histogram_reader *histogram = calloc(1, sizeof *histogram);
  bool is_good = histogram != NULL && histogram_reader_open(histogram, bytes, size, true) == 0 &&
                 histogram_reader_is_shipped(histogram);
  if (is_good) {
    const struct histogram_shape shape = {.counter_bytes = histogram->counter_bytes,
                                          .bin_count = histogram->bin_count};
    histogram_books_open(ret, bytes, &shape);
  }
  free(histogram);
  return is_good;
}

static bool write_part(int fd, const uint8_t *bytes, size_t begin, size_t end) {
  return pwrite(fd, bytes + begin, end - begin, (off_t)begin) == (ssize_t)(end - begin);
}

/* Excludes the handler's fields, because it may be active.  The journal is last: if this is
   interrupted, the journal is still complete. */
static void write_books(int fd, const uint8_t *bytes, const struct histogram_books *books) {
  size_t rests = HISTOGRAM_OFFSET + offsetof(struct histogram_header, taken_rest);
  size_t taken = (size_t)(books->taken - bytes);
  size_t behind = (size_t)((const uint8_t *)(books->journal + 1) - bytes);
  bool is_written = write_part(fd, bytes, rests, HISTOGRAM_OFFSET + sizeof *books->header) &&
                    write_part(fd, bytes, taken, behind);
  if (!is_written || (fdatasync(fd) < 0 && errno != EINVAL)) log_warn("kept: books not written");
}

/* Clears the record of a batch that was announced and never appended: its number will be reused. */
static void settle_image(const struct shipper *shipper, const struct left *left) {
  uint64_t note[2];
  if (pread(left->fd, note, sizeof note, IMAGE_FIELD(shipped_run)) != (ssize_t)sizeof note) return;
  if (note[0] == 0 || shipper_has_spooled(shipper, note[0], note[1])) return;
  note[0] = note[1] = 0;
  if (pwrite(left->fd, note, sizeof note, IMAGE_FIELD(shipped_run)) != (ssize_t)sizeof note)
    log_warn("kept %s: note not written", left->file->name);
}

static bool settle(struct shipper *shipper, const struct left *left) {
  void *bytes;
  size_t size;
  struct histogram_books books;
  settle_image(shipper, left);
  if (left->file->collect != RING_HISTOGRAM || read_all(left->fd, &bytes, &size) < 0) return false;
  if (find_books(bytes, size, &books)) {
    struct histogram_note note = histogram_books_note(&books);
    bool is_known = note.run == 0 || left->file->is_this_boot;
    histogram_books_settle(&books, !is_known || shipper_has_spooled(shipper, note.run, note.seq));
    if (note.run != 0) write_books(left->fd, bytes, &books);
  }
  free(bytes);
  return false;
}

void kept_ship_settle(struct shipper *shipper, const char *state_dir) {
  for_each_left(shipper, state_dir, settle);
}
