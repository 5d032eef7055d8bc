/* Counts the bytes that a process holds in aligned allocations, which are those of ONNX Runtime's tensors and kernels.
   Each counts as its size rounded up to 64. Loaded before other libraries (LD_PRELOAD), it replaces their allocators.
   The count is for one thread that runs a model while others allocate nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { ALIGNMENT = 64, SLOTS = 1 << 20 };
static void *const GONE = (void *)1;
static struct { void *pointer; size_t size; } table[SLOTS];
static size_t held, most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t first_slot(void *pointer) { return (uintptr_t)pointer / ALIGNMENT * 0x9E3779B97F4A7C15u >> 44; }

static void add(void *pointer, size_t alignment, size_t size) {
  if (pointer == NULL || alignment < ALIGNMENT || size == 0) return;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  pthread_mutex_lock(&lock);
  for (size_t n = 0, i = first_slot(pointer); n < SLOTS; n++, i = (i + 1) % SLOTS)
    if (table[i].pointer == NULL || table[i].pointer == GONE) {
      table[i].pointer = pointer;
      table[i].size = size;
      held += size;
      break;
    }
  if (held > most) most = held;
  pthread_mutex_unlock(&lock);
}

static void drop(void *pointer) {
  if (pointer == NULL || (uintptr_t)pointer % ALIGNMENT) return;
  pthread_mutex_lock(&lock);
  for (size_t n = 0, i = first_slot(pointer); n < SLOTS && table[i].pointer; n++, i = (i + 1) % SLOTS)
    if (table[i].pointer == pointer) {
      table[i].pointer = GONE;
      held -= table[i].size;
      break;
    }
  pthread_mutex_unlock(&lock);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "posix_memalign");
  int status = next(pointer, alignment, size);
  if (status == 0) add(*pointer, alignment, size);
  return status;
}

void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "aligned_alloc");
  void *pointer = next(alignment, size);
  add(pointer, alignment, size);
  return pointer;
}

void free(void *pointer) {
  static void (*next)(void *);
  if (next == NULL) next = dlsym(RTLD_NEXT, "free");
  drop(pointer);
  next(pointer);
}

size_t held_bytes(void) { return held; }

size_t most_bytes(void) { return most; }

void start_count(void) { most = held; }
