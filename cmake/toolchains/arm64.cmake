# SPDX-License-Identifier: Apache-2.0
# Debian's arm64: AArch64.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(FLEETPROF_TRIPLET aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
