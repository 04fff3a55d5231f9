# SPDX-License-Identifier: Apache-2.0
# Debian's armhf: ARMv7 with hardware floating point, Thumb-2 code.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(FLEETPROF_TRIPLET arm-linux-gnueabihf)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
