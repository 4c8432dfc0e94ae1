/* A pilot that knows nothing of wakepath: a cycle each 2 ms, in which it waits for its sensor and computes. Its author put
 * USDT probes into it, two with a semaphore. It notes when it passed the first, and how often it passed a guarded one. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define _SDT_HAS_SEMAPHORES 1
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
/* The note of <https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation>, for x86-64 and 64-bit Arm. */
#define DTRACE_PROBE(provider, name)                                                                                   \
    __asm__ __volatile__("990: nop\n"                                                                                  \
                         ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                                 \
                         ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                                 \
                         "991: .asciz \"stapsdt\"\n992: .balign 4\n"                                                   \
                         "993: .8byte 990b, _.stapsdt.base, " #provider "_" #name "_semaphore\n"                       \
                         ".asciz \"" #provider "\"\n.asciz \"" #name "\"\n.asciz \"\"\n"                               \
                         "994: .balign 4\n.popsection\n"                                                               \
                         ".ifndef _.stapsdt.base\n"                                                                    \
                         ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                       \
                         ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                    \
                         ".size _.stapsdt.base, 1\n.popsection\n.endif\n" ::: "memory")
#endif
#define SEMAPHORE(name) \
    __extension__ volatile unsigned short pilot_##name##_semaphore __attribute__((used, section(".probes")))
SEMAPHORE(cycle_begin);
SEMAPHORE(cycle_end);
SEMAPHORE(sensor_begin);
SEMAPHORE(sensor_end);
SEMAPHORE(control_begin);
SEMAPHORE(control_end);
SEMAPHORE(never);

static uint64_t on(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) { return on(CLOCK_MONOTONIC); }

static void until(uint64_t at) {
    struct timespec t = {(time_t)(at / 1000000000), (long)(at % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {}
}

int main(int count, char **arguments) {
    puts("taking off");
    uint64_t cycles = count > 1 ? strtoull(arguments[1], NULL, 10) : 1000;
    FILE *notes = count > 2 ? fopen(arguments[2], "w") : NULL;
    uint64_t guarded = 0, due = now() + 20000000, begun = now();
    for (uint64_t cycle = 0; cycle < cycles; cycle++, due += 2000000) {
        until(due);
        uint64_t at = now();
        DTRACE_PROBE(pilot, cycle_begin);
        DTRACE_PROBE(pilot, sensor_begin);
        until(now() + 150000);
        DTRACE_PROBE(pilot, sensor_end);
        if (pilot_control_begin_semaphore) {
            guarded++;
            DTRACE_PROBE(pilot, control_begin);
        }
        uint64_t computed = now() + 200000;
        while (now() < computed) {}
        DTRACE_PROBE(pilot, control_end);
        DTRACE_PROBE(pilot, cycle_end);
        if (notes) fprintf(notes, "%llu\n", (unsigned long long)at);
    }
    if (cycles == 0) DTRACE_PROBE(pilot, never);
    /* With a third argument: what a probe costs, a hundred thousand of them, in time on the CPU. */
    if (count > 3) {
        uint64_t from = on(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < 100000; i++) DTRACE_PROBE(pilot, cycle_end);
        fprintf(stderr, "%.0f ns a probe\n", (double)(on(CLOCK_THREAD_CPUTIME_ID) - from) / 1e5);
    }
    fprintf(stderr, "%llu guarded in %llu ms\n", (unsigned long long)guarded,
            (unsigned long long)((now() - begun) / 1000000));
    return 0;
}
