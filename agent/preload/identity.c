/* SPDX-License-Identifier: Apache-2.0 */
/* Recovers the arguments of this program. Without /proc only `environ` leads to them: the kernel
   put both vectors on the stack, one after the other, and their strings likewise.

     argc | argv[0] ... argv[argc-1] | NULL | environ[0] ... | NULL | ...
     "argv[0]\0argv[1]\0 ... \0environ[0]\0 ..."        above the pointers, or (elsewhere) below

   environ[-1] is the NULL and environ[-2] is argv[argc-1], the exact end. The walk goes down from
   there. A word counts as an argument if it points to a string that ends where the string of the
   word above begins. Only a gap of up to GAP_MAX bytes, which some systems leave, may lie between.
   So the walk need not know where the strings lie. The first word that does not qualify is where
   argv began. If it equals the number of words found, it is argc, and the arguments are verified.
   Otherwise the words are a guess, which may include one or two that are no arguments.

   An earlier constructor's setenv or putenv may have moved environ. Then the walk starts above the
   environment, at the auxiliary vector, which has an entry of known value (AT_EXECFN). Below it are
   the environment's NULL and its pointers, some of which may be NULL by now (unsetenv). The NULL
   below which the words are verified is argv's. A guess is not accepted there: it could be a
   password in the environment.

   Nothing outside the image is read, so an overwritten vector yields no arguments, or a guess, but
   never a fault. The image is the main thread's stack from here to the program's name at its top,
   all of which is mapped.

   /proc/self/cmdline is preferred if it exists. */
#include "identity.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum {
  GAP_MAX = 50,         /* bytes between two strings */
  WORDS_MAX = 1 << 16,  /* limit of the walk */
  NULLS_MAX = 64,       /* of an environment, below which the walk looks */
  AUX_TYPE_MAX = 255,   /* type of an entry of the auxiliary vector; pointers are larger */
  IMAGE_MAX = 16 << 20, /* the kernel limits arguments and environment to a quarter of the stack */
};

extern char **environ;

static bool read_word(const struct identity_image *image, uintptr_t at, uintptr_t *ret) {
  if (at % sizeof *ret != 0 || at < image->base || at - image->base > image->len ||
      image->len - (at - image->base) < sizeof *ret)
    return false;
  memcpy(ret, image->bytes + (at - image->base), sizeof *ret);
  return true;
}

/* The string at AT, or NULL if it does not end within the image. */
static const char *string_at(const struct identity_image *image, uintptr_t at, size_t *ret_len) {
  if (at < image->base || at - image->base >= image->len) return NULL;
  const uint8_t *start = image->bytes + (at - image->base);
  const uint8_t *end = memchr(start, '\0', image->len - (at - image->base));
  if (end == NULL) return NULL;
  *ret_len = (size_t)(end - start);
  return (const char *)start;
}

/* True if the string at AT ends where the string at NEXT begins. */
static bool is_packed(const struct identity_image *image, uintptr_t at, uintptr_t next) {
  size_t len;
  if (at >= next || string_at(image, at, &len) == NULL) return false;
  uintptr_t end = at + len + 1;
  return end <= next && next - end <= GAP_MAX;
}

/* Walks down from the word before END. Returns the number of arguments; RET_FIRST is the address of
   the first one's pointer. */
static unsigned walk_down(const struct identity_image *image, uintptr_t end, uintptr_t next,
                          uintptr_t *ret_first) {
  unsigned count = 0;
  uintptr_t word = 0;
  *ret_first = end;
  while (count < WORDS_MAX && read_word(image, *ret_first - sizeof word, &word)) {
    size_t len;
    bool is_word = next != 0 ? is_packed(image, word, next) : string_at(image, word, &len) != NULL;
    if (!is_word) break;
    *ret_first -= sizeof word;
    next = word;
    count++;
  }
  return count;
}

static void copy_words(const struct identity_image *image, uintptr_t first,
                       struct identity_argv *ret) {
  for (unsigned i = 0; i < ret->count && ret->len < sizeof ret->text; i++) {
    uintptr_t word = 0;
    size_t len, room = sizeof ret->text - ret->len;
    read_word(image, first + i * sizeof word, &word);
    const char *text = string_at(image, word, &len);
    if (text == NULL) return;
    size_t taken = len < room - 1 ? len : room - 1;
    memcpy(ret->text + ret->len, text, taken);
    ret->text[ret->len + taken] = '\0';
    ret->len += taken + 1;
  }
}

