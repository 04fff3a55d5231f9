# SPDX-License-Identifier: Apache-2.0
# Debian's riscv64: RV64GC.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(FLEETPROF_TRIPLET riscv64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
