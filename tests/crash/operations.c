// Counts what a process does to files below a folder, and ends it at one of these operations, or lets that one fail.
// Loaded before the C library (LD_PRELOAD), so that it sees every language: Python, numpy, torch, safetensors.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static long chosen, seen;
static int fault;

// Begin to count below `where`; at operation `number` the process is killed or, with an error, that operation fails.
void operations_begin(const char* where, long number, int error) {
  snprintf(folder, sizeof folder, "%s", where);
  chosen = number;
  seen = 0;
  fault = error;
}

long operations_seen(void) { return seen; }

static int below(const char* path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }

static int open_below(int file) {
  char link[64], path[4096];
  if (!folder[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

// Whether this operation is the chosen one and has to fail; a kill does not come back.
static int due(void) {
  if (++seen != chosen) return 0;
  if (!fault) kill(getpid(), SIGKILL);
  errno = fault;
  return 1;
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPENS(name)                                                          \
  int name(const char* path, int flags, ...) {                               \
    NEXT(name);                                                              \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                            \
    if ((flags & (O_WRONLY | O_RDWR)) && below(path) && due()) return -1;    \
    return next(path, flags, mode);                                          \
  }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                       \
  int name(int at, const char* path, int flags, ...) {                       \
    NEXT(name);                                                              \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                            \
    if ((flags & (O_WRONLY | O_RDWR)) && below(path) && due()) return -1;    \
    return next(at, path, flags, mode);                                      \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

// A process that is killed while it writes has written a part.
ssize_t write(int file, const void* data, size_t size) {
  NEXT(write);
  if (open_below(file)) {
    if (seen + 1 == chosen && !fault && size > 1) next(file, data, size / 2);
    if (due()) return -1;
  }
  return next(file, data, size);
}

#define ON_FILE(result, name, parameters, arguments, file) \
  result name parameters {                                 \
    NEXT(name);                                            \
    if (open_below(file) && due()) return -1;              \
    return next arguments;                                 \
  }
ON_FILE(ssize_t, pwrite, (int f, const void* d, size_t n, off_t o), (f, d, n, o), f)
ON_FILE(ssize_t, pwrite64, (int f, const void* d, size_t n, off64_t o), (f, d, n, o), f)
ON_FILE(int, fsync, (int f), (f), f)
ON_FILE(int, fdatasync, (int f), (f), f)
ON_FILE(int, ftruncate, (int f, off_t n), (f, n), f)
ON_FILE(int, ftruncate64, (int f, off64_t n), (f, n), f)

#define ON_PATH(name, parameters, arguments, path) \
  int name parameters {                            \
    NEXT(name);                                    \
    if (below(path) && due()) return -1;           \
    return next arguments;                         \
  }
ON_PATH(rename, (const char* a, const char* b), (a, b), b)
ON_PATH(renameat, (int d, const char* a, int e, const char* b), (d, a, e, b), b)
ON_PATH(unlink, (const char* a), (a), a)
ON_PATH(unlinkat, (int d, const char* a, int f), (d, a, f), a)
ON_PATH(mkdir, (const char* a, mode_t m), (a, m), a)
ON_PATH(mkdirat, (int d, const char* a, mode_t m), (d, a, m), a)
