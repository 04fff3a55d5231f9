# SPDX-License-Identifier: Apache-2.0
# manual(PROGRAM...): manual pages and the shells' completions, made by the build from the programs'
# --help, and installed. A cross build cannot run its programs, and has neither.
function(manual)
  if(CMAKE_CROSSCOMPILING OR FLEETPROF_SANITIZE)
    return()
  endif()
  set(out ${CMAKE_BINARY_DIR}/manual)
  set(files)
  foreach(program ${ARGN})
    list(APPEND files $<TARGET_FILE:${program}>)
    install(FILES ${out}/completions.bash.${program} RENAME ${program}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${out}/completions.zsh._${program} RENAME _${program}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${out}/completions.fish.${program}.fish RENAME ${program}.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endforeach()
  set(makers ${CMAKE_SOURCE_DIR}/deploy/manual/manual.sh ${CMAKE_SOURCE_DIR}/deploy/manual/manual.awk)
  set(needed ${ARGN})
  if(TARGET fleetprof-upload) # it has the help of one of fleetprof's commands
    list(APPEND needed fleetprof-upload)
  endif()
  add_custom_command(OUTPUT ${out}/made
    COMMAND sh ${CMAKE_SOURCE_DIR}/deploy/manual/manual.sh ${out} ${PROJECT_VERSION} ${files}
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/made
    DEPENDS ${makers} ${needed} VERBATIM)
  add_custom_target(manual ALL DEPENDS ${out}/made)
  install(DIRECTORY ${out}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endfunction()
