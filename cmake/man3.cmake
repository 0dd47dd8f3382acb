# Manual pages of section 3, one for each function and type of the library, which scripts/reference writes from the
# headers. They need Python 3; without it, or with BLOOMERY_MAN3=OFF, nothing else is missing. Included by
# CMakeLists.txt, not for a subproject.
if(NOT BLOOMERY_MAN3)
  return()
endif()
find_package(Python3 3.9 COMPONENTS Interpreter QUIET)
if(NOT Python3_FOUND)
  message(STATUS "No manual pages of functions: Python 3.9 or later was not found")
  return()
endif()

file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/bloomery/*.h)
set(script ${PROJECT_SOURCE_DIR}/scripts/reference)
set(stamp ${PROJECT_BINARY_DIR}/man3.stamp)
add_custom_command(OUTPUT ${stamp}
  COMMAND ${CMAKE_COMMAND} -E remove_directory ${PROJECT_BINARY_DIR}/man3
  COMMAND ${Python3_EXECUTABLE} ${script} --man ${PROJECT_BINARY_DIR}/man3
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${headers} ${script} COMMENT "Writing manual pages of functions" VERBATIM)
add_custom_target(man3 ALL DEPENDS ${stamp})
if(BLOOMERY_INSTALL)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
endif()
