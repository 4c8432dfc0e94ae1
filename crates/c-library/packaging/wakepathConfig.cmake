# wakepath for CMake. Gives two targets:
#   wakepath::wakepath  the shared library
#   wakepath::static    the static one, which goes into the program
# Both bring the headers wakepath.h, wakepath.hpp (C++17) and wakepath_ros2.hpp.
# wakepath_TARGETS is what ament_target_dependencies(… wakepath) links: the shared one.

if(NOT TARGET wakepath::wakepath)
  # Without links on the way, so that /lib leads to /usr too.
  get_filename_component(_wakepath_libraries "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
  get_filename_component(_wakepath_prefix "${_wakepath_libraries}/@UP@" REALPATH)

  add_library(wakepath::wakepath SHARED IMPORTED)
  set_target_properties(wakepath::wakepath PROPERTIES
    IMPORTED_LOCATION "${_wakepath_libraries}/libwakepath.so.@ABI@"
    IMPORTED_SONAME "libwakepath.so.@ABI@"
    INTERFACE_INCLUDE_DIRECTORIES "${_wakepath_prefix}/include")

  add_library(wakepath::static STATIC IMPORTED)
  set_target_properties(wakepath::static PROPERTIES
    IMPORTED_LOCATION "${_wakepath_libraries}/libwakepath.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_wakepath_prefix}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m")

  unset(_wakepath_libraries)
  unset(_wakepath_prefix)
endif()

set(wakepath_TARGETS wakepath::wakepath)
