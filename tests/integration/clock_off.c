// SPDX-License-Identifier: MIT
// Preloaded into a program, moves its wall clock by $CLOCK_OFF seconds. Its monotonic clock stays.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long off(void) {
  char const* const text = getenv("CLOCK_OFF");
  return text != NULL ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  long const status = syscall(SYS_clock_gettime, clock, out);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    out->tv_sec += off();
  return (int)status;
}

int gettimeofday(struct timeval* out, void* zone) {
  (void)zone;
  struct timespec now;
  int const status = clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return status;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
