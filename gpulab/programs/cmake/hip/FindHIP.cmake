# The module of older projects, by include() or find_package(HIP) in a CMAKE_MODULE_PATH: the package hip, and HIP_FOUND.
find_package(hip CONFIG QUIET PATHS "${CMAKE_CURRENT_LIST_DIR}" NO_DEFAULT_PATH)
set(HIP_FOUND ${hip_FOUND})
