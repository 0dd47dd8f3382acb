# Finds what tests on real servers need: BLOOMERY_PYTHON, which is the system's Python, because Debian's packages are
# for that one, and BLOOMERY_SERVER. If the tests cannot run, BLOOMERY_NO_SERVERS is the reason.
find_program(BLOOMERY_PYTHON NAMES python3 HINTS /usr/bin NO_DEFAULT_PATH)
if(NOT BLOOMERY_PYTHON)
  find_program(BLOOMERY_PYTHON NAMES python3)
endif()
find_program(BLOOMERY_SERVER NAMES redis-server valkey-server)
if(NOT BLOOMERY_SERVER)
  # Debian's package redis-tools contains the server under another name; it acts according to its name.
  find_program(BLOOMERY_RENAMED_SERVER NAMES redis-check-rdb)
  if(BLOOMERY_RENAMED_SERVER)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/servers)
    file(CREATE_LINK ${BLOOMERY_RENAMED_SERVER} ${PROJECT_BINARY_DIR}/servers/redis-server SYMBOLIC)
    set(BLOOMERY_SERVER ${PROJECT_BINARY_DIR}/servers/redis-server CACHE FILEPATH "" FORCE)
  endif()
endif()

set(BLOOMERY_NO_SERVERS "")
if(BLOOMERY_SANITIZE)
  set(BLOOMERY_NO_SERVERS "built with sanitizers, and the server program is not")
elseif(NOT BLOOMERY_PYTHON)
  set(BLOOMERY_NO_SERVERS "python3 is not installed")
elseif(NOT BLOOMERY_SERVER)
  set(BLOOMERY_NO_SERVERS "neither redis-server nor valkey-server is installed")
endif()

# bloomery_server_test(NAME FILE [ENVIRONMENT...]): adds a Python file as a test that starts servers.
function(bloomery_server_test name file)
  if(BLOOMERY_SANITIZE)
    return() # not listed as skipped, because installing something would not help
  elseif(BLOOMERY_NO_SERVERS)
    bloomery_skip(${name} "${BLOOMERY_NO_SERVERS}")
  else()
    set(environment "BLOOMERY_SERVER=${BLOOMERY_SERVER}" "PYTHONDONTWRITEBYTECODE=1" ${ARGN})
    add_test(NAME ${name} COMMAND ${BLOOMERY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${environment}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS server)
endfunction()
