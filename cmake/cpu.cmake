# SPDX-License-Identifier: Apache-2.0
# FLEETPROF_CPU: the word that ends the names of the files written for one CPU (arch_CPU.c and the
# like).  for_cpu(OUT NAME) is the one of the folder that calls it; where it may lack one, and has a
# NAME_none.c instead, that.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(FLEETPROF_CPU x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(FLEETPROF_CPU aarch64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
  set(FLEETPROF_CPU arm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv64")
  set(FLEETPROF_CPU riscv64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^mips")
  set(FLEETPROF_CPU mips)
else()
  message(FATAL_ERROR "fleetprof knows no CPU ${CMAKE_SYSTEM_PROCESSOR}")
endif()

function(for_cpu out name)
  foreach(word ${FLEETPROF_CPU} none)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}_${word}.c)
      set(${out} ${name}_${word}.c PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR} has no ${name}_${FLEETPROF_CPU}.c")
endfunction()
