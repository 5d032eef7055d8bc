"""The bytes that a process of onnxruntime allocates, counted in a child process.

A library that a C compiler builds counts them exactly. It replaces the two allocators of aligned memory, and counts
each allocation as its size rounded up to 64. One of them serves onnxruntime's tensors and temporaries; the other one
serves the buffers that each thread of its matrix products keeps (some 40 KiB), which are not counted. The library is
loaded before all others (LD_PRELOAD), so it needs Linux with glibc and a C compiler: `counter_obstacle` says so.

Without the library, the pages that the process has in memory are counted, which needs Linux. Each allocation of a page
or more is then one of its own, so that it is returned when it is freed.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from shapeinf.runtime import allocation_child
from shapeinf.runtime.protocol import NotLoaded, Refusal, stop_after

Array = np.ndarray[Any, Any]

COMPILERS = ("cc", "gcc", "clang")

PAGES = "/proc/self/clear_refs"
"""The file by which a process of Linux starts to count its pages."""
TUNABLES = "glibc.malloc.mmap_threshold=4096:glibc.malloc.mmap_max=1000000:glibc.malloc.top_pad=0"
"""The settings of glibc with which each allocation of a page or more is one of its own; other libraries ignore them."""

SOURCE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { ALIGNMENT = 64, SLOTS = 1 << 20 };
static void *const GONE = (void *)1;
static struct { void *pointer; size_t size; int kind; } table[SLOTS];
static size_t held[2], most[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t first_slot(void *pointer) { return (uintptr_t)pointer / ALIGNMENT * 0x9E3779B97F4A7C15u >> 44; }

static void add(int kind, void *pointer, size_t alignment, size_t size) {
  if (pointer == NULL || alignment < ALIGNMENT || size == 0) return;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  pthread_mutex_lock(&lock);
  for (size_t n = 0, i = first_slot(pointer); n < SLOTS; n++, i = (i + 1) % SLOTS)
    if (table[i].pointer == NULL || table[i].pointer == GONE) {
      table[i].pointer = pointer;
      table[i].size = size;
      table[i].kind = kind;
      held[kind] += size;
      break;
    }
  if (held[kind] > most[kind]) most[kind] = held[kind];
  pthread_mutex_unlock(&lock);
}

static void drop(void *pointer) {
  if (pointer == NULL || (uintptr_t)pointer % ALIGNMENT) return;
  pthread_mutex_lock(&lock);
  for (size_t n = 0, i = first_slot(pointer); n < SLOTS && table[i].pointer; n++, i = (i + 1) % SLOTS)
    if (table[i].pointer == pointer) {
      table[i].pointer = GONE;
      held[table[i].kind] -= table[i].size;
      break;
    }
  pthread_mutex_unlock(&lock);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "posix_memalign");
  int status = next(pointer, alignment, size);
  if (status == 0) add(0, *pointer, alignment, size);
  return status;
}

void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "aligned_alloc");
  void *pointer = next(alignment, size);
  add(1, pointer, alignment, size);
  return pointer;
}

void free(void *pointer) {
  static void (*next)(void *);
  if (next == NULL) next = dlsym(RTLD_NEXT, "free");
  drop(pointer);
  next(pointer);
}

size_t held_bytes(int kind) { return held[kind]; }

size_t most_bytes(int kind) { return most[kind]; }

void start_count(void) {
  most[0] = held[0];
  most[1] = held[1];
}
"""
"""The library. It counts for one thread that runs a model while others allocate nothing."""


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, COMPILERS)), None)


def counter_obstacle() -> str:
    """Why allocations cannot be counted on this machine; empty if they can be."""
    if not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc":
        return "allocations are counted on Linux with glibc only"
    return "" if _compiler() else f"allocations are counted by a C library, and there is no {' or '.join(COMPILERS)}"


