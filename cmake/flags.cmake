# SPDX-License-Identifier: Apache-2.0
# Warnings, hardening and sanitizers: the only place with compiler flags, except the preload's own
# (agent/preload/CMakeLists.txt), which runs in foreign processes.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64 FLEETPROF_VERSION="${PROJECT_VERSION}")
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes
                    -Wmissing-prototypes -Wformat=2 -fno-common
                    "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(FLEETPROF_DEV)
  add_compile_options(-Werror)
endif()

# Frame pointers: for profiling fleetprof itself, and for debugging.
add_compile_options(-fno-omit-frame-pointer)

if(WITH_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link) # coverage for libFuzzer, in every library
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(FLEETPROF_SANITIZE STREQUAL "address")
  # Less optimized, with only lines and names: compiling takes a third less time, and reports are as
  # good. (Warnings of a compiler with less information are left to the other builds.)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -O1 -g1)
  add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=address,undefined)
elseif(FLEETPROF_SANITIZE STREQUAL "thread")
  # It does not model fences: it treats data ordered by them (sequence locks over relaxed or
  # volatile words) as atomic, or not at all.
  add_compile_options(-fsanitize=thread $<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
  add_link_options(-fsanitize=thread)
else()
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                      $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>
                      -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
    add_compile_options(-fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64")
    add_compile_options(-mbranch-protection=standard)
  endif()
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
