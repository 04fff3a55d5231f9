/* SPDX-License-Identifier: Apache-2.0 */
/* A line of /proc/PID/mountinfo is

      36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue

   with any number of optional fields before the single "-", and the type right after it.  The
   kernel writes blanks in a field as \040.  A request to the file system itself (statfs) might
   never return.

   Only devices with major number 0 are looked up: a disk answers. */
#include "mount_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  DEVICE_FIELD = 2,
  LINES_MAX = 10000,
  DEVICE_TEXT_BYTES = 24,
};

/* Returns the next field of LINE and advances; empty at the end. */
static struct span take_field(struct span *line) {
  struct span field = {NULL, 0}, blank;
  const uint8_t *end = line->len > 0 ? memchr(line->data, ' ', line->len) : NULL;
  span_take(line, end ? (size_t)(end - line->data) : line->len, &field);
  if (end) span_take(line, 1, &blank);
  return field;
}

static bool is_device(struct span field, uint64_t device) {
  char text[DEVICE_TEXT_BYTES];
  snprintf(text, sizeof text, "%u:%u", (unsigned)(device >> 32), (unsigned)device);
  return span_is_equal(field, span_of_string(text));
}

struct span mount_info_type(struct span line, uint64_t device) {
  struct span field = take_field(&line);
  for (unsigned i = 0; i < DEVICE_FIELD; i++) field = take_field(&line);
  if (!is_device(field, device)) return span_of(NULL, 0);
  while (line.len > 0)
    if (span_is_equal(take_field(&line), span_of_string("-"))) return take_field(&line);
  return span_of(NULL, 0);
}

bool mount_info_can_stall(struct span type) {
  static const char *const types[] = {"nfs",  "nfs4",     "cifs", "smb3", "9p",  "virtiofs",
                                      "ceph", "orangefs", "coda", "afs",  "fuse"};
  static const char fuse[] = "fuse.";
  if (type.len > sizeof fuse - 1 && memcmp(type.data, fuse, sizeof fuse - 1) == 0) return true;
  for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
    if (span_is_equal(type, span_of_string(types[i]))) return true;
  return false;
}

bool mount_info_is_far(pid_t pid, uint64_t device) {
  char path[40] = "/proc/self/mountinfo", *text = NULL;
  size_t room = 0;
  struct span type = span_of(NULL, 0);
  if (device >> 32 != 0 || device == 0) return false;
  if (pid != 0) snprintf(path, sizeof path, "/proc/%d/mountinfo", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  for (unsigned i = 0; i < LINES_MAX && type.len == 0; i++) {
    ssize_t len = getline(&text, &room, file);
    if (len <= 0) break;
    type = mount_info_type(span_of((const uint8_t *)text, (size_t)len - (text[len - 1] == '\n')),
                           device);
  }
  bool is_far = mount_info_can_stall(type);
  fclose(file);
  free(text);
  return is_far;
}

void mount_ids_read(struct mount_ids *ret) {
  char *text = NULL;
  size_t room = 0;
  ret->count = 0;
  FILE *file = fopen("/proc/self/mountinfo", "re");
  if (file == NULL) return;
  while (ret->count < MOUNT_IDS_MAX && getline(&text, &room, file) > 0)
    ret->ids[ret->count++] = (int)strtol(text, NULL, 10);
  free(text);
  fclose(file);
}

bool mount_ids_has(const struct mount_ids *ids, int id) {
  for (uint32_t i = 0; i < ids->count; i++)
    if (ids->ids[i] == id) return true;
  return false;
}

int mount_id_of(int fd) {
  char path[40], line[64];
  int id = -1;
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  FILE *file = fopen(path, "re");
  if (file == NULL) return -1;
  while (id < 0 && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "mnt_id:", 7) == 0) id = (int)strtol(line + 7, NULL, 10);
  fclose(file);
  return id;
}
