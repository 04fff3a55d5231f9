/* SPDX-License-Identifier: Apache-2.0 */
/* Locked memory for perf is limited to 516 KiB for each CPU and user. So there is one ring for each
   CPU, and every target's event is redirected into it (SET_OUTPUT: same CPU, same clock). The ring
   belongs to an anchor, an event on the supervisor itself that never runs.

   Two facts are not in the manual. The kernel marks the mapping VM_DONTCOPY, so a forked worker
   does not inherit it and maps the descriptor again: the same pages, not counted twice. And when
   the last mapping of a ring is removed, the kernel detaches every event redirected into it. So the
   supervisor keeps its own mapping although it never reads it, and a dead worker has no effect.

   A record may wrap around the end of the data; it is copied in two pieces before it is read. */
#include "perf_ring.h"

#include "intake/cpu_list.h"
#include "intake/perf_attr.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t map_bytes(unsigned pages) {
  return (pages + 1U) * (size_t)sysconf(_SC_PAGESIZE);
}

int perf_ring_map(struct perf_ring *ring, unsigned pages) {
  void *map = mmap(NULL, map_bytes(pages), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
  if (map == MAP_FAILED) return -errno;
  ring->map = map;
  ring->data = (uint8_t *)map + sysconf(_SC_PAGESIZE);
  ring->data_bytes = map_bytes(pages) - (size_t)sysconf(_SC_PAGESIZE);
  return 0;
}

void perf_ring_unmap(struct perf_ring *ring, unsigned pages) {
  munmap(ring->map, map_bytes(pages));
  ring->map = NULL;
}

static void unmap_all(struct perf_rings *rings) {
  for (unsigned i = 0; i < rings->count; i++)
    if (rings->cpus[i].map != NULL) perf_ring_unmap(&rings->cpus[i], rings->pages);
}

static int map_all(struct perf_rings *rings) {
  for (unsigned i = 0; i < rings->count; i++) {
    int error = perf_ring_map(&rings->cpus[i], rings->pages);
    if (error) {
      unmap_all(rings);
      return error;
    }
  }
  return 0;
}

/* Root's rings are not limited. A user's rings first take perf_event_mlock_kb (516 KiB for each
   CPU), which other programs of that user need as well, then RLIMIT_MEMLOCK. */
static unsigned pages_wanted(unsigned cpus) {
  struct rlimit limit;
  if (geteuid() == 0) return PERF_RING_PAGES;
  bool is_roomy = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
                  limit.rlim_cur / map_bytes(PERF_RING_PAGES) >= cpus + 1U;
  return is_roomy ? PERF_RING_PAGES : PERF_RING_PAGES_USER;
}

static void give_up(struct perf_rings *rings, const char *what, int error) {
  const char *hint = error == -EACCES || error == -EPERM ? " (see kernel.perf_event_paranoid)" : "";
  perf_rings_close(rings);
  snprintf(rings->why, sizeof rings->why, "%s: %s%s", what, strerror(-error), hint);
}

void perf_rings_open(struct perf_rings *rings) {
  struct perf_event_attr attr;
  struct cpu_list online;
  memset(rings, 0, sizeof *rings);
  int error = cpu_list_online(&online);
  if (error) {
    give_up(rings, "the list of CPUs", error);
    return;
  }
  perf_attr_fill_anchor(&attr);
  for (unsigned i = 0; i < online.count && i < PERF_CPUS_MAX; i++) {
    int fd = perf_attr_open(&attr, 0, online.cpus[i]);
    if (fd < 0) {
      give_up(rings, "perf_event_open", fd);
      return;
    }
    rings->cpus[i] = (struct perf_ring){.fd = fd, .cpu = online.cpus[i]};
    rings->count = i + 1;
  }
  error = -EPERM;
  for (unsigned pages = pages_wanted(rings->count); error && pages >= PERF_RING_PAGES_MIN;
       pages /= 2) {
    rings->pages = pages;
    error = map_all(rings);
  }
  if (error) give_up(rings, "mapping a perf ring", error);
}

/* At the addresses of the supervisor's mappings there may be other mappings by now. */
void perf_rings_map(struct perf_rings *rings) {
  for (unsigned i = 0; i < rings->count; i++) rings->cpus[i].map = NULL;
  int error = rings->count > 0 ? map_all(rings) : 0;
  if (error) give_up(rings, "mapping a perf ring again", error);
}

void perf_rings_close(struct perf_rings *rings) {
  unmap_all(rings);
  for (unsigned i = 0; i < rings->count; i++) close(rings->cpus[i].fd);
  rings->count = 0;
}

static struct perf_event_mmap_page *page_of(const struct perf_ring *ring) {
  return ring->map;
}

uint64_t perf_ring_tail(const struct perf_ring *ring) {
  return page_of(ring)->data_tail;
}

static volatile uint32_t *lower_half(__u64 *word) {
  return (uint32_t *)(void *)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

uint64_t perf_ring_head(const struct perf_ring *ring) {
  /* Acquire: partner of the kernel's write barrier before it moves data_head. A 32-bit kernel
     counts with 32 bits, and wraps: the lower half gives the distance from the daemon's tail. */
  uint64_t tail = page_of(ring)->data_tail;
  return tail + (__atomic_load_n(lower_half(&page_of(ring)->data_head), __ATOMIC_ACQUIRE) -
                 (uint32_t)tail);
}

void perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint8_t *bytes, size_t len) {
  size_t offset = (size_t)(at & (ring->data_bytes - 1));
  size_t first = len < ring->data_bytes - offset ? len : (size_t)ring->data_bytes - offset;
  memcpy(bytes, ring->data + offset, first);
  memcpy(bytes + first, ring->data, len - first);
}

void perf_ring_release(const struct perf_ring *ring, uint64_t tail) {
  /* Release: after this the kernel, which reads only a long, may write there again. */
  __atomic_thread_fence(__ATOMIC_RELEASE);
  *(volatile __u64 *)&page_of(ring)->data_tail = tail;
}

int perf_ring_redirect(const struct perf_ring *ring, int event) {
  return ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 ? 0 : -errno;
}

bool perf_event_id(int fd, uint64_t *ret_id) {
  static const char wanted[] = "anon_inode:[perf_event]";
  char link[64], found[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, found, sizeof found);
  if (len != (ssize_t)sizeof wanted - 1 || memcmp(found, wanted, sizeof wanted - 1) != 0)
    return false;
  return ioctl(fd, PERF_EVENT_IOC_ID, ret_id) == 0;
}

int perf_event_read_ns(int fd, uint64_t *ret_ns) {
  uint64_t words[8]; /* the count is the first word of every read_format except GROUP */
  ssize_t got = read(fd, words, sizeof words);
  if (got < (ssize_t)sizeof words[0]) return got < 0 ? -errno : -EBADMSG;
  *ret_ns = words[0];
  return 0;
}

bool perf_event_has_ended(int fd) {
  struct pollfd event = {.fd = fd};
  return poll(&event, 1, 0) > 0 && (event.revents & POLLHUP);
}
