// Functions that loops call for every few numbers, inlined whatever the compiler thinks of their size.
#pragma once

#if defined(__GNUC__)
#define EPIGNN_INLINE inline __attribute__((always_inline))
#else
#define EPIGNN_INLINE inline
#endif
