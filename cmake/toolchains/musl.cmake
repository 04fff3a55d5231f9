# SPDX-License-Identifier: Apache-2.0
# The machine's own CPU with musl in place of glibc, by Debian's musl-tools, whose compiler finds none
# of the kernel's headers by itself: they come last.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
find_program(FLEETPROF_CROSS_COMPILER musl-gcc) # as debian.cmake has it
mark_as_advanced(FLEETPROF_CROSS_COMPILER)
if(NOT FLEETPROF_CROSS_COMPILER)
  message(FATAL_ERROR "musl-gcc is not there: install Debian's musl-tools (deploy/packages/cross.txt)")
endif()
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_C_FLAGS_INIT
    "-idirafter /usr/include -idirafter /usr/include/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu")
