# Where ArrayFire's FindcuDNN looks: pkg-config's cuDNN, or the variable cuDNN_ROOT_DIR.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PC_CUDNN QUIET cuDNN)
find_path(cuDNN_INCLUDE_DIRS cudnn.h HINTS ${cuDNN_ROOT_DIR} ${PC_CUDNN_INCLUDE_DIRS} PATH_SUFFIXES include)
file(STRINGS "${cuDNN_INCLUDE_DIRS}/cudnn_version.h" major REGEX "define CUDNN_MAJOR")
string(REGEX REPLACE "[^0-9]" "" major "${major}")
tell(cuDNN_INCLUDE_DIRS)
foreach(part IN ITEMS "" _adv _cnn _ops)
  find_library(cuDNN${part}_LINK_LIBRARY NAMES libcudnn${part}.so.${major} cudnn${part}
    PATHS ${cuDNN_ROOT_DIR} ${PC_CUDNN_LIBRARY_DIRS} PATH_SUFFIXES lib lib64 bin lib/x64 bin/x64)
  tell(cuDNN${part}_LINK_LIBRARY)
endforeach()
