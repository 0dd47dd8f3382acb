# Checks: the rules of the tree, file formats with a second reader, documents, headers, symbols, the installed copy, the
# demo. They are scripts. They are not run with sanitizers or when cross-compiling.
set(here ${CMAKE_CURRENT_SOURCE_DIR}/checks)
if(BLOOMERY_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()
endif()

# The rules of the tree, which scripts/lint also checks, and a test that these checks find violations.
foreach(name architecture checks kinds links phrases symbol_order tree)
  if(NOT Python3_FOUND)
    bloomery_skip(checks_${name} "python3 is not installed")
  elseif(name STREQUAL symbol_order)
    add_test(NAME checks_symbol_order COMMAND ${Python3_EXECUTABLE} ${here}/check_symbol_order.py
      $<TARGET_OBJECTS:bloomery_objects> $<TARGET_OBJECTS:bloomery_redis_objects> COMMAND_EXPAND_LISTS)
  else()
    add_test(NAME checks_${name} COMMAND ${Python3_EXECUTABLE} ${here}/check_${name}.py)
  endif()
endforeach()

# The format read by a second implementation, written from docs/format.md alone.
if(Python3_FOUND)
  add_test(NAME checks_format COMMAND ${Python3_EXECUTABLE} ${here}/check_format.py)
  add_test(NAME checks_run_test COMMAND ${here}/check_run_test.sh ${PROJECT_BINARY_DIR})
  add_test(NAME formats_redisbloom_reader COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/formats/redisbloom_reader.py)
  set_tests_properties(formats_redisbloom_reader PROPERTIES ENVIRONMENT PYTHONPATH=${here}) # format_hashes.py
else()
  bloomery_skip(checks_format "python3 is not installed")
  bloomery_skip(checks_run_test "python3 is not installed")
  bloomery_skip(formats_redisbloom_reader "python3 is not installed")
endif()

add_test(NAME checks_commit_msg COMMAND ${here}/check_commit_msg.sh)
add_test(NAME checks_packages COMMAND ${here}/check_packages.sh)
add_test(NAME checks_vocabulary COMMAND ${here}/check_vocabulary.sh)
add_test(NAME checks_symbols COMMAND ${here}/check_symbols.sh $<TARGET_FILE:bloomery>)
add_test(NAME checks_readme COMMAND ${here}/check_readme.sh $<TARGET_FILE_DIR:bloomery>)

# The binary interface: docs/abi.md.
if(NOT Python3_FOUND)
  bloomery_skip(checks_layout "python3 is not installed")
  bloomery_skip(checks_function_count "python3 is not installed")
  bloomery_skip(checks_reference "python3 is not installed")
else()
  # What scripts/reference writes: docs/reference, and manual pages.
  add_test(NAME checks_reference COMMAND ${Python3_EXECUTABLE} ${here}/check_reference.py)
  set_tests_properties(checks_reference PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
  add_test(NAME checks_function_count COMMAND ${Python3_EXECUTABLE} ${here}/check_function_count.py)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    add_test(NAME checks_layout COMMAND ${Python3_EXECUTABLE} ${here}/check_layout.py)
    set_tests_properties(checks_layout PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
  else()
    bloomery_skip(checks_layout "tests/checks/layout.txt is for x86-64")
  endif()
endif()

if(Python3_FOUND)
  add_test(NAME checks_subproject COMMAND ${here}/check_subproject.sh)
else()
  bloomery_skip(checks_subproject "python3 is not installed")
endif()
if(CMAKE_CXX_COMPILER)
  add_test(NAME checks_headers COMMAND ${here}/check_headers.sh)
else()
  bloomery_skip(checks_headers "g++ is not installed")
endif()

# The figures of the documents are those that the program computes.
if(Python3_FOUND AND TARGET bloomery_cli)
  add_test(NAME checks_figures COMMAND ${Python3_EXECUTABLE} ${here}/check_figures.py $<TARGET_FILE:bloomery_cli>)
else()
  bloomery_skip(checks_figures "python3 is not installed, or the command line is not built")
endif()

# Checks of the library, the command line and the module together, if all of them are built.
if(NOT TARGET bloomery_cli OR NOT TARGET bloomery_module OR NOT HIREDIS_FOUND)
  return()
endif()
add_test(NAME checks_demo COMMAND ${here}/check_demo.sh --no-install)
foreach(name documents install)
  if(BLOOMERY_NO_SERVERS)
    bloomery_skip(checks_${name} "${BLOOMERY_NO_SERVERS}")
  elseif(name STREQUAL documents)
    add_test(NAME checks_documents COMMAND ${BLOOMERY_PYTHON} ${here}/check_documents.py ${PROJECT_BINARY_DIR})
  else()
    add_test(NAME checks_install COMMAND ${here}/check_install.sh ${PROJECT_BINARY_DIR})
  endif()
  set_tests_properties(checks_${name} PROPERTIES ENVIRONMENT "BLOOMERY_SERVER=${BLOOMERY_SERVER}")
endforeach()
