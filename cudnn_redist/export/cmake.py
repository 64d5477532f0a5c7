"""``cmake``: a file to include, which fetches by FetchContent and makes the target to link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .archives import exported, heading, require_one_release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..planner import Plan
    from .archives import Exported

__all__ = ["cmake_text"]

_HEAD = """\
# @HEADING@.
#
#   include(FILE)   fetches, judges, unpacks; then <component>_SOURCE_DIR is the tree, CUDNN::cudnn the target to link
#
# CUDNN_PLATFORM (linux-sbsa, ...) and CUDNN_VARIANT (cuda13, ...) choose where more than one fits.
if(CMAKE_VERSION VERSION_LESS 3.18)
  message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE} needs CMake 3.18 or later")
endif()
cmake_policy(VERSION 3.18...3.31)
include(FetchContent)

set(_redist_platforms source linux-all ${CUDNN_PLATFORM})
if(NOT CUDNN_PLATFORM)
  set(_redist_machine "${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}")
  # Visual Studio's compilers say by themselves what they build for: CMake has the host's name for it.
  foreach(_redist_language IN ITEMS CXX C)
    if(MSVC_${_redist_language}_ARCHITECTURE_ID)
      set(_redist_machine "${CMAKE_SYSTEM_NAME} ${MSVC_${_redist_language}_ARCHITECTURE_ID}")
    endif()
  endforeach()
  string(TOLOWER "${_redist_machine}" _redist_machine)
  if(_redist_machine MATCHES "^linux (x86_64|amd64)$")
    list(APPEND _redist_platforms linux-x86_64)
  elseif(_redist_machine MATCHES "^linux (aarch64|arm64)$")
    list(APPEND _redist_platforms linux-sbsa linux-aarch64)
  elseif(_redist_machine MATCHES "^linux ppc64le$")
    list(APPEND _redist_platforms linux-ppc64le)
  elseif(_redist_machine MATCHES "^windows (x86_64|amd64|x64)$")
    list(APPEND _redist_platforms windows-x86_64)
  elseif(_redist_machine MATCHES "^windows (aarch64|arm64)$")
    list(APPEND _redist_platforms windows-arm64)
  endif()
endif()
"""

_COMPONENT = """
set(_redist_fitting)
foreach(_redist_key IN ITEMS@KEYS@)
  string(REPLACE "/" ";" _redist_levels "${_redist_key}/")
  list(GET _redist_levels 0 _redist_platform)
  list(GET _redist_levels 1 _redist_variant)
  if(_redist_platform IN_LIST _redist_platforms
     AND (NOT CUDNN_VARIANT OR NOT _redist_variant OR _redist_variant STREQUAL CUDNN_VARIANT))
    list(APPEND _redist_fitting "${_redist_key}")
  endif()
endforeach()
list(LENGTH _redist_fitting _redist_count)
if(NOT _redist_count EQUAL 1)
  message(FATAL_ERROR "@COMPONENT@ @LABEL@: of@KEYS@ one is needed, and these fit: ${_redist_fitting}. "
    "Set CUDNN_PLATFORM and CUDNN_VARIANT.")
endif()
@CHOICES@FetchContent_MakeAvailable(@COMPONENT@)
"""

# The folder that is none keeps a CMakeLists.txt of the archive's own (samples) out of the project.
_CHOICE = """\
if(_redist_fitting STREQUAL "@KEY@")
  FetchContent_Declare(@COMPONENT@
    URL@URLS@
    URL_HASH SHA256=@SHA256@
    SOURCE_SUBDIR no-project-of-this)
endif()
"""

_TARGET = """
if(NOT TARGET CUDNN::cudnn)
  unset(_redist_library CACHE)
  find_library(_redist_library NAMES cudnn PATHS "${@COMPONENT@_SOURCE_DIR}" PATH_SUFFIXES lib lib/x64 lib/arm64
    NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(NOT _redist_library)
    message(FATAL_ERROR "no cudnn library in ${@COMPONENT@_SOURCE_DIR}")
  endif()
  add_library(CUDNN::cudnn UNKNOWN IMPORTED GLOBAL)
  set_target_properties(CUDNN::cudnn PROPERTIES
    IMPORTED_LOCATION "${_redist_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${@COMPONENT@_SOURCE_DIR}/include")
endif()
"""

# The components that are the library itself; samples are none.
_LIBRARIES = ("cudnn", "cudnn_jit")


def cmake_text(plans: Sequence[Plan]) -> str:
    """Return the file, for CMake 3.18 or later: platform and variant are chosen when it is included."""
    archives = exported(plans)
    require_one_release(archives, "cmake")
    by_component: dict[str, list[Exported]] = {}
    for archive in archives:
        by_component.setdefault(archive.component, []).append(archive)
    parts = [_HEAD.replace("@HEADING@", heading(archives, "cmake"))]
    parts += [_component(name, offered) for name, offered in by_component.items()]
    library = next((name for name in _LIBRARIES if name in by_component), None)
    if library is not None:
        parts.append(_TARGET.replace("@COMPONENT@", library))
    return "".join(parts)


def _component(name: str, archives: Sequence[Exported]) -> str:
    return (
        _COMPONENT.replace("@CHOICES@", "".join(map(_choice, archives)))
        .replace("@COMPONENT@", name)
        .replace("@LABEL@", archives[0].label)
        .replace("@KEYS@", "".join(f" {archive.key}" for archive in archives))
    )


def _choice(archive: Exported) -> str:
    urls = "".join(f"\n      {_quoted(url)}" for url in archive.urls)
    return _CHOICE.replace("@KEY@", archive.key).replace("@SHA256@", archive.sha256).replace("@URLS@", urls)


def _quoted(url: str) -> str:
    """Return a quoted argument; a semicolon would divide it, and is spelled as a URL may spell it."""
    escaped = url.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped.replace(";", "%3B")}"'
