# SPDX-License-Identifier: Apache-2.0
# The page: when included, it makes ${web_page}, a folder of files for cmake/embed.cmake, and
# ${web_made}, the dependencies of that folder. Run by
# `cmake -DSTEP=packages|bundle ... -P web.cmake` it does one step.
#
# All of it happens in the build tree: npm fetches the packages of package-lock.json once, from the
# registry of npm's own configuration. Later builds fetch nothing.
if(DEFINED STEP)
  if(STEP STREQUAL "packages")
    file(COPY ${WEB}/package.json ${WEB}/package-lock.json DESTINATION ${TREE})
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund ${FLAGS}
                    WORKING_DIRECTORY ${TREE} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
      message(FATAL_ERROR "the page's packages cannot be fetched: ${said}\n"
        "npm asks the registry of its own configuration (npm config get registry).  Where it cannot be reached, "
        "build without the page; the collector answers curl and `fleetprof query` all the same:\n"
        "    cmake -B ${BUILD} -DWITH_WEB=OFF")
    endif()
    file(TOUCH ${TREE}/packages.stamp)
  else()
    file(REMOVE_RECURSE ${TREE}/src ${TREE}/tests ${TREE}/dist)
    file(COPY ${WEB}/ DESTINATION ${TREE} PATTERN node_modules EXCLUDE PATTERN without EXCLUDE)
    execute_process(COMMAND ${NODE} build.mjs dist ${FLAGS} WORKING_DIRECTORY ${TREE} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "the page could not be built")
    endif()
    file(TOUCH ${TREE}/bundle.stamp)
  endif()
  return()
endif()

if(NOT WITH_WEB)
  set(web_page ${CMAKE_SOURCE_DIR}/web/without)
  file(GLOB web_made CONFIGURE_DEPENDS ${web_page}/*)
  return()
endif()

find_program(NODE_PROGRAM NAMES node nodejs)
find_program(NPM_PROGRAM npm)
set(node_version 0)
if(NODE_PROGRAM)
  execute_process(COMMAND ${NODE_PROGRAM} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" node_version "${node_version}")
endif()
if(NOT NPM_PROGRAM OR node_version VERSION_LESS 18)
  message(FATAL_ERROR "The collector's page is built with Node 18 or newer and npm: apt-get install nodejs npm, or build without it: -DWITH_WEB=OFF")
endif()
set(web_tree ${CMAKE_BINARY_DIR}/web)
set(web_page ${web_tree}/dist)
set(web_made ${web_tree}/bundle.stamp)
set(web_step ${CMAKE_COMMAND} -DWEB=${CMAKE_SOURCE_DIR}/web -DTREE=${web_tree} -DNODE=${NODE_PROGRAM} -DNPM=${NPM_PROGRAM})
if(WITH_TESTS)
  set(web_packages_flags --include=dev)
  set(web_bundle_flags --tests)
else()
  set(web_packages_flags --omit=dev)
  set(web_bundle_flags "")
endif()
if(NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/collector/http$")
  return() # the page is made only if it is embedded
endif()
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/tests/*)
file(GLOB web_others CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.*)
add_custom_command(OUTPUT ${web_tree}/packages.stamp
  COMMAND ${web_step} -DSTEP=packages -DBUILD=${CMAKE_BINARY_DIR} -DFLAGS=${web_packages_flags}
          -P ${CMAKE_SOURCE_DIR}/cmake/web.cmake
  DEPENDS ${CMAKE_SOURCE_DIR}/web/package.json ${CMAKE_SOURCE_DIR}/web/package-lock.json
          ${CMAKE_SOURCE_DIR}/cmake/web.cmake
  COMMENT "Fetching the page's packages" VERBATIM)
add_custom_command(OUTPUT ${web_made}
  COMMAND ${web_step} -DSTEP=bundle -DFLAGS=${web_bundle_flags} -P ${CMAKE_SOURCE_DIR}/cmake/web.cmake
  DEPENDS ${web_tree}/packages.stamp ${web_sources} ${web_others} ${CMAKE_SOURCE_DIR}/cmake/web.cmake
  COMMENT "Building the page" VERBATIM)
