/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling by libiberty, which supports the Itanium C++ scheme and both schemes of Rust.

   Substitutions let a mangled name of some hundred bytes expand to gigabytes of text. So the text
   arrives through a callback that stops at a limit. The library has no way to abort: the callback
   calls longjmp. That leaks nothing, since the callback forms of both demanglers keep their state
   on the stack. The library itself bounds the recursion depth. */
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
  if (name.len < 4 || name.len > DEMANGLE_IN_BYTES_MAX) return false;
  return text[0] == '_' && (text[1] == 'Z' || text[1] == 'R');
}

static bool demangle_with(struct span name, int more_options, struct buf *ret) {
  static const char stub[] = "@plt"; /* follows the name of the stub's target */
  const size_t stub_len = sizeof stub - 1;
  if (!is_mangled(name)) return false;
  bool is_stub = memcmp(name.data + name.len - stub_len, stub, stub_len) == 0;
  if (is_stub) name.len -= stub_len;
  char mangled[DEMANGLE_IN_BYTES_MAX + 1];
  memcpy(mangled, name.data, name.len);
  mangled[name.len] = '\0';
  struct output output = {.buf = ret, .start = ret->len};
  if (setjmp(output.full) == 0) {
    const int options = DMGL_PARAMS | DMGL_ANSI | more_options;
    bool is_done = rust_demangle_callback(mangled, options, on_text, &output) != 0;
    if (!is_done) ret->len = output.start;
    if (!is_done) is_done = cplus_demangle_v3_callback(mangled, options, on_text, &output) != 0;
    if (is_done && is_stub) buf_append(ret, stub, stub_len);
    if (is_done) return true;
  }
  ret->len = output.start;
  return false;
}

bool demangle(struct span name, struct buf *ret) {
  return demangle_with(name, 0, ret);
}

bool demangle_scope(struct span name, struct buf *ret) {
  return demangle_with(name, DMGL_RET_DROP, ret);
}
