# Tests on real servers: Python files of this folder, each a test of its own.
set(module "BLOOMERY_MODULE=$<TARGET_FILE:bloomery_module>")
set(more_clients "BLOOMERY_CLIENTS=${PROJECT_BINARY_DIR}/clients")
if(TARGET PkgConfig::HIREDIS)
  list(APPEND more_clients "BLOOMERY_HIREDIS_CLIENT=$<TARGET_FILE:hiredis_client>")
  set(more_guard "BLOOMERY_CACHE_GUARD=$<TARGET_FILE:cache_guard>")
endif()
foreach(name
    commands config replication crash cluster stalls limits keyspace clients guard migration prefetch_cache
    bf cf rates bly bly_kinds windows windows_restart window_pauses merge keyed tombstones removed_kinds fuzz_live)
  bloomery_server_test(module_${name} ${name}.py ${module} ${more_${name}})
endforeach()
if(TARGET bloomery_cli)
  if(HIREDIS_FOUND)
    bloomery_server_test(module_push_pull push_pull.py ${module} "BLOOMERY_PROGRAM=$<TARGET_FILE:bloomery_cli>")
  else()
    bloomery_skip(module_push_pull "built without hiredis")
  endif()
endif()
# The same with filters of 1 GiB. It needs much memory, so nothing else should run at the same time.
bloomery_server_test(module_stalls_large stalls.py ${module} "BLOOMERY_STALLS_MIB=1024")
if(TEST module_stalls_large)
  set_tests_properties(module_stalls_large PROPERTIES RUN_SERIAL ON)
endif()
# It measures a few milliseconds, so nothing else should run at the same time.
if(TEST module_window_pauses)
  set_tests_properties(module_window_pauses PROPERTIES RUN_SERIAL ON)
endif()
