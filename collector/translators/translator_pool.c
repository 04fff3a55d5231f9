/* SPDX-License-Identifier: Apache-2.0 */
/* Queries must not wait for a program that may take minutes for a file, or hang. So requests are
   queued for threads that wait, answers are cached, and a query uses the answers that exist at its
   deadline.

     query ── choose, ask ──▶ jobs ──▶ threads, a co-process each
       ▲                                  │
       └──────── find ◀── cache ◀─────────┘

   One job runs for a module at a time. A translator that fails is started once more at once, then
   after a second, two, four, up to five minutes. It is the operator's own command and is trusted
   like the collector's user, without capabilities. Its output is cleaned, and its lines are counted
   (interview). */
#include "translator_pool.h"

#include "interview.h"
#include "module_list.h"
#include "translation_cache.h"
#include "translator_counts.h"
#include "translator_rules.h"

#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  TRIES_MAX = 2,
  QUEUED_MAX = 2, /* jobs for one query: behind another query's job, then once for the rest */
  RETRY_DOUBLINGS_MAX = 8,
  RETRY_MS_MAX = 300000,
  EXCHANGE_BYTES_MAX = 64 << 20, /* of texts, while an exchange is read */
};

static const struct translator_times usual_times = {
    .quiet_ms = 30000, .talk_ms = 120000, .idle_ms = 60000, .life_ms = 3600000, .retry_ms = 1000};

struct job {
  struct job *next;
  uint32_t module, count;
  uint64_t addresses[];
};

/* A process, or room for one. Threads share the seats, so that the next request for a module can
   use its running process. */
struct seat {
  struct interview interview;
  bool is_taken; /* else it may be accessed with the lock held */
};

struct translator_pool {
  struct translator_parts parts;
  struct translator_rules rules;
  pthread_mutex_t lock;
  pthread_cond_t asked, answered;
  struct module_list modules;
  struct translation_cache cache;
  struct translator_counts counts;
  struct job *jobs; /* oldest first */
  uint32_t outstanding;
  bool is_full;
  atomic_bool is_stopping;
  int stop[2]; /* a pipe: closing its writing end ends all exchanges */
  struct seat seats[TRANSLATOR_PROCESSES_MAX];
  pthread_t threads[TRANSLATOR_PROCESSES_MAX];
  unsigned thread_count;
};

/* ---- the threads ---- */

static struct timespec time_at(uint64_t ns) {
  return (struct timespec){(time_t)(ns / NS_PER_SECOND), (long)(ns % NS_PER_SECOND)};
}

/* Adds the answers to the cache; with the lock held. */
static void keep(struct translator_pool *pool, struct listed_module *module,
                 const struct answer_question *question, const struct answer *answers) {
  for (uint32_t i = 0; i < question->count; i++) {
    int error =
        translation_cache_add(&pool->cache, module->number, question->addresses[i], &answers[i]);
    if (error == 0) module->told += answers[i].count > 0;
    pool->counts.named += error == 0 && answers[i].count > 0;
    if (error == -EDQUOT) module->is_full = true;
    if (error != -ENOMEM || pool->is_full) continue;
    pool->is_full = true;
    log_warn(
        "translators-full the cache of answers has its %d MiB: further ones are not kept until "
        "restart",
        TRANSLATOR_CACHE_BYTES_MAX >> 20);
  }
}

/* With the lock held. */
static void note_failure(struct translator_pool *pool, struct listed_module *module,
                         const char *why) {
  unsigned doublings =
      module->failures < RETRY_DOUBLINGS_MAX ? module->failures : RETRY_DOUBLINGS_MAX;
  uint64_t wait_ms = (uint64_t)pool->parts.times.retry_ms << doublings;
  if (wait_ms > RETRY_MS_MAX) wait_ms = RETRY_MS_MAX;
  module->failures++;
  module->retry_ns = clock_monotonic_ns() + wait_ms * NS_PER_MS;
  snprintf(module->why, sizeof module->why, "%s", why);
  log_warn("translator-failed %s: %s: again in %llu s at the soonest", module->build_id, why,
           (unsigned long long)(wait_ms / 1000));
}

