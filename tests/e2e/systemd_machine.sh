#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# systemd_machine.sh UNITS: becomes the first process of a machine in separate namespaces: this
# machine's files under an overlay in memory, and a real systemd with only the units in the folder
# UNITS. So it changes nothing on this machine. For `unshare -m -p -u -i -n -C --fork`, in a
# separate control group.
set -eu
units=$1
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root
mkdir -p machine usr/local proc sys dev run tmp etc/fleetprof var/lib
cp -a "$units" machine/units
cp -a "$FLEETPROF_PREFIX/." usr/local/
cp "$FLEETPROF_TARGETS/truth" usr/local/bin/
mount -t proc proc proc
mount -o bind,ro proc/sys proc/sys # the kernel's settings are everybody's
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for memory in run tmp var/tmp; do mount -t tmpfs -o mode=1777 tmpfs $memory; done
chmod 755 run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device && mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --move . /
exec chroot . /usr/bin/env -i container=other PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  SYSTEMD_UNIT_PATH=/machine/units /lib/systemd/systemd --system --unit=basic.target --log-target=null
