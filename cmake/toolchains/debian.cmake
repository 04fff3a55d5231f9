# SPDX-License-Identifier: Apache-2.0
# Included by ARCH.cmake: Debian's cross compiler for TRIPLET, and the libraries of the board's own
# port, as deploy/cross/sysroot.sh lays them out in FLEETPROF_SYSROOT.  Without that directory there
# is the compiler's own libc alone, which is enough for the agent (WITH_DAEMON=OFF).
set(CMAKE_SYSTEM_NAME Linux)
# A configure that fails later, for want of the compiler, leaves this machine's own binutils in the cache.
find_program(FLEETPROF_CROSS_COMPILER ${FLEETPROF_TRIPLET}-gcc)
mark_as_advanced(FLEETPROF_CROSS_COMPILER)
if(NOT FLEETPROF_CROSS_COMPILER)
  message(FATAL_ERROR "${FLEETPROF_TRIPLET}-gcc is not there: install Debian's gcc-${FLEETPROF_TRIPLET} "
                      "(deploy/packages/cross.txt has what each board's CPU needs)")
endif()
set(CMAKE_C_COMPILER ${FLEETPROF_TRIPLET}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${FLEETPROF_TRIPLET})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FLEETPROF_SYSROOT)

if(FLEETPROF_SYSROOT)
  if(NOT EXISTS ${FLEETPROF_SYSROOT}/.complete)
    message(FATAL_ERROR "${FLEETPROF_SYSROOT} is no sysroot: make one by deploy/cross/sysroot.sh")
  endif()
  set(CMAKE_SYSROOT ${FLEETPROF_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH ${FLEETPROF_SYSROOT})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FLEETPROF_SYSROOT})
  set(pkgconfig ${FLEETPROF_SYSROOT}/usr/lib/${FLEETPROF_TRIPLET}/pkgconfig)
  set(ENV{PKG_CONFIG_LIBDIR} ${pkgconfig}:${FLEETPROF_SYSROOT}/usr/share/pkgconfig)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