def build_library(folder: str) -> str:
    """Compile the library into a folder; returns its path. Raises Refusal with the last line of the compiler."""
    obstacle = counter_obstacle()
    if obstacle:
        raise Refusal(obstacle)
    source, library = (os.path.join(folder, f"allocations.{ending}") for ending in ("c", "so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    command = [_compiler() or "", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl", "-lpthread"]
    try:
        built = subprocess.run(command, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"the library that counts allocations cannot be compiled: {error}") from error
    if built.returncode:
        lines = built.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Refusal(": ".join(["the library that counts allocations cannot be compiled", *lines[-1:]]))
    return library


@attrs.frozen
class SessionOptions:
    """The options of a session and of its runs that decide what is allocated.

    Args:
        threads: the threads in one kernel.
        optimized: whether the session optimizes the graph, with all optimizations.
        arena: whether tensors and temporaries come from an arena, whose regions are then counted.
        pattern: whether a run has one block for all tensors whose sizes an earlier run of the same shapes had.
        runs: the number of runs.
        entries: further entries of the configuration of the session, such as `session.disable_prepacking`.
    """

    threads: int = 1
    optimized: bool = False
    arena: bool = False
    pattern: bool = False
    runs: int = 1
    entries: Mapping[str, str] = attrs.Factory(dict)


@attrs.frozen
class Allocations:
    """What a session allocated, in bytes.

    Args:
        held: the bytes that the session holds after its creation.
        creation: the most bytes that were held while it was created.
        peaks: for each run, the most bytes that were held besides `held`, results included.
        outputs: the bytes of the outputs of the last run, each rounded up to 64.
    """

    held: int
    creation: int
    peaks: tuple[int, ...]
    outputs: int


class AllocationCounter:
    """A child process whose aligned allocations are counted; use it in a `with` statement.

    Raises Refusal, with the reason of `counter_obstacle`, if it cannot be built.
    """

    def __init__(self, *, pages: bool = False, timeout: float | None = None) -> None:
        """Build the library, unless only pages are counted; `timeout` is the most seconds that a measurement may take.

        The process starts with the first measurement, and again after one that ended it.
        """
        self._timeout = timeout
        self._pages = pages
        self._child: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="shapeinf-counter-")
        try:
            library = "" if pages else build_library(self._folder.name)
        except Refusal:
            self._folder.cleanup()
            raise
        self._environment = {"GLIBC_TUNABLES": TUNABLES} if pages else {"LD_PRELOAD": library}
        # Without -P, the folder of the file would be searched first, which has modules with names of Python's.
        self._command = [sys.executable, "-P", allocation_child.__file__, *(["--pages"] if pages else [])]

    def _start(self) -> subprocess.Popen[str]:
        """The process, which may run already. Raises NotLoaded where the system does not count pages."""
        if self._pages and not os.path.exists(PAGES):
            raise NotLoaded(f"pages are counted on Linux only, where {PAGES} exists")
        if self._child is None or self._child.poll() is not None:
            self._end()
            self._child = subprocess.Popen(
                self._command,
                env={**os.environ, **self._environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert self._child.stdout is not None
            self._child.stdout.readline()  # it is ready: a timeout does not count its start
        return self._child

    def __enter__(self) -> AllocationCounter:
        """The counter."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and remove its files."""
        self.close()

    def close(self) -> None:
        """End the process and remove its files."""
        self._end()
        self._folder.cleanup()

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def measure(
        self,
        path: str,
        arrays: Mapping[str, Array | list[Array]],
        options: SessionOptions | None = None,
        folder: str | None = None,
    ) -> Allocations:
        """What a new session of a file allocates, and its runs with these inputs; a list is a sequence of equal shapes.

        `folder` has the external data, if that is not the folder of the file.
        Raises NotLoaded if onnxruntime does not load it, StoppedRun after the timeout, Refusal if it does not run.
        """
        return self.measure_all(path, arrays, [options or SessionOptions()], folder)[0]

    def measure_all(
        self,
        path: str,
        arrays: Mapping[str, Array | list[Array]],
        options: Sequence[SessionOptions],
        folder: str | None = None,
    ) -> list[Allocations]:
        """As `measure`, with one session for each of these options."""
        inputs = os.path.join(self._folder.name, "inputs.npz")
        numbered: Any = {f"x{number}": _plain(name, array) for number, (name, array) in enumerate(arrays.items())}
        np.savez(inputs, **numbered)
        sequences = [name for name, array in arrays.items() if isinstance(array, list)]
        task = {"path": path, "folder": folder, "inputs": inputs, "names": list(arrays), "sequences": sequences}
        answer = self._ask({**task, "options": [attrs.asdict(o) for o in options]})
        if "refused" in answer:
            raise Refusal(answer["refused"]) if answer["loaded"] else NotLoaded(answer["refused"])
        return [Allocations(**{**record, "peaks": tuple(record["peaks"])}) for record in answer["sessions"]]

    def _ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of the process to a task. Raises Refusal if it ends, StoppedRun if it takes too long."""
        child = self._start()
        assert child.stdin is not None and child.stdout is not None
        with stop_after(self._timeout, child.kill):
            try:
                print(json.dumps(task), file=child.stdin, flush=True)
                answer: dict[str, Any] = json.loads(child.stdout.readline())
            except (OSError, ValueError) as error:
                self._end()
                raise Refusal("the process of onnxruntime ended") from error
        return answer


def _plain(name: str, array: Array | list[Array]) -> Array:
    """An input as an array of a type that files have. Raises Refusal for bfloat16 and other types that numpy lacks."""
    plain = np.asarray(array)
    if plain.dtype.isbuiltin == 2:
        raise Refusal(f"input {name} has element type {plain.dtype.name}, which numpy does not have")
    return plain.astype(str) if plain.dtype == object else plain
