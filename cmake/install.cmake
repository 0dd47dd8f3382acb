# Installs the libraries, the headers, and the files for CMake and pkg-config. CMakeLists.txt sets the variables and
# includes this file.
foreach(library bloomery bloomery_static)
  target_include_directories(${library} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(TARGETS bloomery bloomery_static EXPORT bloomery
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/bloomery DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
  PATTERN "*.hpp")
install(EXPORT bloomery NAMESPACE bloomery:: FILE bloomeryTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
# Programs that link the static library and connect to servers also need these.
set(redis_packages "")
if(TARGET PkgConfig::${package_prefix}HIREDIS_SSL)
  list(APPEND redis_packages hiredis_ssl hiredis libssl libcrypto)
elseif(TARGET PkgConfig::${package_prefix}HIREDIS)
  list(APPEND redis_packages hiredis)
endif()
configure_package_config_file(cmake/bloomeryConfig.cmake.in ${PROJECT_BINARY_DIR}/bloomeryConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bloomeryConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/bloomeryConfig.cmake ${PROJECT_BINARY_DIR}/bloomeryConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
# bloomery.pc derives the prefix from its own location, so that an installed tree can be moved.
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} AND NOT IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(TRANSFORM private_packages REPLACE "^lib" "-l" OUTPUT_VARIABLE pc_libs_private)
list(TRANSFORM redis_packages REPLACE "^lib" "" OUTPUT_VARIABLE pc_redis_private)
list(TRANSFORM pc_redis_private PREPEND "-l")
list(PREPEND pc_libs_private ${pc_redis_private})
string(REPLACE ";" " " pc_libs_private "${pc_libs_private}")
configure_file(cmake/bloomery.pc.in ${PROJECT_BINARY_DIR}/bloomery.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bloomery.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
