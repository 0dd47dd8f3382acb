# What tests on real servers are run with: BLOOMERY_PYTHON, the system's own, since that is the one
# that Debian's packages are for, and BLOOMERY_SERVER.
find_program(BLOOMERY_PYTHON NAMES python3 HINTS /usr/bin NO_DEFAULT_PATH)
if(NOT BLOOMERY_PYTHON)
  find_program(BLOOMERY_PYTHON NAMES python3)
endif()
find_program(BLOOMERY_SERVER NAMES redis-server valkey-server)
