# SPDX-License-Identifier: Apache-2.0
# Debian's mipsel: MIPS32 release 2, little-endian, o32.
set(CMAKE_SYSTEM_PROCESSOR mips)
set(FLEETPROF_TRIPLET mipsel-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
