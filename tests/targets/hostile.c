/* SPDX-License-Identifier: Apache-2.0 */
/* A malicious program: it registers with the daemon like any target, then writes arbitrary data
   into the ring while the daemon reads it.

     hostile SOCKET SECONDS MODE PID GO   MODE: stacks, pc-lr, histogram, recorder, packets,
                                          register, events, greed, flood

   PID: another user's process, in whose name slots are claimed. GO: a file; when it exists, all
   instances begin.

   The ring modes write noise, which the first check rejects, and also nearly valid records, slots
   and tables, with addresses all over 10 000 file mappings. "events" opens kernel events with
   fields other than the daemon expects, so register contents stand where an identity should.
   "greed" registers and never waits for the answer, which is cheap for the program and expensive
   for the daemon. "flood" is for a program that perf already samples: it maps files, renames itself
   and starts threads or programs without end, and the kernel records each event. Prints counts of
   its actions. */
#include "intake/intake_client.h"
#include "intake/perf_attr.h"
#include "ring/histogram_format.h"
#include "ring/recorder_format.h"
#include "ring/ring_format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  FILES = 2000,
  MAPPINGS = 10000,
  FILE_BYTES = 4096,
  TIMEOUT_MS = 2000,
  ENROLL_SECONDS =
      60, /* as long as the test waits: the daemon puts a user off that costs too much */
  CALLS_A_LOOK = 64
};

static uint64_t seed = 88172645463325252ULL;
static const char *socket_path;
static uint8_t *code; /* FILES mappings in a row */
static pid_t stranger = 1;
static const char *go_path;
static double seconds, end_seconds;

