// Instruction sets chosen when the module is loaded: functions marked EPIGNN_CLONES are compiled once for
// every x86-64 and once more for wider registers, and the loader picks. Elsewhere they are plain functions.
#pragma once

#include <cstdint>  // any header of the library: tells whether it is glibc, whose loader can choose

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define EPIGNN_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define EPIGNN_CLONES
#endif

#if defined(__GNUC__)
#define EPIGNN_INLINE inline __attribute__((always_inline))
#else
#define EPIGNN_INLINE inline
#endif
