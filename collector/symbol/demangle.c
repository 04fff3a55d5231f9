/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling by libiberty, which knows the Itanium C++ scheme and both of Rust's.

   Substitutions let a mangled name of some hundred bytes stand for gigabytes of text, so the
   pieces of the answer come through a callback that stops at a limit.  The library has no way to
   be stopped: the callback jumps out.  That leaks nothing, since the callback forms of both
   demanglers keep their state on the stack.  Depth is bounded by the library itself. */
#include "demangle.h"

#include "common/buf.h"

#include <setjmp.h>

#include <libiberty/demangle.h>

struct output {
  struct buf *buf;
  size_t start;
  jmp_buf full;
};

static void on_text(const char *text, size_t len, void *context) {
  struct output *output = context;
  if (output->buf->len - output->start + len > DEMANGLE_OUT_BYTES_MAX) longjmp(output->full, 1);
  buf_append(output->buf, text, len);
}

static bool is_mangled(struct span name) {
  const uint8_t *text = name.data;
  if (name.len < 3 || name.len > DEMANGLE_IN_BYTES_MAX) return false;
  return text[0] == '_' && (text[1] == 'Z' || text[1] == 'R');
}

bool demangle(struct span name, struct buf *ret) {
  if (!is_mangled(name)) return false;
  char mangled[DEMANGLE_IN_BYTES_MAX + 1];
  memcpy(mangled, name.data, name.len);
  mangled[name.len] = '\0';
  struct output output = {.buf = ret, .start = ret->len};
  if (setjmp(output.full) == 0) {
    const int options = DMGL_PARAMS | DMGL_ANSI;
    if (rust_demangle_callback(mangled, options, on_text, &output)) return true;
    ret->len = output.start;
    if (cplus_demangle_v3_callback(mangled, options, on_text, &output)) return true;
  }
  ret->len = output.start;
  return false;
}