static uint64_t noise(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

static uint64_t bad_length(void) {
  static const uint64_t lengths[] = {0,          1,    7,          1 << 16,    1ULL << 31,
                                     UINT32_MAX, 4096, 1ULL << 32, 1ULL << 63, UINT64_MAX};
  return noise() % 4 == 0 ? noise() : lengths[noise() % (sizeof lengths / sizeof lengths[0])];
}

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static _Noreturn void give_up(const char *what, int error) {
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(2);
}

/* Reports that it is ready, and waits for the other instances. */
static void begin(void) {
  fprintf(stderr, "begins\n");
  while (access(go_path, F_OK) != 0) usleep(10000);
  end_seconds = now_seconds() + seconds;
}

/* Maps many small files with hostile names executable, next to each other, so mappings are never
   merged. Half of the names are then deleted. */
static void map_files(void) {
  char name[64], dir[] = "/tmp/fleetprof-hostile.XXXXXX";
  if (mkdtemp(dir) == NULL) give_up(dir, errno);
  code = mmap(NULL, (size_t)MAPPINGS * FILE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < FILES; i++) {
    static const char head[] = "\177ELF\2\1\1<b>\033[31m";
    snprintf(name, sizeof name, "%s/%d\n<i>\t.so", dir, i);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    if (fd < 0 || write(fd, head, sizeof head) < 0 || ftruncate(fd, FILE_BYTES) < 0)
      give_up(name, errno);
    for (int at = i; at < MAPPINGS; at += FILES)
      mmap(code + (size_t)at * FILE_BYTES, FILE_BYTES, PROT_READ | PROT_EXEC,
           MAP_PRIVATE | MAP_FIXED, fd, 0);
    close(fd);
  }
  for (int i = 0; i < FILES; i++) {
    snprintf(name, sizeof name, "%s/%d\n<i>\t.so", dir, i);
    if (i >= FILES / 2) unlink(name);
  }
  snprintf(name, sizeof name, "rm -rf %s", dir);
  pid_t parent = getpid();
  if (fork() == 0) { /* the names stay while it runs */
    while (kill(parent, 0) == 0) usleep(100000);
    execl("/bin/sh", "sh", "-c", name, (char *)NULL);
    _exit(127);
  }
}

static uint64_t any_pc(void) {
  uint64_t pick = noise();
  if (pick % 8 == 0) return bad_length();
  return (uint64_t)(uintptr_t)code + (pick >> 8) % ((uint64_t)MAPPINGS * FILE_BYTES);
}

static void lie(char *text, size_t size) {
  static const char *const lies[] = {"<script>alert(1)</script>",
                                     "\033]0;owned\007\033[2J",
                                     "\xff\xfe\xc0\x80\xed\xa0\x80",
                                     "../../../etc/passwd\n\r\t",
                                     "honest",
                                     "{service=\"honest\"}"};
  const char *from = lies[noise() % 6];
  for (size_t i = 0; i < size; i++) text[i] = from[i % (strlen(from) + noise() % 2)];
  if (noise() % 2) text[noise() % size] = '\0';
}

static void introduce(struct intake_request *request, unsigned collect) {
  intake_client_request(request, INTAKE_TARGET);
  request->collect = collect;
  request->asked_mhz = INTAKE_RATE_MHZ_MAX;
  request->argv_quality = (uint32_t)noise();
  lie(request->service, sizeof request->service);
  lie(request->labels, sizeof request->labels);
  lie(request->exe, sizeof request->exe);
  lie(request->why, sizeof request->why);
  lie(request->argv, sizeof request->argv);
  request->service[sizeof request->service - 1] = '\0';
  memcpy(request->service, "hostile", noise() % 2 ? 8 : 7);
}

/* Registers. Returns the ring's descriptor, -1 on failure, or -EAGAIN: the daemon requests a retry
   later. */
static int enroll(unsigned collect, struct intake_request *request) {
  struct intake_answer answer = {.fd = -1};
  int socket, maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  introduce(request, collect);
  int error = intake_client_connect(socket_path, TIMEOUT_MS, &socket);
  if (error) {
    close(maps);
    return error;
  }
  struct intake_call call = {request, &maps, 1, TIMEOUT_MS, false};
  error = intake_client_call(socket, &call, &answer);
  if (!error && answer.reply.kind == INTAKE_REFUSED) fprintf(stderr, "%s\n", answer.reply.why);
  close(maps);
  close(socket);
  if (!error && answer.reply.kind == INTAKE_BUSY) return -EAGAIN;
  if (!error && answer.fd < 0) return -ECONNREFUSED;
  return error ? error : answer.fd;
}

/* A record with a valid form and false content. */
static size_t put_record(uint8_t *at, size_t room, unsigned collect) {
  struct ring_record record = {0};
  if (collect == RING_PC_LR) {
    struct ring_pair pair = {(any_pc() & 0xffffffffffffULL) | noise() << 48, any_pc()};
    memcpy(at, &pair, sizeof pair);
    return sizeof pair;
  }
  record.depth = (uint16_t)(1 + noise() % RING_DEPTH_MAX);
  record.size_bytes = (uint16_t)(sizeof record + 8U * record.depth);
  record.weight = (uint32_t)(1 + noise() % 1000);
  if (record.size_bytes > room) return room;
  memcpy(at, &record, sizeof record);
  for (unsigned i = 0; i < record.depth; i++) {
    uint64_t pc = any_pc();
    memcpy(at + sizeof record + 8U * i, &pc, sizeof pc);
  }
  return record.size_bytes;
}

static void scribble_slot(uint8_t *ring, const struct ring_header *was, unsigned collect) {
  uint64_t at = ring_slot_offset((uint32_t)(noise() % was->slot_count), was->slot_bytes);
  if (collect == RING_RECORDER) at += RECORDER_OFFSET - RING_HEADER_BYTES;
  struct ring_slot *slot = (struct ring_slot *)(void *)(ring + at);
  uint8_t *bytes = ring + at + RING_SLOT_HEADER_BYTES;
  uint32_t pids[] = {
      (uint32_t)getpid(), (uint32_t)stranger, 1, (uint32_t)getppid(), (uint32_t)(noise() % 4000000),
      UINT32_MAX};
  if (noise() % 4 == 0) slot->owner = ring_owner(pids[noise() % 6], (uint32_t)noise() % 4000000);
  if (noise() % 8 == 0) slot->magic = (uint32_t)noise();
  if (noise() % 8 == 0) slot->tail = bad_length();
  if (noise() % 8 == 0) slot->state = (uint32_t)noise();
  if (noise() % 8 == 0) slot->dropped_full = bad_length();
  for (size_t used = 0; used + 1100 < was->slot_bytes;)
    used += put_record(bytes + used, was->slot_bytes - used, collect);
  slot->tail = 0;
  slot->head = noise() % 16 == 0 ? bad_length() : was->slot_bytes;
}

static void scribble_header(uint8_t *ring) {
  struct ring_header *header = (struct ring_header *)(void *)ring;
  struct ring_process *row = &header->processes[noise() % RING_PROCESSES_MAX];
  uint32_t pids[] = {(uint32_t)getpid(), (uint32_t)stranger, 1, (uint32_t)getppid()};
  header->serial = (uint32_t)noise();
  header->serial_seen = (uint32_t)noise();
  header->slots_claimed = noise() % 8 ? header->slot_count : (uint32_t)noise();
  header->cost_p50 = (uint32_t)bad_length();
  header->cost_p99 = (uint32_t)bad_length();
  row->who = (uint64_t)pids[noise() % 4] << 32;
  row->asked = header->serial;
  row->armed = (uint32_t)(noise() % 2);
  if (noise() % 64 == 0)
    ((uint64_t *)(void *)ring)[noise() % (RING_HEADER_BYTES / 8)] = bad_length();
}

static void scribble_tables(uint8_t *ring, size_t size, unsigned collect) {
  if (collect < RING_HISTOGRAM) return;
  struct image_table *image = (struct image_table *)(void *)(ring + IMAGE_OFFSET);
  uint32_t *words = (uint32_t *)(void *)(ring + IMAGE_OFFSET);
  words[noise() % (IMAGE_BYTES / 4)] = (uint32_t)bad_length();
  if (noise() % 4 == 0) image->serial |= 1;
  struct image_module *module = &image->modules[noise() % IMAGE_MODULES_MAX];
  lie(module->path, sizeof module->path);
  for (unsigned i = 0; i < IMAGE_ID_BYTES; i++) module->id[i] = (uint8_t)noise();
  if (collect != RING_HISTOGRAM) return;
  struct histogram_header *header = (struct histogram_header *)(void *)(ring + HISTOGRAM_OFFSET);
  for (unsigned i = 0; i < 1000; i++)
    ring[HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES + noise() % (size - 61440)] = (uint8_t)noise();
  header->outside = noise() % 2 ? header->outside + 1 : bad_length();
  header->samples = noise() % 16 ? noise() % 8192 : bad_length();
  header->units = noise() % 16 ? header->samples + noise() % 1024 : bad_length();
  if (noise() % 16 == 0) header->taken_rest[noise() % HISTOGRAM_RESTS] = bad_length();
  if (noise() % 16 == 0) header->taken_sum.records = bad_length();
  if (noise() % 16 == 0) header->taken_sum.units = bad_length();
  if (noise() % 16 == 0) header->taken_boottime_ns = bad_length();
  if (noise() % 256 == 0) header->counters_offset = bad_length();
}

static void torture_ring(unsigned collect) {
  struct intake_request request;
  uint64_t strokes = 0;
  int fd = enroll(collect, &request);
  double until = now_seconds() + ENROLL_SECONDS;
  while (fd < 0 && now_seconds() < until) {
    usleep(100000);
    fd = enroll(collect, &request);
  }
  struct stat found;
  if (fd < 0) give_up("register", -fd);
  if (fstat(fd, &found) < 0) give_up("fstat", errno);
  size_t size = (size_t)found.st_size;
  uint8_t *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) give_up("mmap", errno);
  struct ring_header was;
  memcpy((void *)&was, ring, sizeof was);
  begin();
  for (; strokes % CALLS_A_LOOK != 0 || now_seconds() < end_seconds; strokes++) {
    scribble_header(ring);
    if (was.slot_count > 0) scribble_slot(ring, &was, collect);
    scribble_tables(ring, size, collect);
    if (noise() % 1024 == 0) ring[noise() % size] = (uint8_t)noise();
  }
  printf("%llu strokes over a ring of %zu bytes\n", (unsigned long long)strokes, size);
}

