/* SPDX-License-Identifier: Apache-2.0 */
#include "uplink_fixture.h"

#include <event2/event.h>

int bench_begin_group(void **state) {
  (void)state;
  log_set_level(LOG_LEVEL_ERROR);
  signal(SIGPIPE, SIG_IGN);
  return 0;
}

static void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct bench *bench = context;
  (void)run;
  bench->lost[reason] += records;
}

void bench_fill_hello(void *context, struct hello *hello) {
  (void)context;
  hello->program_version = "test";
  hello->arch = "x86_64";
  hello->kernel = "6";
  hello->sampler = "timer";
  hello->counters.run = RUN;
}

void bench_fill_ping(void *context, struct ping *ping) {
  (void)context;
  ping->sampler = "timer";
}

static void on_change(void *context) {
  struct bench *bench = context;
  bench->changes++;
}

struct span bench_own_build_id(uint8_t id[LIMIT_MODULE_ID_BYTES]) {
  char command[256];
  snprintf(command, sizeof command,
           "readelf -n /proc/%d/exe 2>/dev/null | sed -n 's/.*Build ID: //p'", (int)getpid());
  FILE *pipe = popen(command, "r");
  unsigned byte, len = 0;
  while (pipe != NULL && len < LIMIT_MODULE_ID_BYTES && fscanf(pipe, "%2x", &byte) == 1)
    id[len++] = (uint8_t)byte;
  if (pipe != NULL) pclose(pipe);
  return span_of(id, len);
}

int bench_set_up(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  if (bench == NULL || fleet_init(&bench->fleet) < 0) return -1;
  char dir[FLEET_PATH_BYTES];
  fleet_path(&bench->fleet, "spool", dir);
  const struct spool_limits limits = {64 << 20, 1 << 20, 5 * NS_PER_SECOND, 0};
  assert_int_equal(spool_open(dir, &limits, on_loss, bench, &bench->spool), 0);
  assert_int_equal(debug_sender_open(1 << 30, &bench->debug), 0);
  bench->loop = event_base_new();
  fleet_path(&bench->fleet, "time", dir);
  known_time_init(&bench->time, dir);
  /* The collector's time was just received, so this machine's clock need not be synchronized. */
  known_time_learn(&bench->time, clock_walltime_ns(), INT64_MAX);
  fleet_path(&bench->fleet, "board.pem", bench->certificate);
  fleet_path(&bench->fleet, "board.key", bench->key);
  fleet_path(&bench->fleet, "ca.pem", bench->ca);
  *state = bench;
  return 0;
}

int bench_tear_down(void **state) {
  struct bench *bench = *state;
  uplink_stop(bench->uplink);
  if (bench->has_peer) peer_stop(&bench->peer);
  debug_sender_close(bench->debug);
  spool_close(bench->spool);
  event_base_free(bench->loop);
  fleet_fini(&bench->fleet);
  free(bench);
  return 0;
}

void bench_limit_spool(struct bench *bench, uint64_t bytes_max) {
  const struct spool_limits limits = {bytes_max, bytes_max, 3600 * NS_PER_SECOND, 0};
  char dir[FLEET_PATH_BYTES];
  fleet_path(&bench->fleet, "spool", dir);
  spool_close(bench->spool);
  assert_int_equal(spool_open(dir, &limits, on_loss, bench, &bench->spool), 0);
}

void bench_append(struct bench *bench, uint64_t first, uint64_t last, size_t len) {
  uint8_t *payload = calloc(1, len);
  for (uint64_t seq = first; seq <= last; seq++) {
    struct spool_item item = {RUN, seq, RECORDS, 100, {payload, len}};
    assert_int_equal(spool_append(bench->spool, &item), 0);
  }
  free(payload);
}

void bench_start_peer_as(struct bench *bench, const char *name, peer_script *script) {
  assert_int_equal(peer_start(&bench->peer, &bench->fleet, name, script), 0);
  bench->has_peer = true;
  snprintf(bench->address, sizeof bench->address, "127.0.0.1:%u", bench->peer.port);
}

void bench_start_peer(struct bench *bench, peer_script *script) {
  bench_start_peer_as(bench, "collector", script);
}

void bench_start_uplink(struct bench *bench) {
  struct uplink_parts parts = {
      .loop = bench->loop,
      .spool = bench->spool,
      .debug = bench->debug,
      .time = &bench->time,
      .address = bench->address[0] ? bench->address : NULL,
      .certificate_path = bench->certificate,
      .key_path = bench->key,
      .ca_path = bench->ca,
      .fill_hello = bench_fill_hello,
      .fill_ping = bench_fill_ping,
      .on_change = on_change,
      .context = bench,
  };
  assert_int_equal(uplink_start(&parts, &bench->uplink), 0);
}

void bench_begin(struct bench *bench, uint64_t count, peer_script *script) {
  bench_append(bench, 1, count, 100);
  bench_start_peer(bench, script);
  bench_start_uplink(bench);
}

struct uplink_figures bench_figures(struct bench *bench) {
  struct uplink_figures ret;
  uplink_figures(bench->uplink, &ret);
  return ret;
}

static void turn(struct bench *bench) {
  const struct timeval slice = {.tv_usec = 10000};
  event_base_loopexit(bench->loop, &slice);
  event_base_dispatch(bench->loop);
}

void bench_run_until(struct bench *bench, bench_condition *is_met) {
  uint64_t end_ns = clock_monotonic_ns() + 15 * NS_PER_SECOND;
  while (!is_met(bench)) {
    if (clock_monotonic_ns() > end_ns) {
      struct uplink_figures now = bench_figures(bench);
      fail_msg("not within 15 s; the uplink is %s: %s", now.state, now.why);
    }
    turn(bench);
  }
}

void bench_run_for(struct bench *bench, unsigned ms) {
  uint64_t end_ns = clock_monotonic_ns() + ms * NS_PER_MS;
  while (clock_monotonic_ns() < end_ns) turn(bench);
}

bool bench_is_idle(struct bench *bench) {
  return bench_figures(bench).is_idle;
}

bool bench_has_reason(struct bench *bench) {
  return strcmp(bench_figures(bench).state, "waiting") == 0 && bench_figures(bench).why[0] != '\0';
}

uint64_t bench_waiting(struct bench *bench) {
  struct spool_figures ret;
  spool_figures(bench->spool, &ret);
  return ret.entries;
}
