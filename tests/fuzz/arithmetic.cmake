# SPDX-License-Identifier: Apache-2.0
# Its oracle needs numbers of 128 bits.  The long form is tests/torture/88_lies_change_no_sum.sh.
if(WITH_COLLECTOR AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  add_executable(arithmetic arithmetic.c)
  target_link_libraries(arithmetic PRIVATE ingest quota identity query linked view store names translators translate symbol proto common
                        PkgConfig::SQLITE Threads::Threads)
  add_test(NAME fuzz/arithmetic COMMAND arithmetic 5000)
  sanitized(fuzz/arithmetic arithmetic)
endif()