/* Descriptors of other kinds than the packet declares. */
static int foreign(void) {
  int ends[2];
  switch (noise() % 6) {
  case 0:
    return open("/dev/zero", O_RDONLY | O_CLOEXEC);
  case 1:
    return open("/proc", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  case 2:
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    close(ends[1]);
    return ends[0];
  case 3:
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  case 4:
    return open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  default:
    return memfd_create("hostile", MFD_CLOEXEC);
  }
}

static void send_packet(int socket, const struct intake_request *request, size_t len) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * 8)];
  } control;
  struct iovec piece = {(void *)(uintptr_t)request, len};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  unsigned count = (unsigned)(noise() % 9), made = 0;
  int fds[8];
  while (made < count && (fds[made] = foreign()) >= 0) made++;
  if (made > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * made);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * made);
    memcpy(CMSG_DATA(head), fds, sizeof(int) * made);
  }
  sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (unsigned i = 0; i < made; i++) close(fds[i]);
}

static void torture_packets(void) {
  union {
    struct intake_request request;
    uint8_t bytes[2 * sizeof(struct intake_request)];
  } packet;
  uint64_t packets = 0, connections = 0;
  while (now_seconds() < end_seconds) {
    int socket;
    if (intake_client_connect(socket_path, TIMEOUT_MS, &socket) != 0) continue;
    connections++;
    for (unsigned left = (unsigned)(noise() % 8); left > 0; left--) {
      introduce(&packet.request, (unsigned)(noise() % 5));
      packet.request.kind = (uint16_t)(1 + noise() % 7);
      packet.request.pid = noise() % 2 ? stranger : (int32_t)noise();
      packet.request.verb = INTAKE_PAUSE;
      packet.request.last = (uint32_t)bad_length();
      packet.request.bin_bytes = noise() % 2 ? 0 : (uint32_t)bad_length();
      if (noise() % 4 == 0) packet.bytes[noise() % 16] = (uint8_t)noise();
      size_t len = noise() % 4 ? sizeof packet.request : noise() % sizeof packet;
      /* A kind that requests a file in the place of the honest program's file is permitted to the
         same user. So this packet names only this program, and pauses no other by name. */
      memcpy(packet.request.service, "hostile", 8);
      if (noise() % 16 == 0) len = 0; /* descriptors beside nothing */
      send_packet(socket, &packet.request, len);
      packets++;
    }
    close(socket);
  }
  printf("%llu packets over %llu connections\n", (unsigned long long)packets,
         (unsigned long long)connections);
}

