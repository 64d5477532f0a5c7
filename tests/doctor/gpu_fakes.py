"""A driver and a cuDNN that work on nothing but memory: whole conversations with a GPU, on a machine without one.

They are built once. A variable named as one of their functions is what that answers instead of 0; ``WRONG`` makes the
numbers wrong, ``NO_ENGINE`` that none offers to run a graph, ``CREATING`` what becomes of who makes a handle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.fakes import DRIVER, LIBRARY, fake_prefix, library

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FULL", "JIT", "OPS", "built"]

OPS = "lib/libcudnn_ops.so.9"
FULL, JIT = "full", "jit"

_ANSWER = """
#include <stdlib.h>
static int answered(const char *name) { return getenv(name) ? atoi(getenv(name)) : 0; }
#define ANSWER(name) answered(#name)
"""

# Addresses on this GPU are those of the host.
_DRIVER = """
#include <string.h>
typedef unsigned long long address;
int cuInit(unsigned flags) { return ANSWER(cuInit); }
int cuDriverGetVersion(int *number) { *number = 13000; return 0; }
int cuDeviceGet(int *device, int place) { *device = 0; return ANSWER(cuDeviceGet); }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Make-believe 100", size); return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) { *value = which == 75 ? 9 : 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return ANSWER(cuDevicePrimaryCtxRetain); }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSynchronize(void) { return ANSWER(cuCtxSynchronize); }
int cuMemAlloc_v2(address *made, size_t size) { *made = (address)malloc(size); return ANSWER(cuMemAlloc_v2); }
int cuMemcpyHtoD_v2(address to, const void *from, size_t size) { memcpy((void *)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, address from, size_t size) { memcpy(to, (void *)from, size); return 0; }
int cuGetErrorName(int status, const char **name) { *name = "CUDA_ERROR_OF_A_KIND"; return 0; }
"""

_CUDNN = """
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void relu(const float *from, float *to) {
    for (int i = 0; i < 32; i++) to[i] = from[i] > 0 ? from[i] : -answered("WRONG");
}
size_t cudnnGetVersion(void) { printf("a library that talks\\n"); return 92700; }
const char *cudnnGetErrorString(int status) { return "CUDNN_STATUS_OF_A_KIND"; }
int cudnnCreate(void **handle) {
    const char *creating = getenv("CREATING");
    if (creating && !strcmp(creating, "crash")) raise(SIGSEGV);
    while (creating && !strcmp(creating, "hang")) pause();
    *handle = handle;
    return ANSWER(cudnnCreate);
}
int cudnnActivationForward(void *handle, void *relu_, const float *one, void *in, const float *from,
                           const float *zero, void *out, float *to) {
    relu(from, to);
    return ANSWER(cudnnActivationForward);
}
int cudnnCreateTensorDescriptor(void **made) { *made = made; return 0; }
int cudnnSetTensor4dDescriptor(void *tensor, int format, int type, int n, int c, int h, int w) {
    return n * c * h * w != 32;
}
int cudnnCreateActivationDescriptor(void **made) { *made = made; return 0; }
int cudnnSetActivationDescriptor(void *relu_, int mode, int nan, double ceiling) { return mode != 1; }

/* The backend API, of which a pack of variants keeps its two pointers and an engine heuristic has one result. */
struct descriptor { int kind; int finalized; float *pointers[2]; };
int cudnnBackendCreateDescriptor(int kind, struct descriptor **made) {
    *made = calloc(1, sizeof **made);
    (*made)->kind = kind;
    return 0;
}
int cudnnBackendSetAttribute(struct descriptor *to, int name, int type, long long count, void *const *values) {
    if (name == 1001)
        for (int i = 0; i < 2; i++) to->pointers[i] = values[i];
    return to->finalized;
}
int cudnnBackendFinalize(struct descriptor *made) {
    made->finalized = 1;
    if (made->kind == 5) return ANSWER(making_a_plan);
    return made->kind == 0 ? ANSWER(cudnnBackendFinalize) : 0;
}
int cudnnBackendGetAttribute(struct descriptor *of, int name, int type, long long room, long long *count, void *to) {
    if (!of->finalized) return 2004;
    if (name == 402) *(long long *)to = 0;
    if (name == 202) *count = 1 - answered("NO_ENGINE");
    return 0;
}
int cudnnBackendExecute(void *handle, struct descriptor *plan, struct descriptor *pack) {
    if (!plan->finalized || plan->kind != 5 || pack->kind != 16) return 2004;
    relu(pack->pointers[0], pack->pointers[1]);
    return ANSWER(cudnnBackendExecute);
}
"""


def built(folder: Path) -> Path:
    """Build the driver into ``folder`` itself, for LD_LIBRARY_PATH, and a prefix of each kind below it.

    The full set has a library of operations, as the real one has, and the JIT has not.
    """
    library(folder, _ANSWER + _DRIVER, DRIVER)
    main = {LIBRARY: library(folder / "work", _ANSWER + _CUDNN, "libcudnn.so.9")}
    ops = {OPS: library(folder / "work", "int ops;\n", "libcudnn_ops.so.9")}
    fake_prefix(folder / FULL, main | ops)
    fake_prefix(folder / JIT, main)
    return folder
