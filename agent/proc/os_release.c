/* SPDX-License-Identifier: Apache-2.0 */
/* The file has shell syntax: lines of NAME=VALUE, the value bare or in quotes.  Versions use few
   characters (listed in os-release(5)), so a value that needs a shell to parse is ignored.  A label
   is useful only if all boards of an image write it alike. */
#include "os_release.h"

#include <fcntl.h>
#include <unistd.h>

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~:-"

static struct span without_quotes(struct span value) {
  uint8_t first = value.len >= 2 ? value.data[0] : 0;
  bool is_quoted = (first == '"' || first == '\'') && value.data[value.len - 1] == first;
  return is_quoted ? span_of(value.data + 1, value.len - 2) : value;
}

static bool is_plain(struct span value) {
  for (size_t i = 0; i < value.len; i++)
    if (memchr(PLAIN, value.data[i], sizeof PLAIN - 1) == NULL) return false;
  return value.len > 0 && value.len < OS_RELEASE_VALUE_BYTES;
}

bool os_release_find(struct span text, const char *name, char ret[OS_RELEASE_VALUE_BYTES]) {
  size_t name_len = strlen(name);
  struct span found = {0};
  while (text.len > 0) {
    const uint8_t *end = memchr(text.data, '\n', text.len);
    struct span line = span_of(text.data, end ? (size_t)(end - text.data) : text.len);
    text = span_of(text.data + line.len, text.len - line.len);
    if (text.len > 0) text = span_of(text.data + 1, text.len - 1);
    bool is_it = line.len > name_len && line.data[name_len] == '=' &&
                 memcmp(line.data, name, name_len) == 0;
    if (is_it) found = span_of(line.data + name_len + 1, line.len - name_len - 1);
  }
  found = without_quotes(found);
  if (!is_plain(found)) return false;
  memcpy(ret, found.data, found.len);
  ret[found.len] = '\0';
  return true;
}

static size_t read_some(const char *path, uint8_t *bytes, size_t max) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return 0;
  ssize_t len = read(fd, bytes, max);
  close(fd);
  return len > 0 ? (size_t)len : 0;
}

bool os_release_firmware(const char *path, char ret[OS_RELEASE_VALUE_BYTES]) {
  uint8_t bytes[OS_RELEASE_FILE_BYTES_MAX];
  struct span text = span_of(bytes, read_some(path, bytes, sizeof bytes));
  return os_release_find(text, "IMAGE_VERSION", ret) || os_release_find(text, "VERSION_ID", ret);
}