/* Finds the arguments with pointers that end below the NULL at END. */
static void walk_from(const struct identity_image *image, uintptr_t end,
                      struct identity_argv *ret) {
  uintptr_t next = 0, first = 0, argc = 0;
  size_t len;
  memset(ret, 0, sizeof *ret);
  if (!read_word(image, end + sizeof next, &next)) return;
  if (string_at(image, next, &len) == NULL) next = 0; /* that string was moved */
  ret->count = walk_down(image, end, next, &first);
  bool has_argc = read_word(image, first - sizeof argc, &argc);
  if (ret->count == 0) {
    if (has_argc && argc == 0) ret->quality = INTAKE_ARGV_VERIFIED; /* truly none */
    return;
  }
  ret->quality = has_argc && argc == ret->count ? INTAKE_ARGV_VERIFIED : INTAKE_ARGV_GUESSED;
  copy_words(image, first, ret);
}

void identity_walk(const struct identity_image *image, uintptr_t environment,
                   struct identity_argv *ret) {
  uintptr_t null = 0;
  memset(ret, 0, sizeof *ret);
  if (environment % sizeof null != 0 || environment < image->base + sizeof null) return;
  if (read_word(image, environment - sizeof null, &null) && null == 0)
    walk_from(image, environment - sizeof null, ret);
}

/* The first entry of the auxiliary vector, or 0. Searches from the top, above which only strings
   lie. */
static uintptr_t find_auxiliary(const struct identity_image *image, uintptr_t name) {
  uintptr_t type = 0, value = 0, pair = 2 * sizeof type;
  uintptr_t at = (image->base + image->len) & ~(uintptr_t)(sizeof type - 1);
  do {
    if (at < image->base + pair) return 0;
    at -= sizeof type;
  } while (!read_word(image, at, &type) || type != AT_EXECFN ||
           !read_word(image, at + sizeof type, &value) || value != name);
  while (read_word(image, at - pair, &type) && type > 0 && type <= AUX_TYPE_MAX) at -= pair;
  return at;
}

void identity_walk_behind(const struct identity_image *image, uintptr_t name,
                          struct identity_argv *ret) {
  uintptr_t word = 0, at = find_auxiliary(image, name);
  unsigned nulls = 0;
  memset(ret, 0, sizeof *ret);
  if (at == 0 || !read_word(image, at - sizeof word, &word) || word != 0) return;
  at -= sizeof word; /* the environment's NULL */
  for (unsigned i = 0; i < WORDS_MAX && nulls < NULLS_MAX; i++) {
    at -= sizeof word;
    if (!read_word(image, at, &word)) break;
    if (word != 0) continue;
    nulls++;
    walk_from(image, at, ret);
    if (ret->quality == INTAKE_ARGV_VERIFIED && ret->count > 0) return;
  }
  memset(ret, 0, sizeof *ret);
}

static bool read_cmdline(struct identity_argv *ret) {
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, ret->text, sizeof ret->text - 1);
  close(fd);
  if (got <= 0) return false;
  ret->text[got] = '\0';
  ret->len = (size_t)got;
  ret->quality = INTAKE_ARGV_VERIFIED;
  return true;
}

/* The stack from here to the end of the program's name, which the kernel puts at its top. */
static bool own_stack(struct identity_image *ret) {
  const char *name = (const char *)getauxval(AT_EXECFN);
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (name == NULL || (uintptr_t)name <= here || (uintptr_t)name - here > IMAGE_MAX) return false;
  uintptr_t base = here & ~(uintptr_t)(sizeof(uintptr_t) - 1);
  size_t len = (uintptr_t)name - base + strlen(name) + 1;
  *ret = (struct identity_image){.bytes = (const uint8_t *)base, .base = base, .len = len};
  return true;
}

static void fill_exe(struct intake_request *request) {
  const char *name = (const char *)getauxval(AT_EXECFN);
  ssize_t len = readlink("/proc/self/exe", request->exe, sizeof request->exe - 1);
  if (len >= 0) {
    request->exe[len] = '\0';
    return;
  }
  request->exe[0] = '\0';
  if (name != NULL) strncat(request->exe, name, sizeof request->exe - 1);
}

static void find_on_stack(struct identity_argv *ret) {
  struct identity_image image;
  struct identity_argv behind;
  if (!own_stack(&image)) return;
  identity_walk(&image, (uintptr_t)environ, ret);
  if (ret->quality == INTAKE_ARGV_VERIFIED) return;
  identity_walk_behind(&image, (uintptr_t)getauxval(AT_EXECFN), &behind);
  if (behind.quality == INTAKE_ARGV_VERIFIED) *ret = behind;
}

void identity_fill(struct intake_request *request) {
  struct identity_argv found = {.quality = INTAKE_ARGV_NONE};
  fill_exe(request);
  if (!read_cmdline(&found)) find_on_stack(&found);
  memcpy(request->argv, found.text, sizeof request->argv);
  request->argv[sizeof request->argv - 1] = '\0';
  request->argv_quality = found.quality;
}