static void torture_register(void) {
  enum { RING, REFUSED, WAITS, ENDS };
  uint64_t count[ENDS] = {0};
  while (now_seconds() < end_seconds) {
    pid_t child = fork();
    if (child == 0) {
      struct intake_request request;
      seed ^= (uint64_t)getpid() << 20;
      int fd = enroll((unsigned)(noise() % 4), &request);
      _exit(fd >= 0 ? RING : fd == -EAGAIN ? WAITS : REFUSED);
    }
    int status = 0;
    waitpid(child, &status, 0);
    count[WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) % ENDS : REFUSED]++;
  }
  printf("%llu rings, %llu refused, %llu told to wait\n", (unsigned long long)count[RING],
         (unsigned long long)count[REFUSED], (unsigned long long)count[WAITS]);
}

/* Events that can be redirected into the daemon's rings and whose records have another meaning. */
static unsigned open_events(int fds[INTAKE_FDS_MAX]) {
  struct perf_event_attr attr;
  unsigned count = 0;
  perf_attr_fill(&attr, 1 + noise() % 1000000);
  attr.disabled = attr.enable_on_exec = 0;
  attr.sample_type = PERF_SAMPLE_TIME | (noise() & (PERF_ATTR_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER |
                                                    PERF_SAMPLE_CPU | PERF_SAMPLE_READ));
  if (noise() % 4 == 0) attr.sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
  attr.sample_regs_user = attr.sample_type & PERF_SAMPLE_REGS_USER ? 1 + noise() % 0xff : 0;
  attr.sample_id_all = noise() % 2;
  if (attr.sample_type & PERF_SAMPLE_READ) attr.inherit = 0;
  for (int cpu = 0; count < INTAKE_FDS_MAX && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
    if ((fds[count] = perf_attr_open(&attr, 0, cpu)) >= 0) count++;
  return count;
}

/* Runs for a moment with noise in its registers, in calls to nowhere in particular. */
static void run_noisily(void) {
  double until = now_seconds() + 0.05;
  while (now_seconds() < until)
    for (int i = 0; i < 100000; i++) noise();
}

static int forge(void) {
  struct intake_request request;
  struct intake_answer answer = {.fd = -1};
  int socket, fds[INTAKE_FDS_MAX];
  unsigned count = open_events(fds);
  introduce(&request, noise() % 2 ? RING_STACKS : RING_PC_LR);
  request.kind = INTAKE_PERF;
  request.pid = (int32_t)getpid();
  if (count == 0 || intake_client_connect(socket_path, TIMEOUT_MS, &socket) != 0) return 1;
  struct intake_call call = {&request, fds, count, TIMEOUT_MS, false};
  int error = intake_client_call(socket, &call, &answer);
  run_noisily();
  return error != 0 || answer.reply.kind != INTAKE_ACCEPTED;
}

static void torture_events(void) {
  uint64_t taken = 0, refused = 0;
  while (now_seconds() < end_seconds) {
    pid_t child = fork();
    if (child == 0) {
      seed ^= (uint64_t)getpid() << 20;
      _exit(forge());
    }
    int status = 0;
    waitpid(child, &status, 0);
    taken += status == 0;
    refused += status != 0;
  }
  printf("%llu events' programs, %llu refused\n", (unsigned long long)taken,
         (unsigned long long)refused);
}

/* Returns the number of answers received that request waiting. */
static uint64_t read_answers(int socket) {
  struct intake_reply reply;
  uint64_t waits = 0;
  while (recv(socket, &reply, sizeof reply, MSG_DONTWAIT) == (ssize_t)sizeof reply)
    waits += reply.kind == INTAKE_BUSY; /* the kernel closes a ring that was sent along */
  return waits;
}

static void torture_greed(void) {
  struct intake_request request;
  const struct timeval patience = {0, 100000};
  uint64_t asked = 0, waits = 0;
  while (now_seconds() < end_seconds) {
    int socket;
    if (intake_client_connect(socket_path, TIMEOUT_MS, &socket) != 0) continue;
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    introduce(&request, RING_STACKS);
    for (int i = 0; i < CALLS_A_LOOK; i++, asked++)
      if (send(socket, &request, sizeof request, MSG_NOSIGNAL) < 0) break;
    waits += read_answers(socket);
    close(socket);
  }
  printf("%llu registrations, %llu times told to wait\n", (unsigned long long)asked,
         (unsigned long long)waits);
}

/* Records that the kernel makes for perf: of mappings, names, forks and ends. */
static void torture_flood(void) {
  uint64_t mappings = 0, names = 0, forks = 0;
  int fd = memfd_create("\033[31m<script>.so", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, FILE_BYTES) < 0) give_up("memfd_create", errno);
  while (now_seconds() < end_seconds) {
    for (int i = 0; i < CALLS_A_LOOK; i++, mappings++)
      mmap(code + (noise() % MAPPINGS) * FILE_BYTES, FILE_BYTES, PROT_READ | PROT_EXEC,
           MAP_PRIVATE | MAP_FIXED, fd, 0);
    char name[16];
    lie(name, sizeof name);
    names += prctl(PR_SET_NAME, noise() % 4 ? name : "truth") == 0;
    if (noise() % 64 != 0) continue;
    pid_t child = fork();
    if (child == 0) _exit(0);
    forks += waitpid(child, NULL, 0) == child;
  }
  printf("%llu mappings, %llu names, %llu forks\n", (unsigned long long)mappings,
         (unsigned long long)names, (unsigned long long)forks);
}

int main(int argc, char **argv) {
  static const char *const modes[] = {"stacks",   "pc-lr",  "histogram", "recorder", "packets",
                                      "register", "events", "greed",     "flood"};
  unsigned mode = 0;
  if (argc != 6) return 2;
  socket_path = argv[1];
  seconds = strtod(argv[2], NULL);
  stranger = (pid_t)strtol(argv[4], NULL, 10);
  go_path = argv[5];
  while (mode < 9 && strcmp(modes[mode], argv[3]) != 0) mode++;
  seed ^= (uint64_t)getpid() << 32;
  if (mode < 4 || mode == 8) map_files();
  if (mode < 4) {
    torture_ring(mode);
    return 0;
  }
  static void (*const tortures[])(void) = {torture_packets, torture_register, torture_events,
                                           torture_greed, torture_flood};
  if (mode == 9) return 2;
  begin();
  tortures[mode - 4]();
  return 0;
}
