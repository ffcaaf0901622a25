# What CMake reads when a project has HIP as a language. The compiler brings headers and libraries by itself.
foreach(_name device host amdhip64)
  if(NOT TARGET hip-lang::${_name})
    add_library(hip-lang::${_name} INTERFACE IMPORTED)
  endif()
endforeach()
unset(_name)
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")
set(hip-lang_FOUND TRUE)
