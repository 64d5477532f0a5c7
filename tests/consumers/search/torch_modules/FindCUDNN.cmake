# Where PyTorch's module looks; what it takes from the environment lies before the toolkit.
set(CUDNN_ROOT "$ENV{CUDNN_ROOT_DIR}" CACHE PATH "")
list(APPEND CUDNN_ROOT $ENV{CUDNN_ROOT_DIR} ${CUDA_TOOLKIT_ROOT_DIR})
list(APPEND CMAKE_PREFIX_PATH ${CUDNN_ROOT})
set(CUDNN_INCLUDE_DIR "$ENV{CUDNN_INCLUDE_DIR}" CACHE PATH "")
set(CUDNN_LIBRARY "$ENV{CUDNN_LIBRARY}" CACHE PATH "")
find_path(CUDNN_INCLUDE_PATH cudnn.h HINTS ${CUDNN_INCLUDE_DIR} PATH_SUFFIXES cuda/include cuda include)
find_library(CUDNN_LIBRARY_PATH cudnn PATHS ${CUDNN_LIBRARY}
  PATH_SUFFIXES lib lib64 cuda/lib cuda/lib64 lib/x64)
