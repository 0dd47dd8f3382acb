# Tests on real servers: Python files of this folder, each a test of its own. They need a server
# program that is built as usual, so they do not run under sanitizers.
include(${PROJECT_SOURCE_DIR}/tests/find_servers.cmake)
if(BLOOMERY_SANITIZE)
  message(STATUS "no tests of the module on servers: built with sanitizers")
elseif(NOT BLOOMERY_PYTHON OR NOT BLOOMERY_SERVER)
  message(STATUS "no tests of the module on servers: they need python3 and redis-server")
else()
  foreach(name
      commands config replication crash cluster stalls limits citizen clients guard migration names
      bf cf rates bly bly_kinds windows merge keyed lost fuzz_live)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py)
      add_test(NAME module_${name}
        COMMAND ${BLOOMERY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py)
      set_tests_properties(module_${name} PROPERTIES TIMEOUT 300
        ENVIRONMENT "BLOOMERY_MODULE=$<TARGET_FILE:bloomery_module>;BLOOMERY_SERVER=${BLOOMERY_SERVER};PYTHONDONTWRITEBYTECODE=1")
    endif()
  endforeach()
  # It measures pauses: nothing else should run beside it.
  set_tests_properties(module_stalls PROPERTIES RUN_SERIAL ON)
  # Programs and folders that some of them need.
  set(more_clients "BLOOMERY_CLIENTS=${PROJECT_BINARY_DIR}/clients")
  if(TARGET PkgConfig::HIREDIS)
    list(APPEND more_clients "BLOOMERY_HIREDIS_CLIENT=$<TARGET_FILE:hiredis_client>")
    set(more_guard "BLOOMERY_CACHE_GUARD=$<TARGET_FILE:cache_guard>")
  endif()
  foreach(name clients guard)
    set_property(TEST module_${name} APPEND PROPERTY ENVIRONMENT ${more_${name}})
  endforeach()
  if(TARGET bloomery_cli AND HIREDIS_FOUND)
    add_test(NAME module_push_pull
      COMMAND ${BLOOMERY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/push_pull.py)
    set_tests_properties(module_push_pull PROPERTIES TIMEOUT 300
      ENVIRONMENT "BLOOMERY_MODULE=$<TARGET_FILE:bloomery_module>;BLOOMERY_SERVER=${BLOOMERY_SERVER};BLOOMERY_PROGRAM=$<TARGET_FILE:bloomery_cli>;PYTHONDONTWRITEBYTECODE=1")
  endif()
endif()
