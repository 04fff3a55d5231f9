/* SPDX-License-Identifier: Apache-2.0 */
/* Records unloaded libraries. The loader nearly always puts a new library where an unloaded one
   was. A sample's address there identifies its library only together with the time of the unload.
   So dlclose records each library that it unloads (ring/unload_format.h). dlopen is not wrapped: it
   inspects its caller to find a library's search path, and a newly mapped address is not ambiguous.

   Which objects an unload removes is known only afterwards, when their names are gone. So objects
   are described beforehand: the closed one and those loaded after it, which are its own
   dependencies, if any.

   A program may protect the first page of a library, and a process may truncate its file. A load
   there would end the program, so the kernel first checks whether the page can be read. If it
   cannot, or a sandbox forbids the check, the object is not described and counts as lost. After the
   close no byte of an object is read: objects are identified by their load address.

   Libraries that libc unloads by itself (a character set, a name service) bypass dlclose. For those
   the daemon reads the mappings again with each window. */
#include "arch.h"
#include "call_gate.h"
#include "kernel_words.h"
#include "raw_syscall.h"
#include "sampler.h"
#include "sampling.h"
#include "thread_slot.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

typedef int close_fn(void *);

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
union symbol {
  void *object;
  close_fn *close;
};

enum { GOING_MAX = 4 };

struct going {
  const struct link_map *library; /* the one to close */
  struct unload_image images[GOING_MAX];
  uintptr_t addresses[GOING_MAX]; /* load addresses of the images */
  bool stays[GOING_MAX];
  unsigned count;
  unsigned long long subs; /* objects ever unloaded, before this call */
  unsigned long long gone; /* objects that this call unloaded */
  bool is_reached;
};

/* The kernel reads a signal set from AT before it rejects NO_HOW, which is no valid operation. */
static bool can_read(uintptr_t at) {
  const uintptr_t NO_HOW = 99;
  if (!call_gate_enter()) return false;
  long error = raw_syscall(SYS_rt_sigprocmask, NO_HOW, at, 0, KERNEL_SIGNAL_BYTES);
  call_gate_leave();
  return error == -EINVAL;
}

static bool can_describe(const struct dl_phdr_info *object) {
  const ElfW(Phdr) *segments = object->dlpi_phdr;
  uintptr_t end = (uintptr_t)(segments + object->dlpi_phnum);
  return object->dlpi_phnum > 0 && can_read((uintptr_t)segments) &&
         can_read(end - KERNEL_SIGNAL_BYTES);
}

static void describe(const struct dl_phdr_info *object, struct unload_image *image) {
  memset(image, 0, sizeof *image);
  for (unsigned i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD) continue;
    if (segment->p_offset == 0 && (segment->p_flags & PF_R) != 0 && can_read(start))
      image->hash = unload_hash((const void *)start, segment->p_filesz);
    if ((segment->p_flags & PF_X) == 0) continue;
    image->start = start;
    image->bytes = segment->p_memsz;
    image->file_offset = segment->p_offset;
  }
  strncpy(image->path, object->dlpi_name, sizeof image->path - 1);
}

static int before(struct dl_phdr_info *object, size_t bytes, void *context) {
  struct going *going = context;
  (void)bytes;
  going->subs = object->dlpi_subs;
  going->is_reached = going->is_reached || object->dlpi_name == going->library->l_name;
  if (!going->is_reached || going->count == GOING_MAX || !can_describe(object)) return 0;
  going->addresses[going->count] = object->dlpi_addr;
  describe(object, &going->images[going->count++]);
  return 0;
}

static int after(struct dl_phdr_info *object, size_t bytes, void *context) {
  struct going *going = context;
  (void)bytes;
  going->gone = object->dlpi_subs - going->subs;
  if (going->gone == 0) return 1;
  for (unsigned i = 0; i < going->count; i++)
    if (going->addresses[i] == object->dlpi_addr) going->stays[i] = true;
  return 0;
}

/* The number of IMAGE in LOG; adds it if it is new. */
static uint32_t place_of(struct unload_log *log, const struct unload_image *image) {
  uint32_t count = log->image_count;
  for (uint32_t back = 1; back <= UNLOAD_IMAGES_MAX && back <= count; back++)
    if (memcmp(&log->images[(count - back) % UNLOAD_IMAGES_MAX], image, sizeof *image) == 0)
      return count - back;
  log->images[count % UNLOAD_IMAGES_MAX] = *image;
  return log->image_count++;
}

static void tell(const struct going *going, uint32_t unloads) {
  struct unload_log *log = ring_writer_unload_log(sampler_ring());
  const struct thread_slot *thread = thread_slot_of(arch_thread_pointer());
  uint32_t serial = atomic_load(&log->serial), gone = 0;
  uint32_t pid = thread != NULL ? (uint32_t)(wide_peek(&thread->owner) >> 32) : 0;
  bool is_ours = pid != 0 && serial % 2 == 0 &&
                 atomic_compare_exchange_strong(&log->serial, &serial, serial + 1);
  for (unsigned i = 0; is_ours && i < going->count; i++) {
    if (going->stays[i]) continue;
    gone++;
    log->events[log->event_count++ % UNLOAD_EVENTS_MAX] =
        (struct unload_event){unloads, pid, place_of(log, &going->images[i])};
  }
  if (is_ours) atomic_store(&log->serial, serial + 2);
  if (gone != going->gone) atomic_store(&log->lost, unloads);
}

__attribute__((visibility("default"))) int dlclose(void *library) {
  union symbol real = {.object = dlsym(RTLD_NEXT, "dlclose")};
  struct going going;
  if (real.object == NULL) return -1;
  if (!sampling_is_on()) return real.close(library);
  memset(&going, 0, sizeof going);
  if (dlinfo(library, RTLD_DI_LINKMAP, &going.library) != 0) return real.close(library);
  dl_iterate_phdr(before, &going);
  uint32_t unloads = sampling_note_unload();
  int error = real.close(library);
  dl_iterate_phdr(after, &going);
  if (going.gone != 0) tell(&going, unloads);
  sampling_note_unload();
  return error;
}
