/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol of sd_notify(3) is one datagram to the socket in $NOTIFY_SOCKET, a path or, with a
   leading '@', an abstract name. That is less code than the library that implements it.

   The manager ends a service that has sent nothing for $WATCHDOG_USEC; this code sends twice in
   that time, as the manual recommends. $WATCHDOG_PID is the intended process: a child that inherits
   the variable is not. The manager does not act on lost messages, so failures are ignored: a
   manager that disappears must not take the service with it. */
#include "service_notify.h"

#include "clock.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { US_PER_MS = 1000, BEATS = 2 /* in the manager's timeout */ };

static uint64_t number_of(const char *name) {
  const char *text = getenv(name);
  return text != NULL ? strtoull(text, NULL, 10) : 0;
}

static uint64_t period_ms(void) {
  uint64_t pid = number_of("WATCHDOG_PID"), us = number_of("WATCHDOG_USEC");
  if (us == 0 || (getenv("WATCHDOG_PID") != NULL && pid != (uint64_t)getpid())) return 0;
  uint64_t ms = us / US_PER_MS / BEATS;
  return ms > 0 ? ms : 1;
}

void service_notify_open(struct service_notify *ret) {
  const char *path = getenv("NOTIFY_SOCKET");
  size_t len = path != NULL ? strlen(path) : 0;
  *ret = (struct service_notify){.address = {.sun_family = AF_UNIX}};
  if (len > 1 && len < sizeof ret->address.sun_path && (*path == '/' || *path == '@')) {
    memcpy(ret->address.sun_path, path, len);
    if (*path == '@') ret->address.sun_path[0] = '\0';
    ret->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    ret->period_ms = period_ms();
  }
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}

void service_notify_send(const struct service_notify *notify, const char *text) {
  if (notify->address_len == 0) return;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  ssize_t sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                        (const struct sockaddr *)&notify->address, notify->address_len);
  (void)sent;
  close(fd);
}

void service_notify_reloading(const struct service_notify *notify) {
  char text[64];
  uint64_t now_us = clock_monotonic_ns() / (NS_PER_MS / US_PER_MS);
  snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_us);
  service_notify_send(notify, text);
}
