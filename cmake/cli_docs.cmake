# Manual pages and completions. The program writes them at build time; they are installed where shells and man search.
#
# cli/CMakeLists.txt includes this file. It is also the script (cmake -P) that runs the program, because only the
# program knows its commands.
if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "|" ";" program "${PROGRAM}")
  function(ask file)
    execute_process(COMMAND ${program} help ${ARGN} OUTPUT_FILE ${file} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "`bloomery help ${ARGN}` failed: ${result}")
    endif()
  endfunction()
  file(REMOVE_RECURSE ${TO}/man ${TO}/completions)
  file(MAKE_DIRECTORY ${TO}/man ${TO}/completions)
  ask(${TO}/man/bloomery.1 --man)
  execute_process(COMMAND ${program} help --list OUTPUT_VARIABLE commands)
  string(REGEX MATCHALL "[^\n]+" commands "${commands}")
  foreach(command ${commands})
    ask(${TO}/man/bloomery-${command}.1 --man ${command})
  endforeach()
  ask(${TO}/completions/bloomery --completion bash)
  ask(${TO}/completions/_bloomery --completion zsh)
  ask(${TO}/completions/bloomery.fish --completion fish)
  file(WRITE ${TO}/cli_docs.stamp "")
  return()
endif()

# A program for another machine cannot run here, and one with a sanitizer may refuse to run outside of tests.
if((CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR) OR BLOOMERY_SANITIZE)
  return()
endif()

set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:bloomery_cli>)
string(REPLACE ";" "|" program "${program}")
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/cli_docs.stamp
  COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${program}" "-DTO=${PROJECT_BINARY_DIR}"
    -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS bloomery_cli ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(cli_docs ALL DEPENDS ${PROJECT_BINARY_DIR}/cli_docs.stamp)

if(NOT BLOOMERY_INSTALL)
  return()
endif()
# On Debian /usr/share/zsh/site-functions belongs to the administrator.
set(zsh_folder site-functions)
if(EXISTS /etc/debian_version AND CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_folder vendor-completions)
endif()
set(BLOOMERY_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder} CACHE STRING
  "Where zsh's completion is installed")
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  FILES_MATCHING PATTERN "*.1")
install(FILES ${PROJECT_BINARY_DIR}/completions/bloomery
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completions/_bloomery DESTINATION ${BLOOMERY_ZSH_DIR})
install(FILES ${PROJECT_BINARY_DIR}/completions/bloomery.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
