/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of targets and the command line to the daemon, over a SOCK_SEQPACKET unix socket: one
   fixed-size struct per packet, with descriptors.  Sizes are fixed, so that the preload needs
   neither a parser nor an allocator.  The sender's pid and uid come from SO_PEERCRED, never from
   the packet.

     any client        ...
       daemon          BUSY {why}: nothing was done; retry later (its worker hangs, or the requests
                       of the user's programs take too much of its time)
     target (preload)  TARGET {hz, service, labels, exe, argv, collect ...} + fd of /proc/self/maps,
                       if there is one
       daemon          RING {} + memfd          or REFUSED {why}; paused if perf samples the
                       sender, with events that the daemon has opened on it
     fleetprof run     PERF {pid, hz, service, labels} + one perf event fd per CPU, in CPU order;
                       those of another user than the daemon's are closed and reopened
       daemon          ACCEPTED                 or REFUSED {why}
     fleetprof run     FLUSH {pid, user/system time}: the program has ended
       daemon          FLUSHED {outcome, count of samples, their samplers}, once all drained data
                       is acked, or is known to stay in the spool
     fleetprof status  STATUS
       daemon          TEXT + memfd with JSON
     fleetprof run     NOTE {pid, sampler, why}: the sampler chosen for the target and why
       daemon          ACCEPTED
     fleetprof ctl     CTL {verb, hz, service}
       daemon          ACCEPTED {count, why: targets that obey}  or REFUSED {why} */
#ifndef INTAKE_INTAKE_FORMAT_H
#define INTAKE_INTAKE_FORMAT_H

#include <stdint.h>

enum {
  INTAKE_MAGIC = 0x4e495246, /* "FRIN" */
  INTAKE_VERSION = 5,
  INTAKE_FDS_MAX = 250, /* SCM_RIGHTS carries at most 253 */
  INTAKE_SERVICE_BYTES = 128,
  INTAKE_LABELS_BYTES = 1024, /* "k=v\nk=v" */
  INTAKE_PATH_BYTES = 1024,
  INTAKE_WHY_BYTES = 256,
  INTAKE_ARGV_BYTES = 512, /* words separated by NUL, cut */
  INTAKE_SAMPLERS_BYTES = 48,
  INTAKE_RATE_MHZ_MIN = 100,
  INTAKE_RATE_MHZ_MAX = 10000 * 1000,
  INTAKE_RATE_MHZ_AUTO = 1000 * 1000, /* initial rate of a `run` without --hz (targets/rate.h) */
};

#define INTAKE_SOCKET_NAME "fleetprofd.sock"

enum intake_kind {
  INTAKE_TARGET = 1,
  INTAKE_PERF = 2,
  INTAKE_NOTE = 3,
  INTAKE_FLUSH = 4,
  INTAKE_STATUS = 5,
  INTAKE_CTL = 6,
  INTAKE_RING = 16,
  INTAKE_ACCEPTED = 17,
  INTAKE_REFUSED = 18,
  INTAKE_FLUSHED = 19,
  INTAKE_TEXT = 20,
  INTAKE_BUSY = 21,
};

enum intake_flush_outcome {
  INTAKE_FLUSH_ACKED = 0,   /* the collector has stored all of it */
  INTAKE_FLUSH_SPOOLED = 1, /* kept in the spool; why is the reason why the uplink waits */
  INTAKE_FLUSH_LOST = 2,    /* the disk or the collector rejected it for good; counted */
};

enum intake_verb { INTAKE_PAUSE = 1, INTAKE_RESUME = 2, INTAKE_RATE = 3 };

/* How the target's arguments were found (preload/identity.h). */
enum intake_argv { INTAKE_ARGV_NONE = 0, INTAKE_ARGV_VERIFIED = 1, INTAKE_ARGV_GUESSED = 2 };

struct intake_request {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
  int32_t pid; /* PERF, NOTE, FLUSH: the program that `run` started */
  /* Thousandths of a hertz.  0 in TARGET: the rate in its run's NOTE, else the daemon's default.  0
     in PERF and NOTE: the daemon sets the rate by the budget, and the events sent with it have
     INTAKE_RATE_MHZ_AUTO. */
  uint32_t asked_mhz;
  uint64_t user_ns; /* FLUSH: CPU time of the ended tree, as the kernel reports it to the parent */
  uint64_t system_ns;
  uint64_t deadline_ms;              /* FLUSH: the caller's timeout */
  uint32_t collect;                  /* TARGET, PERF, NOTE: enum ring_collect */
  uint32_t clock;                    /* TARGET: enum ring_clock */
  uint32_t bin_bytes, counter_bytes; /* histogram; 0: the default */
  uint32_t last;                     /* recorder: values kept per thread; 0: the default */
  uint32_t is_dormant;               /* TARGET: no timer until requested */
  uint32_t verb;                     /* CTL: enum intake_verb */
  uint32_t argv_quality;             /* TARGET: enum intake_argv */
  uint32_t unwind;                   /* TARGET, PERF, NOTE: enum unwind_choice */
  uint32_t content;                  /* PERF: enum perf_content of the events sent with it */
  char sampler[16]; /* NOTE: the chosen sampler; TARGET: the requested sampler, or empty */
  char service[INTAKE_SERVICE_BYTES]; /* empty: the program's file name */
  char labels[INTAKE_LABELS_BYTES];
  char exe[INTAKE_PATH_BYTES];
  char why[INTAKE_WHY_BYTES];   /* NOTE, PERF: why no better sampler was chosen */
  char argv[INTAKE_ARGV_BYTES]; /* TARGET */
};

struct intake_reply {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
  uint32_t outcome;   /* FLUSHED: enum intake_flush_outcome */
  uint16_t has_count; /* FLUSHED: 1 if count is known */
  uint16_t living;    /* FLUSHED: targets of the run that continue */
  /* FLUSHED: samples of the ended program, including its tree; ACCEPTED of CTL: targets that
     obey */
  uint64_t count;
  char why[INTAKE_WHY_BYTES];           /* ACCEPTED of CTL: their names, as many as fit */
  char samplers[INTAKE_SAMPLERS_BYTES]; /* FLUSHED: their samplers, "timer and perf"; or empty */
  char page_url[INTAKE_WHY_BYTES];      /* FLUSHED: from Welcome, if known */
};

#endif
