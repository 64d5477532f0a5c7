"""The table of stable codes: each with how bad it is, its meaning and what to do. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["CODES", "Code", "Severity"]

Severity = Literal["fault", "warning", "note"]

# LABEL, and what else chose the prefix, as for the first time.
_REINSTALL = "install it anew: cudnn-redist fetch LABEL --force"


class Code(NamedTuple):
    """How bad a kind of finding is, what it means, and what to do. A ``fault`` fails ``verify`` and ``doctor``."""

    severity: Severity
    meaning: str
    remedy: str


CODES: dict[str, Code] = {
    # A prefix against its record.
    "file-missing": Code("fault", "a file that was installed is gone", _REINSTALL),
    "file-changed": Code("fault", "a file is not what was installed", _REINSTALL),
    "file-extra": Code("fault", "somebody added a file to the prefix", "remove the file, or " + _REINSTALL),
    "file-unreadable": Code(
        "fault", "nobody can tell what is in the file", "mend its permissions, or the disk"
    ),
    "version-differs": Code("fault", "parts of two releases do not work together", _REINSTALL),
    "record-damaged": Code(
        "fault", "nobody can tell what was installed here", "remove the prefix; " + _REINSTALL
    ),
    "unproven": Code(
        "note",
        "the prefix was adopted, and nobody vouches for it",
        "fetch the release instead, where NVIDIA has it: cudnn-redist fetch LABEL --force",
    ),
    "lock-differs": Code(
        "fault",
        "the prefix is not what the lock names",
        "remove it, and install what is locked: cudnn-redist fetch --lock FILE",
    ),
    # The libraries of one set, by what they say about themselves.
    "library-damaged": Code("fault", "the loader cannot load this file", _REINSTALL),
    "machine-differs": Code(
        "fault",
        "the library is made for another kind of machine than its prefix says",
        "fetch the archive of the right --platform",
    ),
    "soname-missing": Code(
        "fault",
        "programs look for the library by this name, and it is not there",
        "keep every link of the archive; " + _REINSTALL,
    ),
    "named-not-shipped": Code(
        "note",
        "the library may ask for a part that this archive does not have; a copy from elsewhere would be taken",
        "keep other cuDNNs off LD_LIBRARY_PATH and the loader's cache; preload() does not help here",
    ),
    "glibc-too-old": Code(
        "fault",
        "the C library of this machine lacks functions that the library needs",
        "use an older release of cuDNN, or a newer system",
    ),
    # The libraries as they were loaded, in a child process.
    "load-failed": Code(
        "fault",
        "no program can load this library here",
        "install what the loader says is missing; where it is of this prefix, " + _REINSTALL,
    ),
    "load-crashed": Code("fault", "every program that loads this library dies", _REINSTALL),
    "load-timed-out": Code(
        "fault",
        "every program that loads this library hangs",
        "look at the disk or network that it is read from",
    ),
    "load-untried": Code(
        "note", "nothing is known of how this prefix loads", "try it on the machine it is made for"
    ),
    "environment-needed": Code(
        "note",
        "the library loads only with the variables of this environment",
        "set them too (LD_LIBRARY_PATH, on Windows PATH) wherever a program uses this prefix",
    ),
    "version-loaded-differs": Code(
        "fault",
        "programs get another cuDNN than the one that is installed here",
        "take other cuDNNs off LD_LIBRARY_PATH and LD_PRELOAD, on Windows off PATH",
    ),
    "cuda-loaded-differs": Code(
        "fault",
        "programs get a cuDNN that was built for another CUDA",
        "take other cuDNNs off LD_LIBRARY_PATH and LD_PRELOAD, or fetch the right --cuda",
    ),
    "set-mixed": Code(
        "fault",
        "parts of two releases of cuDNN came together, and it refuses to work (status 1002)",
        "keep one cuDNN on LD_LIBRARY_PATH and in the loader's cache; cudnn-redist doctor names the others",
    ),
    "shadowed": Code(
        "warning",
        "parts of another cuDNN are loaded in place of this one's",
        "take other cuDNNs off LD_LIBRARY_PATH and LD_PRELOAD, on Windows off PATH",
    ),
    "driver-missing": Code(
        "note",
        "without NVIDIA's driver a part of cuDNN cannot be loaded; that is no fault of the prefix",
        "install the driver, or run on a machine that has it",
    ),
    # The cuDNNs of a whole machine, by what the loader would do.
    "gap-filled": Code(
        "fault",
        "a part that this cuDNN may ask for and does not have would come from another release (status 1002)",
        "keep the other cuDNN off LD_LIBRARY_PATH and the loader's cache, or use it alone",
    ),
    "gap-open": Code(
        "note",
        "a part that this cuDNN does not have would come from another release, if a program called for it",
        "use it for programs that need no more than it has, such as those for cudnn_jit",
    ),
    "part-missing": Code(
        "fault", "this cuDNN cannot be loaded: a part of it is gone", "install it anew, whole"
    ),
    "zlib-missing": Code(
        "fault",
        "cuDNN cannot be loaded without zlib",
        "install it: sudo apt-get install zlib1g, or sudo dnf install zlib",
    ),
    "nvrtc-missing": Code(
        "warning",
        "without NVRTC cuDNN cannot compile the engines that it makes as it runs",
        "install the CUDA toolkit, or beside cuDNN's wheel: pip install nvidia-cuda-nvrtc (for CUDA 12 with -cu12)",
    ),
    "cublaslt-missing": Code(
        "warning",
        "without cuBLASLt some of cuDNN's operations fail",
        "install the CUDA toolkit, or beside cuDNN's wheel: pip install nvidia-cublas (for CUDA 12 with -cu12)",
    ),
    "installed-twice": Code(
        "fault",
        "two packages put their files into one directory, and the later one overwrote the other's",
        "uninstall both, and install the one that is meant",
    ),
    "header-differs": Code(
        "fault",
        "what is compiled with these headers is meant for another release than it is linked with",
        "install headers and libraries of one release",
    ),
    "release-faulty": Code("fault", "this release has a fault that is known", "use a later release"),
    "support-unknown": Code(
        "note",
        "this tool does not know which drivers and GPUs the release supports",
        "see NVIDIA's cuDNN Support Matrix for it",
    ),
    "machine-foreign": Code(
        "note", "the loader of this machine passes over these libraries", "take the directory off its list"
    ),
    "several-copies": Code(
        "note",
        "which cuDNN a program gets depends on how it looks for it",
        "keep one, or let each program load its own by RPATH",
    ),
    "cudnn-not-found": Code(
        "warning", "this program would run without cuDNN, or not at all", "install the cuDNN that it asks for"
    ),
    "older-than-asked": Code(
        "fault",
        "the program was built with a later cuDNN than it would load",
        "install the cuDNN that it asks for, and take the other one out of the loader's way",
    ),
    "other-than-asked": Code(
        "note",
        "the program loads a later cuDNN than it asks for; that is meant to work",
        "nothing need be done",
    ),
    "cuda-major-differs": Code(
        "fault", "cuDNN and what uses it are built for different CUDAs", "install the cuDNN for the same CUDA"
    ),
    "driver-too-old": Code(
        "fault",
        "the driver does not run the CUDA that this cuDNN is built for",
        "install a newer driver, or a cuDNN for an older CUDA",
    ),
    "driver-broken": Code(
        "warning", "the driver is there and does not work", "see what nvidia-smi and dmesg say"
    ),
    "gpu-too-old": Code(
        "fault", "this release has no code for this GPU", "use an earlier release of cuDNN (or another GPU)"
    ),
    "loaded-before": Code(
        "fault",
        "this process has another cuDNN already; with a second one the two would mix",
        "call preload() before torch, jax or onnxruntime are imported",
    ),
    "libc-foreign": Code(
        "fault",
        "NVIDIA builds cuDNN for the GNU C library, and this machine has another one",
        "use a system with glibc (on Alpine, a container of Debian or Ubuntu)",
    ),
    # A little work on a GPU, in a child process.
    "gpu-worked": Code(
        "note", "cuDNN worked on this GPU, and its numbers are right", "there is nothing to mend"
    ),
    "gpu-untried": Code(
        "fault",
        "nothing is known of how this prefix works on a GPU",
        "try it on the machine it is made for, without --gpu elsewhere",
    ),
    "gpu-driver-missing": Code(
        "fault",
        "without NVIDIA's driver nothing works on a GPU",
        "install the driver; a container gets it from outside (docker run --gpus all)",
    ),
    "gpu-missing": Code(
        "fault",
        "the driver is there and shows no GPU",
        "see what nvidia-smi shows, and what CUDA_VISIBLE_DEVICES hides; a container needs --gpus all",
    ),
    "gpu-out-of-memory": Code(
        "fault",
        "the GPU has no memory left, not even for 256 bytes and cuDNN's own needs",
        "end what uses it (nvidia-smi shows that), and try again",
    ),
    "gpu-part-missing": Code(
        "fault",
        "cuDNN could not load a library that it needs to work",
        "have NVRTC, cuBLASLt and zlib of this CUDA where the loader looks; verify --load tells of cuDNN's own parts",
    ),
    "gpu-failed": Code(
        "fault",
        "cuDNN does not work on this GPU",
        "look up the status in NVIDIA's documentation of cudnnStatus_t and CUresult",
    ),
    "gpu-wrong": Code(
        "fault",
        "cuDNN says that it has worked, and its numbers are wrong",
        "trust nothing that this GPU computes until it is looked into",
    ),
    "gpu-crashed": Code("fault", "every program that uses this library on this GPU dies", _REINSTALL),
    "gpu-timed-out": Code(
        "fault",
        "every program that uses this library on this GPU hangs",
        "look at what else uses the GPU, and at the driver's messages in the system log",
    ),
}
