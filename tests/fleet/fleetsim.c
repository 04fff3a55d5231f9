/* SPDX-License-Identifier: Apache-2.0 */
/* fleetsim: many boards in one process, against a real collector. Prints counters as lines of a
   name and a number. --truth writes each board's own figures, which truth_agrees.py compares with
   the collector's. */
#include "crew.h"

#include "common/clock.h"
#include "common/endpoint.h"
#include "common/options.h"
#include "common/tls.h"
#include "identity/ca.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CREWS_MAX = 16, POLL_US = 50 * 1000, EXIT_USAGE = 2, QUANTILES = 3 };

struct fleet_options {
  const char *data, *agents, *faults, *truth;
  struct option_list recordings;
  uint64_t boards, threads, backlog, spool, seed, records_min, nodes_min;
  uint64_t window_ns, duration_ns, age_ns, ramp_ns, drain_ns;
  bool is_prepared, is_alone, is_steady;
};

#define ROW(name, argument, fallback, group, kind, member, help) \
  { name, 0, argument, fallback, group, help, kind, offsetof(struct fleet_options, member) }

static const struct option rows[] = {
    ROW("data", "DIR", NULL, "Where", OPTION_PATH, data,
        "the collector's folder: its authority signs the boards' certificates"),
    ROW("agents", "HOST:PORT", "127.0.0.1:7443", "Where", OPTION_STRING, agents,
        "where boards connect"),
    ROW("recording", "FILE", NULL, "What", OPTION_LIST, recordings,
        "a daemon's spool, or what `fleetprof run --output` wrote; may be given several times"),
    ROW("records-min", "N", "0", "What", OPTION_COUNT, records_min,
        "take only windows with so many records"),
    ROW("nodes-min", "N", "1", "What", OPTION_COUNT, nodes_min,
        "take only windows with so many nodes"),
    ROW("boards", "N", "100", "How much", OPTION_COUNT, boards, "boards"),
    ROW("threads", "N", "1", "How much", OPTION_COUNT, threads, "threads that they share"),
    ROW("window", "TIME", "10s", "How much", OPTION_DURATION, window_ns, "a batch covers"),
    ROW("duration", "TIME", "0", "How much", OPTION_DURATION, duration_ns,
        "boards go on measuring for so long; 0: they only deliver their backlog"),
    ROW("backlog", "N", "0", "How much", OPTION_COUNT, backlog,
        "windows that wait in each board's spool at the start"),
    ROW("age", "TIME", "0", "How much", OPTION_DURATION, age_ns,
        "all of it was measured so long ago"),
    ROW("ramp", "TIME", "1s", "How much", OPTION_DURATION, ramp_ns,
        "the first connections come within so long"),
    ROW("spool", "N", "0", "How much", OPTION_COUNT, spool,
        "windows that a board keeps, the oldest goes; 0: all"),
    ROW("prepared", NULL, NULL, "How much", OPTION_FLAG, is_prepared,
        "encode the backlog before the start, so that it takes no time later"),
    ROW("alone", NULL, NULL, "How much", OPTION_FLAG, is_alone,
        "each batch stands alone, as of an older board; else one that has the line for itself "
        "is told by the one before"),
    ROW("steady", NULL, NULL, "How much", OPTION_FLAG, is_steady,
        "a board sends the next batch when it has the ack of the last, so that all but the first "
        "of a line are told by the one before"),
    ROW("faults", "LIST", "", "Faults", OPTION_STRING, faults,
        "shares of batches: reset=0.01,lose-ack=,blackhole=,delay=,slow=,duplicate=,clock="),
    ROW("drain", "TIME", "60s", "Faults", OPTION_DURATION, drain_ns,
        "how long the boards may take at the end to deliver what waits, without faults"),
    ROW("seed", "N", "0", "Faults", OPTION_COUNT, seed,
        "of all that is random; 0: another one each time"),
    ROW("truth", "FILE", NULL, "Faults", OPTION_STRING, truth,
        "write the span of time and what every board knows: name, produced, stored, ring_full, "
        "spool_full, weight_ns, "
        "batches that wait still"),
};

