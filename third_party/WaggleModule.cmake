# Warnings for our own targets only; third-party headers are SYSTEM.
add_library(waggle_warnings INTERFACE)
target_compile_options(waggle_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
  # Designated initializers name what differs from the default on purpose.
  -Wno-missing-field-initializers
  # g++ 12 inlines one half of asio's new and delete of a coroutine frame and misses the other.
  -Wno-mismatched-new-delete
  $<$<BOOL:${WAGGLE_WERROR}>:-Werror>)
if(WAGGLE_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What gcc 12's optimizer guesses about std::optional, vectors and coroutine frames is often wrong, the more so with
  # sanitizers: shown, but not an error.
  target_compile_options(waggle_warnings INTERFACE
    -Wno-error=array-bounds -Wno-error=dangling-pointer -Wno-error=free-nonheap-object -Wno-error=maybe-uninitialized
    -Wno-error=null-dereference -Wno-error=restrict -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=use-after-free)
endif()

find_program(WAGGLE_MOLD mold)
if(WAGGLE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(WAGGLE_CCACHE ccache)
if(WAGGLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WAGGLE_CCACHE})
endif()

# waggle_module(dht DEPS base crypto wire net SOURCES … PRIVATE_LIBS …): one static library a folder of core/.
# DEPS is the whole truth about who may include whom; tests/tools/check_layers.py reads it.
# The fuzzers drive the protocols' pure machines: their build leaves out the files with coroutines, the slower half,
# less those named FUZZED, where a codec stands beside its coroutine.
function(waggle_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;FUZZED;DEPS;PUBLIC_LIBS;PRIVATE_LIBS" ${ARGN})
  if(NOT arg_SOURCES)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "")
    set(arg_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  endif()
  if(WAGGLE_FUZZ AND NOT WAGGLE_TESTS)
    foreach(source IN LISTS arg_SOURCES)
      if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source} AND NOT source IN_LIST arg_FUZZED)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        file(STRINGS ${source} coroutine REGEX "co_await|co_return" LIMIT_COUNT 1)
        if(coroutine)
          list(REMOVE_ITEM arg_SOURCES ${source})
        endif()
      endif()
    endforeach()
  endif()
  add_library(waggle_${name} STATIC ${arg_SOURCES})
  add_library(waggle::${name} ALIAS waggle_${name})
  target_include_directories(waggle_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  set(deps ${arg_DEPS})
  list(TRANSFORM deps PREPEND waggle::)
  target_link_libraries(waggle_${name}
    PUBLIC ${deps} ${arg_PUBLIC_LIBS}
    PRIVATE ${arg_PRIVATE_LIBS} $<BUILD_INTERFACE:waggle_warnings>)
  set_property(GLOBAL APPEND PROPERTY waggle_layers "${name}:${arg_DEPS}")
  set_property(GLOBAL APPEND PROPERTY waggle_modules waggle_${name})
endfunction()

# waggle_proto(target proto/a.proto …): messages of our own writing, LITE_RUNTIME, generated into the build
# folder and included as "core/<module>/proto/a.pb.h", in .cpp files only.
function(waggle_proto target)
  foreach(proto IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH proto BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    set(out ${PROJECT_BINARY_DIR}/generated/${stem}.pb)
    add_custom_command(OUTPUT ${out}.cc ${out}.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${PROJECT_BINARY_DIR}/generated ${relative}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${source} VERBATIM)
    set_source_files_properties(${out}.cc PROPERTIES COMPILE_OPTIONS "-w")
    target_sources(${target} PRIVATE ${out}.cc ${out}.h)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${target} PRIVATE third_party::protobuf)
endfunction()
