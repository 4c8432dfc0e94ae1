/* The loop's library of wakepath, for C99 and later, and for C++ through wakepath.hpp.
 *
 * A thread is prepared (memory, CPUs, policy), makes its loop, and lives in it:
 *
 *     char said[256];
 *     if (wakepath_prepare_fifo(80, NULL, 0, said, sizeof said) < 0) return 1;
 *     wakepath_loop *attitude = wakepath_loop_create("attitude", 4000000, said, sizeof said);
 *     while (wakepath_loop_wait(attitude, NULL)) {
 *         ... read, compute, write ...
 *         wakepath_loop_finish(attitude);
 *     }
 *     wakepath_loop_destroy(attitude);
 *
 * Under `wakepath record -- ./program` each cycle is recorded by another process, and the loop ends with
 * the recording. Without a recorder the same program runs, and the loop never ends by itself.
 * wakepath_loop_wait and wakepath_loop_finish allocate nothing, take no lock and make no system call but
 * the sleep and the clock. */

#ifndef WAKEPATH_H
#define WAKEPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A periodic loop. It belongs to the thread that made it. */
typedef struct wakepath_loop wakepath_loop;

/* A cycle: which due time it serves, when that was, and when its first instruction ran; instants in
 * nanoseconds on CLOCK_MONOTONIC. */
typedef struct wakepath_cycle {
    uint64_t cycle;
    uint64_t due_ns;
    uint64_t wake_ns;
} wakepath_cycle;

/* Prepares the calling thread for its loop: memory locked, CPUs, timer slack, and the policy last, each
 * read back. `cpus` may be NULL: the thread stays where it may run. Returns 0 when all is in effect; the
 * number of shortfalls that a loop can live with, told in `said`; -1 when it can't be had, with why in
 * `said`. `said` may be NULL. */
int32_t wakepath_prepare_other(int8_t nice, const uint16_t *cpus, size_t cpu_count, char *said, size_t said_bytes);
int32_t wakepath_prepare_fifo(uint8_t priority, const uint16_t *cpus, size_t cpu_count, char *said, size_t said_bytes);
int32_t wakepath_prepare_rr(uint8_t priority, const uint16_t *cpus, size_t cpu_count, char *said, size_t said_bytes);
/* A SCHED_DEADLINE thread runs on its whole root domain, so it names no CPUs. */
int32_t wakepath_prepare_deadline(uint64_t runtime_ns, uint64_t deadline_ns, uint64_t period_ns, char *said, size_t said_bytes);

/* A loop of this name (1 to 32 bytes of UTF-8, one of its kind in the program) and period (10 us to 10 s).
 * Where a recorder started the program it waits here until the recording begins. NULL where it can't be
 * had, with why in `error`, which may be NULL. */
wakepath_loop *wakepath_loop_create(const char *name, uint64_t period_ns, char *error, size_t error_bytes);

/* Waits for the next due time. false when the recording is over and the program should end. `cycle` may be
 * NULL. A cycle that was not finished is finished first. */
bool wakepath_loop_wait(wakepath_loop *loop, wakepath_cycle *cycle);

/* Ends the cycle: its sample is on its way to the recorder. */
void wakepath_loop_finish(wakepath_loop *loop);

/* A part of the cycle that is timed: its name (1 to 32 bytes), and the longest that it should take in
 * nanoseconds, 0 for no such time. Before the first cycle. The same name is the same section; beyond 16, and
 * where nobody records, WAKEPATH_NO_SECTION, with which the two below do nothing. Sections may lie within each
 * other. */
#define WAKEPATH_NO_SECTION UINT32_MAX
uint32_t wakepath_loop_section(wakepath_loop *loop, const char *name, uint64_t budget_ns);
void wakepath_section_begin(wakepath_loop *loop, uint32_t section);
void wakepath_section_end(wakepath_loop *loop, uint32_t section);

/* Due times at which no cycle ran, because the one before took too long. */
uint64_t wakepath_loop_skipped(const wakepath_loop *loop);

/* Whether a recorder has the loop's samples. */
bool wakepath_loop_is_recorded(const wakepath_loop *loop);

/* Gives the loop up; NULL does nothing. */
void wakepath_loop_destroy(wakepath_loop *loop);

/* Version of the library, such as "0.1.0". */
const char *wakepath_version(void);

#ifdef __cplusplus
}
#endif

#endif
