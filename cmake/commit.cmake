# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake: writes the header FILE, which says of which commit the tree DIR is, when
# that has changed.  A tree without its history is of an unknown one.
set(commit unknown)
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE told OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND told MATCHES "^[0-9a-f]+(-dirty)?$")
    set(commit ${told})
  endif()
endif()
set(text "#define FLEETPROF_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${OUT} "${text}")
endif()
