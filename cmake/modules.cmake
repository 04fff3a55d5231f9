# SPDX-License-Identifier: Apache-2.0
# A folder is a module.  module(NAME DEPS a b LIBS x y [SOURCES ...]) makes a static library of
# its .c files (main.c apart) that sees its own folder and the headers of DEPS, and nothing else:
# each module's headers are reached only as "NAME/file.h" through a directory of one link, so an
# include that is not declared does not compile.
set(FLEETPROF_VIEWS ${CMAKE_BINARY_DIR}/views)

function(module name)
  cmake_parse_arguments(M "" "" "DEPS;LIBS;SOURCES" ${ARGN})
  if(NOT M_SOURCES)
    file(GLOB M_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    list(FILTER M_SOURCES EXCLUDE REGEX "/main\\.c$")
  endif()
  file(MAKE_DIRECTORY ${FLEETPROF_VIEWS}/${name})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${FLEETPROF_VIEWS}/${name}/${name} SYMBOLIC)
  if(M_SOURCES)
    add_library(${name} STATIC ${M_SOURCES})
    target_link_libraries(${name} PRIVATE ${M_DEPS} ${M_LIBS})
    target_include_directories(${name} INTERFACE ${FLEETPROF_VIEWS}/${name})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${FLEETPROF_VIEWS}/${name})
  endif()
endfunction()

# program(NAME SOURCES main.c DEPS ... LIBS ...): an installed executable.
function(program name)
  cmake_parse_arguments(P "" "" "DEPS;LIBS;SOURCES" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  target_link_libraries(${name} PRIVATE ${P_DEPS} ${P_LIBS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# ThreadSanitizer turns vfork into fork, delays signals until the next system call and takes many
# times the CPU time that these tests measure: under it they would test something else.
set(not_under_thread_sanitizer preload/agent_test preload/call_gate_test preload/process_timer_test
    targets/perf_running_test targets/perf_threads_test)

# A whole suite has two trees: one with a sanitizer for unit tests and fuzz replays, and one as
# shipped for whole programs. In the second (WITH_SANITIZED=OFF) only those of the unit tests are
# built and run again that show more without a sanitizer: code that runs in foreign processes, and
# cases that a sanitizer hides.
option(WITH_SANITIZED "unit tests and fuzz replays also where a tree with a sanitizer has them" ON)
set(also_as_shipped "^unit/(preload|ring|unwind)/|^unit/(common/(array|heap)|report/names_writer|symbol/sandbox)_test$")

# sanitized(TEST BINARY): a test that the tree with a sanitizer runs; elsewhere as described above.
function(sanitized test binary)
  set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS sanitized)
  if(NOT WITH_SANITIZED AND NOT test MATCHES "${also_as_shipped}")
    set_target_properties(${binary} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    set_property(TEST ${test} APPEND PROPERTY LABELS elsewhere)
  endif()
endfunction()

# unit_test(FOLDER DEPS ... LIBS ...), called in tests/unit/FOLDER: one cmocka binary for each
# *_test.c there, which may use each *_fixture.c there.
function(unit_test folder)
  cmake_parse_arguments(U "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.c)
  file(GLOB fixtures CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_fixture.c)
  set(fixture_library)
  if(fixtures)
    set(fixture_library unit_${folder}_fixtures)
    add_library(${fixture_library} STATIC EXCLUDE_FROM_ALL ${fixtures})
    target_link_libraries(${fixture_library} PRIVATE ${U_DEPS} ${U_LIBS} cmocka)
  endif()
  foreach(test ${tests})
    get_filename_component(stem ${test} NAME_WE)
    set(binary unit_${folder}_${stem})
    add_executable(${binary} ${test})
    target_link_libraries(${binary} PRIVATE ${fixture_library} ${U_DEPS} ${U_LIBS} cmocka)
    target_compile_definitions(${binary} PRIVATE TEST_DATA="${CMAKE_SOURCE_DIR}/tests")
    add_test(NAME unit/${folder}/${stem} COMMAND ${binary})
    sanitized(unit/${folder}/${stem} ${binary})
    if(FLEETPROF_SANITIZE STREQUAL "thread" AND "${folder}/${stem}" IN_LIST not_under_thread_sanitizer)
      set_tests_properties(unit/${folder}/${stem} PROPERTIES LABELS not_under_tsan)
    endif()
  endforeach()
endfunction()

# fuzz_target(NAME DEPS ... LIBS ...): tests/fuzz/NAME.c against its corpus tests/fuzz/corpus/NAME/,
# replayed by CTest; with WITH_FUZZERS also a libFuzzer binary.
function(fuzz_target name)
  cmake_parse_arguments(F "" "" "DEPS;LIBS" ${ARGN})
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.c
                 ${CMAKE_CURRENT_SOURCE_DIR}/replay_main.c)
  target_link_libraries(${name} PRIVATE ${F_DEPS} ${F_LIBS})
  add_test(NAME fuzz/${name} COMMAND ${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  sanitized(fuzz/${name} ${name})
  if(WITH_FUZZERS)
    add_executable(${name}_libfuzzer ${CMAKE_CURRENT_SOURCE_DIR}/${name}.c)
    target_link_libraries(${name}_libfuzzer PRIVATE ${F_DEPS} ${F_LIBS})
    target_link_options(${name}_libfuzzer PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