/* Runs one exchange. If it returns 0, RET is set, in ARENA. */
static int ask_once(struct translator_pool *pool, struct interview *interview,
                    const struct interview_subject *subject, const struct answer_question *question,
                    struct arena *arena, struct answer *ret, char *why) {
  uint64_t starts = interview->starts;
  int error = interview_ask(interview, subject, question, arena, ret, why);
  pthread_mutex_lock(&pool->lock);
  if (!pool->is_stopping) translator_counts_add(&pool->counts, error, question->count);
  pool->counts.starts += interview->starts - starts;
  pthread_mutex_unlock(&pool->lock);
  return error;
}

/* Runs one exchange, and repeats it once after a failure. */
static int ask_piece(struct translator_pool *pool, struct interview *interview,
                     const struct interview_subject *subject,
                     const struct answer_question *question) {
  struct listed_module *module = pool->modules.modules[subject->module];
  struct answer *answers = calloc(question->count, sizeof *answers);
  char why[INTERVIEW_WHY_BYTES] = "out of memory";
  struct arena arena;
  int error = answers == NULL ? -ENOMEM : -EAGAIN;
  arena_init(&arena, EXCHANGE_BYTES_MAX);
  for (unsigned i = 0; i < TRIES_MAX && error != 0 && error != -ENOMEM && !pool->is_stopping; i++)
    error = ask_once(pool, interview, subject, question, &arena, answers, why);
  pthread_mutex_lock(&pool->lock);
  if (error == 0) {
    keep(pool, module, question, answers);
    module->failures = 0;
    snprintf(module->why, sizeof module->why, "%s",
             module->is_full ? "has a quarter of the memory for answers: no more is asked" : "");
  } else if (!pool->is_stopping) {
    note_failure(pool, module, why);
  }
  pthread_mutex_unlock(&pool->lock);
  arena_fini(&arena);
  free(answers);
  return error;
}

static void ask_all(struct translator_pool *pool, struct interview *interview,
                    const struct job *job) {
  const struct listed_module *module = pool->modules.modules[job->module];
  const struct translator_rule *rule = &pool->rules.rules[module->rule];
  const char *variables[LISTED_VARIABLES + 1] = {NULL};
  const struct interview_subject subject = {.module = job->module,
                                            .rule = rule,
                                            .times = &pool->parts.times,
                                            .variables = variables,
                                            .cancel = &pool->stop[0]};
  uint32_t most = rule->answers == TRANSLATOR_AT_END ? INTERVIEW_AT_END_MAX : INTERVIEW_STAYING_MAX;
  int error = 0;
  for (int i = 0; i < LISTED_VARIABLES; i++) variables[i] = module->variables[i];
  for (uint32_t at = 0; at < job->count && error == 0; at += most) {
    uint32_t left = job->count - at;
    const struct answer_question question = {job->addresses + at, left < most ? left : most};
    error = ask_piece(pool, interview, &subject, &question);
  }
}

/* Returns the seat for MODULE, with the lock held. A seat with the module's process is preferred,
   then an empty one. There are as many seats as threads, so one is free. */
static struct seat *take_seat(struct translator_pool *pool, uint32_t module) {
  struct seat *best = NULL;
  int best_rank = -1;
  for (unsigned i = 0; i < TRANSLATOR_PROCESSES_MAX; i++) {
    struct seat *seat = &pool->seats[i];
    bool is_empty = seat->interview.process.pid == 0;
    int rank = is_empty ? 1 : seat->interview.module == module ? 2 : 0;
    if (seat->is_taken || rank <= best_rank) continue;
    best = seat;
    best_rank = rank;
  }
  best->is_taken = true;
  return best;
}

/* Waits for a job and ends processes that were idle too long; with the lock held. */
static void wait_for_job(struct translator_pool *pool) {
  uint64_t until_ns = UINT64_MAX;
  for (unsigned i = 0; i < TRANSLATOR_PROCESSES_MAX; i++) {
    struct interview *interview = &pool->seats[i].interview;
    if (pool->seats[i].is_taken || interview->process.pid == 0) continue;
    if (interview_is_over(interview, &pool->parts.times)) {
      interview_end(interview);
      continue;
    }
    uint64_t end_ns = interview->used_ns + pool->parts.times.idle_ms * NS_PER_MS;
    if (end_ns < until_ns) until_ns = end_ns;
  }
  struct timespec until = time_at(until_ns);
  if (until_ns == UINT64_MAX)
    pthread_cond_wait(&pool->asked, &pool->lock);
  else
    pthread_cond_timedwait(&pool->asked, &pool->lock, &until);
}

