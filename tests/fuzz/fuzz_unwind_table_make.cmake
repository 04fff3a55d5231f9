# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_unwind_table_make DEPS tables unwind common LIBS PkgConfig::ZLIB)
  foreach(target fuzz_unwind_table_make fuzz_unwind_table_make_libfuzzer)
    if(TARGET ${target})
      target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
    endif()
  endforeach()
endif()