static const struct option_table table = {
    .usage = "fleetsim --data DIR --agents HOST:PORT --recording FILE... [OPTION]...",
    .summary = "Simulates a fleet of boards against a running collector.",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

static struct crew crews[CREWS_MAX]; /* static: large, and one set per process */
static volatile sig_atomic_t is_told_to_stop;

static void on_stop(int number) {
  (void)number;
  is_told_to_stop = 1;
}

static int complain(const char *what, const char *why) {
  fprintf(stderr, "fleetsim: %s: %s\n", what, why);
  return 1;
}

static int find_address(const char *text, struct plan *plan) {
  struct endpoint endpoint;
  struct addrinfo *list, hints = {.ai_socktype = SOCK_STREAM};
  if (endpoint_parse(text, &endpoint) != 0) return complain(text, "not HOST:PORT");
  int failure = getaddrinfo(endpoint.host, endpoint.port, &hints, &list);
  if (failure != 0) return complain(text, gai_strerror(failure));
  memcpy(&plan->address, list->ai_addr, list->ai_addrlen);
  plan->address_len = list->ai_addrlen;
  freeaddrinfo(list);
  return 0;
}

static int open_recordings(const struct fleet_options *options, struct plan *plan) {
  const struct recordings_floor floor = {options->records_min, (uint32_t)options->nodes_min};
  for (unsigned i = 0; i < options->recordings.count; i++) {
    int error = recordings_add(&plan->recordings, options->recordings.values[i], &floor);
    if (error != 0 && error != -ENODATA)
      return complain(options->recordings.values[i], strerror(-error));
  }
  if (plan->recordings.count > 0) return 0;
  return complain("--recording", "no window in them has --records-min and --nodes-min");
}

static int open_plan(const struct fleet_options *options, struct plan *plan) {
  char why[256];
  if (options->data == NULL) return complain("--data", "missing: the collector's folder");
  if (options->boards == 0 || options->threads == 0 || options->threads > CREWS_MAX ||
      options->window_ns == 0)
    return complain("--boards, --threads, --window", "at least 1, and at most 16 threads");
  if (faults_parse(options->faults, &plan->faults) != 0)
    return complain(options->faults, "--faults wants NAME=SHARE,... with shares of 1 together");
  *plan = (struct plan){.faults = plan->faults,
                        .seed = options->seed ? options->seed : clock_walltime_ns(),
                        .window_ns = options->window_ns,
                        .backlog = options->backlog,
                        .age_ns = options->age_ns,
                        .ramp_ns = options->ramp_ns,
                        .spool_limit = options->spool,
                        .has_windows = options->duration_ns > 0,
                        .is_prepared = options->is_prepared,
                        .is_alone = options->is_alone,
                        .is_steady = options->is_steady && !options->is_alone};
  if (find_address(options->agents, plan) != 0 || open_recordings(options, plan) != 0) return 1;
  if (ca_open(options->data, &plan->ca, why, sizeof why) != 0) return complain("--data", why);
  const struct tls_paths paths = {.ca = ca_root_path(plan->ca)};
  plan->tls = tls_client_context(&paths, why, sizeof why);
  return plan->tls != NULL ? 0 : complain("TLS", why);
}

static void raise_limits(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static unsigned unsettled(uint64_t count) {
  unsigned sum = 0;
  for (uint64_t i = 0; i < count; i++)
    sum += atomic_load_explicit(&crews[i].figures.unsettled, memory_order_relaxed);
  return sum;
}

static uint64_t acked(uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++)
    sum += atomic_load_explicit(&crews[i].figures.acked, memory_order_relaxed);
  return sum;
}

/* Waits until all boards are settled, and at most until UNTIL_NS. */
static bool wait_settled(uint64_t count, uint64_t until_ns) {
  while (unsettled(count) > 0) {
    if (clock_monotonic_ns() >= until_ns || is_told_to_stop == 2) return false;
    usleep(POLL_US);
  }
  return true;
}

static void set_phase(struct plan *plan, enum phase phase, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    atomic_store_explicit(&crews[i].figures.unsettled, 1,
                          memory_order_relaxed); /* until the crew sets it */
  atomic_store_explicit(&plan->phase, phase, memory_order_relaxed);
}

struct outcome {
  double run_seconds; /* until the last batch was acked, or the boards stopped measuring */
  uint64_t run_acked;
  bool is_drained, has_left;
};

static void conduct(const struct fleet_options *options, struct plan *plan, struct outcome *ret) {
  uint64_t count = options->threads, end_ns = plan->start_ns + options->duration_ns;
  if (options->duration_ns == 0) {
    usleep(POLL_US);
    while (unsettled(count) > 0 && !is_told_to_stop) usleep(POLL_US);
  }
  while (clock_monotonic_ns() < end_ns && !is_told_to_stop) usleep(POLL_US);
  ret->run_acked = acked(count);
  ret->run_seconds = (double)(clock_monotonic_ns() - plan->start_ns) / 1e9;
  set_phase(plan, PHASE_DRAIN, count);
  ret->is_drained = wait_settled(count, clock_monotonic_ns() + options->drain_ns);
  set_phase(plan, PHASE_CLOSE, count);
  ret->has_left = wait_settled(count, clock_monotonic_ns() + options->drain_ns);
}

static void print_times(const char *name, const struct spans_of_time *times) {
  static const double shares[QUANTILES] = {0.5, 0.99, 0.999};
  static const char *const words[QUANTILES] = {"p50", "p99", "p999"};
  for (unsigned i = 0; i < QUANTILES; i++)
    printf("%s_%s_ms %.3f\n", name, words[i], (double)spans_quantile(times, shares[i]) / 1e6);
  printf("%s_max_ms %.3f\n", name, (double)times->max_ns / 1e6);
}

/* WHICH: first connections, or later ones. Prints how even they are: the largest number in one
   second, and the mean of the seconds from the first to the last. */
static void print_welcomes(const char *name, unsigned which, uint64_t count) {
  uint32_t peak = 0;
  unsigned first = CREW_SECONDS_MAX, last = 0;
  uint64_t sum = 0;
  for (unsigned s = 0; s < CREW_SECONDS_MAX; s++) {
    uint32_t welcomes = 0;
    for (uint64_t i = 0; i < count; i++) welcomes += crews[i].figures.welcomes[which][s];
    if (welcomes == 0) continue;
    if (first > s) first = s;
    last = s;
    sum += welcomes;
    if (welcomes > peak) peak = welcomes;
  }
  if (sum == 0) first = 0;
  printf("%s %" PRIu64 "\n%s_peak_a_second %u\n%s_mean_a_second %.1f\n", name, sum, name, peak,
         name, (double)sum / (last - first + 1));
  printf("%s_first_s %u\n%s_last_s %u\n", name, first, name, last);
}

static void print(const struct fleet_options *options, const struct outcome *outcome) {
  static struct crew_figures sum;
  struct rusage usage;
  for (uint64_t i = 0; i < options->threads; i++) {
    const struct crew_figures *one = &crews[i].figures;
    spans_merge(&sum.ack_times, &one->ack_times);
    spans_merge(&sum.window_times, &one->window_times);
    sum.acks += one->acks, sum.known_acks += one->known_acks, sum.rejects += one->rejects;
    sum.refusals += one->refusals;
    sum.pauses += one->pauses, sum.connects += one->connects, sum.broken += one->broken;
    sum.timeouts += one->timeouts, sum.sent_bytes += one->sent_bytes;
    sum.received_bytes += one->received_bytes;
    sum.referring += one->referring;
    for (unsigned f = 0; f < FAULT_COUNT; f++) sum.faults[f] += one->faults[f];
  }
  getrusage(RUSAGE_SELF, &usage);
  printf("boards %" PRIu64 "\nrun_seconds %.3f\nrun_batches %" PRIu64 "\nbatches_a_second %.1f\n",
         options->boards, outcome->run_seconds, outcome->run_acked,
         (double)outcome->run_acked / outcome->run_seconds);
  printf("acks %" PRIu64 "\nacks_known %" PRIu64 "\nrejects %" PRIu64 "\nrefusals %" PRIu64
         "\npauses %" PRIu64 "\nconnects %" PRIu64 "\nbroken %" PRIu64 "\ntimeouts %" PRIu64
         "\nsent_bytes %" PRIu64 "\nreceived_bytes %" PRIu64 "\nreferring %" PRIu64 "\n",
         sum.acks, sum.known_acks, sum.rejects, sum.refusals, sum.pauses, sum.connects, sum.broken,
         sum.timeouts, sum.sent_bytes, sum.received_bytes, sum.referring);
  for (unsigned f = 1; f < FAULT_COUNT; f++)
    printf("fault_%s %" PRIu64 "\n", faults_name(f), sum.faults[f]);
  print_times("ack", &sum.ack_times);
  print_times("window", &sum.window_times);
  print_welcomes("welcomes", 0, options->threads);
  print_welcomes("returns", 1, options->threads);
  printf("own_cpu_seconds %.3f\n",
         (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

/* The time range of the measurement, in Unix seconds of the real clock, whatever the boards' clocks
   are. */
static void print_span(const struct fleet_options *options, FILE *file) {
  const struct plan *plan = crews[0].plan;
  uint64_t ago_ns = clock_monotonic_ns() - (plan->is_prepared ? plan->made_ns : plan->start_ns);
  uint64_t backlog_ns = (options->backlog + 1) * options->window_ns;
  uint64_t now_ns = clock_walltime_ns() - options->age_ns;
  fprintf(file, "span\t%.3f\t%.3f\n", (double)(now_ns - ago_ns - backlog_ns) / 1e9,
          (double)now_ns / 1e9);
}

static int write_truth(const struct fleet_options *options) {
  FILE *file = options->truth ? fopen(options->truth, "we") : NULL;
  if (options->truth == NULL) return 0;
  if (file == NULL) return complain(options->truth, strerror(errno));
  print_span(options, file);
  for (uint64_t i = 0; i < options->threads; i++) crew_print_truth(&crews[i], file);
  return fclose(file) == 0 ? 0 : complain(options->truth, strerror(errno));
}

static int start_crews(const struct fleet_options *options, struct plan *plan,
                       pthread_barrier_t *ready) {
  uint64_t count = options->threads;
  for (uint64_t i = 0; i < count; i++) {
    crews[i].plan = plan;
    crews[i].first = (uint32_t)i;
    crews[i].step = (uint32_t)count;
    crews[i].count = (uint32_t)((options->boards + count - 1 - i) / count);
    crews[i].ready = ready;
    if (crew_start(&crews[i]) != 0) abort();
  }
  pthread_barrier_wait(ready);
  for (uint64_t i = 0; i < count; i++)
    if (crews[i].error != 0) return complain(crews[i].why, strerror(-crews[i].error));
  return 0;
}

static int simulate(const struct fleet_options *options, struct plan *plan) {
  pthread_barrier_t ready;
  struct outcome outcome = {.run_seconds = 0};
  plan->made_ns = clock_monotonic_ns();
  pthread_barrier_init(&ready, NULL, (unsigned)options->threads + 1);
  int status = start_crews(options, plan, &ready);
  if (status == 0) plan->start_ns = clock_monotonic_ns();
  pthread_barrier_wait(&ready);
  if (status == 0) {
    fprintf(stderr, "fleetsim: started: seed %" PRIu64 "\n", plan->seed);
    conduct(options, plan, &outcome);
    if (!outcome.has_left) _exit(complain("some boards", "cannot deliver what they have"));
  }
  for (uint64_t i = 0; i < options->threads; i++) crew_join(&crews[i]);
  if (status == 0) print(options, &outcome);
  if (status == 0) status = write_truth(options);
  for (uint64_t i = 0; i < options->threads; i++) crew_fini(&crews[i]);
  pthread_barrier_destroy(&ready);
  return status != 0 ? status : !outcome.is_drained;
}

int main(int argc, char **argv) {
  static struct plan plan;
  struct fleet_options options = {0};
  struct options_result result;
  char error[256];
  if (options_parse(&table, argc, argv, &options, &result, error, sizeof error) < 0) {
    complain(error, "see --help");
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  raise_limits();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, on_stop);
  signal(SIGINT, on_stop);
  int status = open_plan(&options, &plan) != 0 ? EXIT_USAGE : simulate(&options, &plan);
  SSL_CTX_free(plan.tls);
  ca_close(plan.ca);
  recordings_fini(&plan.recordings);
  return status;
}