/* Runs the oldest job; with the lock held, except during the exchange. */
static void do_job(struct translator_pool *pool) {
  struct job *job = pool->jobs;
  pool->jobs = job->next;
  struct seat *seat = take_seat(pool, job->module);
  pthread_mutex_unlock(&pool->lock);
  ask_all(pool, &seat->interview, job);
  pthread_mutex_lock(&pool->lock);
  seat->is_taken = false;
  pool->modules.modules[job->module]->is_asked = false;
  pool->outstanding -= job->count;
  free(job);
  pthread_cond_broadcast(&pool->answered);
}

static void *work(void *context) {
  struct translator_pool *pool = context;
  pthread_mutex_lock(&pool->lock);
  while (!pool->is_stopping) {
    if (pool->jobs != NULL)
      do_job(pool);
    else
      wait_for_job(pool);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* ---- opening and closing ---- */

static int start_threads(struct translator_pool *pool) {
  for (unsigned i = 0; i < TRANSLATOR_PROCESSES_MAX; i++) {
    int error = pthread_create(&pool->threads[i], NULL, work, pool);
    if (error != 0) return -error;
    pool->thread_count++;
  }
  return 0;
}

static struct translator_times complete(struct translator_times times) {
  if (times.quiet_ms == 0) times.quiet_ms = usual_times.quiet_ms;
  if (times.talk_ms == 0) times.talk_ms = usual_times.talk_ms;
  if (times.idle_ms == 0) times.idle_ms = usual_times.idle_ms;
  if (times.life_ms == 0) times.life_ms = usual_times.life_ms;
  if (times.retry_ms == 0) times.retry_ms = usual_times.retry_ms;
  return times;
}

int translator_pool_open(const struct translator_parts *parts, struct translator_pool **ret,
                         char *error, size_t error_len) {
  struct translator_pool *pool = calloc(1, sizeof *pool);
  pthread_condattr_t monotonic;
  char why[TRANSLATOR_RULES_WHY_BYTES];
  snprintf(error, error_len, "--translators: out of memory");
  if (pool == NULL) return -ENOMEM;
  pool->parts = *parts;
  pool->parts.times = complete(parts->times);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->asked, &monotonic);
  pthread_cond_init(&pool->answered, &monotonic);
  pthread_condattr_destroy(&monotonic);
  translation_cache_init(&pool->cache, TRANSLATOR_CACHE_BYTES_MAX);
  pool->stop[0] = pool->stop[1] = -1;
  int failure = translator_rules_read(parts->rules_path, &pool->rules, why);
  if (failure != 0) snprintf(error, error_len, "--translators %s: %s", parts->rules_path, why);
  if (failure == 0 && pipe2(pool->stop, O_CLOEXEC) != 0) failure = -errno;
  if (failure == 0) failure = start_threads(pool);
  if (failure != 0) {
    translator_pool_close(pool);
    return failure;
  }
  *ret = pool;
  return 0;
}

void translator_pool_close(struct translator_pool *pool) {
  if (pool == NULL) return;
  pthread_mutex_lock(&pool->lock);
  pool->is_stopping = true;
  if (pool->stop[1] >= 0) close(pool->stop[1]);
  pthread_cond_broadcast(&pool->asked);
  pthread_mutex_unlock(&pool->lock);
  for (unsigned i = 0; i < pool->thread_count; i++) pthread_join(pool->threads[i], NULL);
  for (unsigned i = 0; i < TRANSLATOR_PROCESSES_MAX; i++) interview_end(&pool->seats[i].interview);
  while (pool->jobs != NULL) {
    struct job *job = pool->jobs;
    pool->jobs = job->next;
    free(job);
  }
  if (pool->stop[0] >= 0) close(pool->stop[0]);
  module_list_fini(&pool->modules);
  translation_cache_fini(&pool->cache);
  translator_rules_fini(&pool->rules);
  pthread_cond_destroy(&pool->answered);
  pthread_cond_destroy(&pool->asked);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

/* ---- requests ---- */

uint32_t translator_pool_choose(struct translator_pool *pool,
                                const struct translator_module *module) {
  char arch[TRANSLATOR_WORD_BYTES] = "", build_id[MODULE_ID_TEXT_BYTES];
  uint32_t number = TRANSLATOR_NONE;
  module_list_print_id(module->id, build_id);
  if (pool->parts.arch_of != NULL)
    pool->parts.arch_of(pool->parts.context, module->board, arch, sizeof arch);
  const struct translator_case what = {arch, module->path, build_id, module->quality};
  int rule = translator_rules_choose(&pool->rules, &what);
  if (rule < 0) return TRANSLATOR_NONE;
  pthread_mutex_lock(&pool->lock);
  struct listed_module *listed = module_list_add(&pool->modules, module, (uint32_t)rule, arch);
  if (listed != NULL) number = listed->number;
  pthread_mutex_unlock(&pool->lock);
  return number;
}

/* Queues the unknown ones of ADDRESSES; with the lock held. */
static void queue(struct translator_pool *pool, struct listed_module *module,
                  const uint64_t *addresses, uint32_t count) {
  struct job **end = &pool->jobs;
  bool is_resting = module->failures > 0 && clock_monotonic_ns() < module->retry_ns;
  if (module->is_asked || is_resting || module->is_full || pool->is_full) return;
  struct job *job = calloc(1, sizeof *job + count * sizeof *job->addresses);
  if (job == NULL) return;
  for (uint32_t i = 0; i < count; i++)
    if (translation_cache_find(&pool->cache, module->number, addresses[i]) == NULL &&
        pool->outstanding + job->count < TRANSLATOR_OUTSTANDING_MAX)
      job->addresses[job->count++] = addresses[i];
  if (job->count == 0) {
    free(job);
    return;
  }
  job->module = module->number;
  pool->outstanding += job->count;
  module->is_asked = true;
  while (*end != NULL) end = &(*end)->next;
  *end = job;
  pthread_cond_broadcast(&pool->asked);
}

void translator_pool_ask(struct translator_pool *pool, uint32_t module, const uint64_t *addresses,
                         uint32_t count, uint64_t deadline_ns) {
  struct timespec until = time_at(deadline_ns);
  pthread_mutex_lock(&pool->lock);
  struct listed_module *listed = pool->modules.modules[module];
  for (int i = 0; i < QUEUED_MAX && clock_monotonic_ns() < deadline_ns; i++) {
    queue(pool, listed, addresses, count);
    while (listed->is_asked && clock_monotonic_ns() < deadline_ns)
      pthread_cond_timedwait(&pool->answered, &pool->lock, &until);
  }
  pthread_mutex_unlock(&pool->lock);
}

int translator_pool_find(struct translator_pool *pool, uint32_t module, uint64_t address,
                         struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  pthread_mutex_lock(&pool->lock);
  const struct answer *answer = translation_cache_find(&pool->cache, module, address);
  int count = answer != NULL && answer->count > 0 ? (int)answer->count : -ENOENT;
  for (int i = 0; i < count; i++) frames[i] = answer->frames[i];
  pthread_mutex_unlock(&pool->lock);
  return count;
}

void translator_pool_refuse(struct translator_pool *pool, uint32_t module) {
  pthread_mutex_lock(&pool->lock);
  pool->counts.refused++;
  pool->modules.modules[module]->is_refuted = true;
  pthread_mutex_unlock(&pool->lock);
}

int translator_pool_tell(struct translator_pool *pool, struct span id,
                         struct translator_state *ret) {
  int error = -ENOENT;
  pthread_mutex_lock(&pool->lock);
  const struct listed_module *module = module_list_find_id(&pool->modules, id);
  if (module != NULL) {
    ret->command = pool->rules.rules[module->rule].command;
    ret->told = module->told;
    memcpy(ret->quality, module->quality, sizeof ret->quality);
    memcpy(ret->why, module->why, sizeof ret->why);
    if (module->why[0] == '\0' && module->is_refuted)
      snprintf(ret->why, sizeof ret->why,
               "names addresses by functions that end before them: those names are not believed");
    error = 0;
  }
  pthread_mutex_unlock(&pool->lock);
  return error;
}

void translator_pool_metrics(struct translator_pool *pool, struct buf *ret) {
  pthread_mutex_lock(&pool->lock);
  struct translator_counts counts = pool->counts;
  counts.waiting = pool->outstanding;
  counts.kept = pool->cache.count;
  pthread_mutex_unlock(&pool->lock);
  translator_counts_print(&counts, ret);
}
