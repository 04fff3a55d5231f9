/* SPDX-License-Identifier: Apache-2.0 */
/* What a service manager (systemd) is told of a service: that it is ready, alive, reloading, or
   about to end. */
#ifndef COMMON_SERVICE_NOTIFY_H
#define COMMON_SERVICE_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct service_notify { /* all zero: nobody listens */
  struct sockaddr_un address;
  socklen_t address_len;
  uint64_t period_ms; /* how often to say that we are alive; 0: nobody asks */
};

/* Reads who wants to know from the environment and takes it out there, so that no child speaks for
   us.  Before any thread is made. */
void service_notify_open(struct service_notify *ret);

/* Sends TEXT, lines of NAME=VALUE.  Never blocks; what cannot be sent is lost. */
void service_notify_send(const struct service_notify *notify, const char *text);

/* Tells that the settings are being read anew; READY=1 tells the end of it. */
void service_notify_reloading(const struct service_notify *notify);

#endif
