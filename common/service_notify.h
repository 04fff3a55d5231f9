/* SPDX-License-Identifier: Apache-2.0 */
/* Reports a service's state to its manager (systemd): ready, alive, reloading, or stopping. */
#ifndef COMMON_SERVICE_NOTIFY_H
#define COMMON_SERVICE_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct service_notify { /* all zero: no manager */
  struct sockaddr_un address;
  socklen_t address_len;
  uint64_t period_ms; /* interval of the alive messages; 0: none requested */
};

/* Reads the manager's address from the environment and removes it there, so that no child sends
   messages in this process's name. Before any thread is made. */
void service_notify_open(struct service_notify *ret);

/* Sends TEXT, lines of NAME=VALUE. Never blocks; a message that cannot be sent is lost. */
void service_notify_send(const struct service_notify *notify, const char *text);

/* Reports that the settings are being read again; READY=1 reports the end. */
void service_notify_reloading(const struct service_notify *notify);

#endif
