/* SPDX-License-Identifier: Apache-2.0 */
#include "door_fixture.h"

#include "quota/quota.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void door_on_stop(evutil_socket_t fd, short what, void *context) {
  (void)fd, (void)what;
  event_base_loopbreak(((struct door *)context)->loop);
}

static void *door_run(void *context) {
  event_base_dispatch(((struct door *)context)->loop);
  return NULL;
}

static int door_open(struct door *door) {
  char error[512] = "";
  int failed = store_open(door->dir, &door->store, error, sizeof error) != 0 ||
               access_open(door->dir, &door->access, error, sizeof error) != 0 ||
               ca_open(door->dir, &door->ca, error, sizeof error) != 0 ||
               debug_store_open(door->dir, &door->debug, error, sizeof error) != 0 ||
               symbolizer_open(door->debug, &door->symbolizer, error, sizeof error) != 0;
  door->loop = event_base_new();
  door->quotas = quotas_new(&(struct quota_limits){.a_day = {0}});
  door->time = trusted_time_new();
  struct ingest_parts parts = {.loop = door->loop,
                               .ca = door->ca,
                               .access = door->access,
                               .store = door->store,
                               .debug = door->debug,
                               .symbolizer = door->symbolizer,
                               .quotas = door->quotas,
                               .time = door->time,
                               .address = "127.0.0.1:0",
                               .page_url = "http://127.0.0.1:7480/"};
  failed = failed || ingest_start(&parts, &door->ingest, error, sizeof error) != 0;
  if (failed) fprintf(stderr, "%s\n", error);
  return failed ? -1 : 0;
}

int door_start(struct door *door) {
  *door = (struct door){.dir = "/tmp/fleetprof-door-XXXXXX"};
  signal(SIGPIPE, SIG_IGN);
  if (mkdtemp(door->dir) == NULL || door_open(door) != 0 || pipe(door->stop_pipe) != 0) return -1;
  door->stop = event_new(door->loop, door->stop_pipe[0], EV_READ, door_on_stop, door);
  event_add(door->stop, NULL);
  return pthread_create(&door->thread, NULL, door_run, door) == 0 ? 0 : -1;
}

void door_shut(struct door *door) {
  if (door->is_shut) return;
  if (write(door->stop_pipe[1], "", 1) != 1) abort();
  pthread_join(door->thread, NULL);
  ingest_stop(door->ingest);
  door->is_shut = true;
}

static int door_remove(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

void door_stop(struct door *door) {
  door_shut(door);
  ingest_free(door->ingest);
  event_free(door->stop);
  event_base_free(door->loop);
  quotas_free(door->quotas);
  trusted_time_free(door->time);
  symbolizer_close(door->symbolizer);
  debug_store_close(door->debug);
  store_close(door->store);
  access_close(door->access);
  ca_close(door->ca);
  close(door->stop_pipe[0]);
  close(door->stop_pipe[1]);
  nftw(door->dir, door_remove, 8, FTW_DEPTH | FTW_PHYS);
}

unsigned long door_metric(struct door *door, const char *name) {
  struct buf text = {0};
  char start[128];
  buf_append_string(&text, "\n");
  ingest_metrics(door->ingest, &text);
  snprintf(start, sizeof start, "\nfleetprof_ingest_%s ", name);
  const char *at = strstr(buf_text(&text), start);
  unsigned long value = at ? strtoul(at + strlen(start), NULL, 10) : 999999;
  buf_fini(&text);
  return value;
}
