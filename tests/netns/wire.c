/* SPDX-License-Identifier: Apache-2.0 */
/* wire: a cable between two interfaces of this network namespace, with faults.

     wire A B        carries Ethernet frames both ways until its stdin ends
     wire --plain A  only turns off A's offloads, so that what is sent has its length and checksum

   A line on stdin changes its settings for later frames:

     loss=PERCENT    of the frames are dropped, each by itself; 100 is a line that is cut
     delay=MS        that a frame takes, one way
     rate=BYTES      a second, one way; 0 is no limit

   It replaces netem on kernels without it: packet sockets with one queue each way. The queues are
   limited, so a slow line has a bounded delay. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MS 1000000ULL

enum {
  FRAME_BYTES = 2048, /* an MTU of 1500 and its head */
  ROOM_FRAMES = 1024, /* of a line of 2 s at 6 Mbit/s */
  ROOM_SECONDS = 8,   /* buffer of a slow line, as in modems */
  LINE_BYTES = 256,
};

struct frame {
  uint64_t due_ns;
  size_t len;
  uint8_t bytes[FRAME_BYTES];
};

struct way { /* one direction */
  int from, to;
  uint64_t free_ns; /* the line is busy until then */
  unsigned first, count;
  size_t bytes;
  struct frame frames[ROOM_FRAMES];
};

struct faults {
  double loss_percent;
  uint64_t delay_ns, rate_bytes;
};

static struct way ways[2]; /* large */
static struct faults faults;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void die(const char *what) {
  fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void go_plain(const char *name) {
  static const uint32_t commands[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) die("socket");
  for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
    struct ethtool_value value = {.cmd = commands[i]};
    struct ifreq request = {.ifr_data = (void *)&value};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(fd, SIOCETHTOOL, &request) != 0 && commands[i] == ETHTOOL_STXCSUM) die(name);
  }
  close(fd);
}

static int open_end(const char *name) {
  struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
  address.sll_ifindex = (int)if_nametoindex(name);
  struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
  int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0)
    die(name);
  return fd;
}

static int is_lost(void) {
  uint32_t bits = 0;
  if (faults.loss_percent <= 0) return 0;
  if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) die("getrandom");
  return bits / 4294967296.0 * 100 < faults.loss_percent;
}

static void take(struct way *way) {
  struct sockaddr_ll from;
  socklen_t from_len = sizeof from;
  struct frame *frame = &way->frames[(way->first + way->count) % ROOM_FRAMES];
  static uint8_t spill[FRAME_BYTES];
  size_t room = faults.rate_bytes > 0 ? faults.rate_bytes * ROOM_SECONDS : SIZE_MAX;
  int has_room = way->count < ROOM_FRAMES && way->bytes < room;
  ssize_t len = recvfrom(way->from, has_room ? frame->bytes : spill, FRAME_BYTES, MSG_TRUNC,
                         (struct sockaddr *)&from, &from_len);
  if (len < 0 && errno != EAGAIN && errno != ENETDOWN) die("recvfrom");
  if (len <= 0 || len > FRAME_BYTES || from.sll_pkttype == PACKET_OUTGOING) return;
  if (!has_room || is_lost()) return;
  uint64_t at_ns = now_ns();
  if (way->free_ns < at_ns) way->free_ns = at_ns;
  if (faults.rate_bytes > 0) way->free_ns += (uint64_t)len * NS_PER_SECOND / faults.rate_bytes;
  frame->due_ns = way->free_ns + faults.delay_ns;
  frame->len = (size_t)len;
  way->count++;
  way->bytes += frame->len;
}

/* Sends the frames that are due; returns the time of the next one. */
static uint64_t give(struct way *way, uint64_t at_ns) {
  while (way->count > 0) {
    struct frame *frame = &way->frames[way->first];
    if (frame->due_ns > at_ns) return frame->due_ns;
    if (send(way->to, frame->bytes, frame->len, 0) < 0 && errno != ENOBUFS && errno != EAGAIN &&
        errno != ENETDOWN && errno != EMSGSIZE)
      die("send");
    way->first = (way->first + 1) % ROOM_FRAMES;
    way->count--;
    way->bytes -= frame->len;
  }
  return UINT64_MAX;
}

static void obey(char *line) {
  for (char *rest = line, *word; (word = strsep(&rest, " \n")) != NULL;) {
    char *value = strchr(word, '=');
    if (value == NULL) continue;
    *value++ = '\0';
    if (strcmp(word, "loss") == 0) faults.loss_percent = strtod(value, NULL);
    if (strcmp(word, "delay") == 0) faults.delay_ns = strtoull(value, NULL, 10) * NS_PER_MS;
    if (strcmp(word, "rate") == 0) faults.rate_bytes = strtoull(value, NULL, 10);
  }
}

static void carry(void) {
  struct pollfd fds[] = {{ways[0].from, POLLIN, 0}, {ways[1].from, POLLIN, 0}, {0, POLLIN, 0}};
  char line[LINE_BYTES];
  for (;;) {
    uint64_t at_ns = now_ns(), due_ns = UINT64_MAX;
    for (unsigned i = 0; i < 2; i++) {
      uint64_t next_ns = give(&ways[i], at_ns);
      if (next_ns < due_ns) due_ns = next_ns;
    }
    uint64_t wait_ns = due_ns - at_ns;
    struct timespec wait = {(time_t)(wait_ns / NS_PER_SECOND), (long)(wait_ns % NS_PER_SECOND)};
    if (ppoll(fds, 3, due_ns == UINT64_MAX ? NULL : &wait, NULL) < 0 && errno != EINTR)
      die("ppoll");
    for (unsigned i = 0; i < 2; i++)
      if (fds[i].revents != 0) take(&ways[i]);
    if (fds[2].revents == 0) continue;
    if (fgets(line, sizeof line, stdin) == NULL) return;
    obey(line);
  }
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--plain") == 0) {
    go_plain(argv[2]);
    return 0;
  }
  if (argc != 3) {
    fprintf(stderr, "usage: wire A B, or wire --plain A\n");
    return 2;
  }
  setvbuf(stdin, NULL, _IONBF, 0); /* poll must see input that fgets would buffer */
  ways[0].from = ways[1].to = open_end(argv[1]);
  ways[1].from = ways[0].to = open_end(argv[2]);
  carry();
  return 0;
}
