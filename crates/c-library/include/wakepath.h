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

#include <stdarg.h>
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
/* FIFO on a real-time core beside Linux's scheduler: EVL (Xenomai 4), Cobalt (Xenomai 3). -1 where the kernel has none. A
 * loop there may not print, allocate or ask Linux for anything else: that takes it off its core. */
int32_t wakepath_prepare_evl_fifo(uint8_t priority, const uint16_t *cpus, size_t cpu_count, char *said, size_t said_bytes);
int32_t wakepath_prepare_cobalt_fifo(uint8_t priority, const uint16_t *cpus, size_t cpu_count, char *said, size_t said_bytes);
/* A SCHED_DEADLINE thread runs on its whole root domain, so it names no CPUs. */
int32_t wakepath_prepare_deadline(uint64_t runtime_ns, uint64_t deadline_ns, uint64_t period_ns, char *said, size_t said_bytes);

/* In the field: starts wakepath's recorder beside this program, for as long as it runs, as `wakepath record --service`
 * does from outside. First of all in main: before memory is locked and a thread prepared, after a daemon has put itself
 * into the background. Loops that are made afterwards are recorded into the directory. The options are those of
 * `wakepath record --service`, a word each:
 *
 *     const char *options[] = {"--criterion", "latency 200us, miss-fraction 0.1 %", "--keep", "2GiB"};
 *     if (wakepath_record_service("/var/lib/my-loop", options, 4, said, sizeof said) < 0) fprintf(stderr, "%s\n", said);
 *
 * --criterion, --keep, --worst, --metrics, --trace, --trust-directory; and --recorder with the path of the program
 * wakepath, which otherwise is looked for in the absolute directories of PATH and the system's own. Returns 0 when the recorder is
 * there; 1 where somebody records this program already, such as `wakepath record` on the bench; -1 where nobody
 * does, with why in `said`, and the loops run all the same. It waits up to 30 s, as a rule some tens of milliseconds. */
int32_t wakepath_record_service(const char *directory, const char *const *options, size_t option_count, char *said, size_t said_bytes);

/* A loop of this name (1 to 32 bytes of UTF-8, one of its kind in the program) and period (10 us to 10 s).
 * Where a recorder started the program it waits here until the recording begins. NULL where it can't be
 * had, with why in `error`, which may be NULL. */
wakepath_loop *wakepath_loop_create(const char *name, uint64_t period_ns, char *error, size_t error_bytes);

/* As wakepath_loop_create, with what happens when the work of a cycle runs into the next due time. SKIP, as without it:
 * the loop goes on at the next due time in the future. CATCH_UP: the cycles run one after the other until it has caught
 * up; each is in the recording. STOP: wakepath_loop_wait says false, except in a recording's warm-up. */
#define WAKEPATH_OVERRUN_SKIP UINT32_C(0)
#define WAKEPATH_OVERRUN_CATCH_UP UINT32_C(1)
#define WAKEPATH_OVERRUN_STOP UINT32_C(2)
wakepath_loop *wakepath_loop_create_with(const char *name, uint64_t period_ns, uint32_t overrun, char *error, size_t error_bytes);

/* Waits for the next due time. false when the recording is over, or an overrun has stopped the loop, and the program
 * should end. `cycle` may be NULL. A cycle that was not finished is finished first. */
bool wakepath_loop_wait(wakepath_loop *loop, wakepath_cycle *cycle);

/* A loop whose cycles somebody else's clock begins: a bus, a sensor's interrupt, another program's sleep. Each lies
 * between wakepath_loop_begin and wakepath_loop_finish; the period is that clock's, as far as it is known. */
wakepath_loop *wakepath_loop_create_driven(const char *name, uint64_t period_ns, char *error, size_t error_bytes);

/* Begins a cycle of a driven loop: this instant is its first. `due_ns`: when it was due, in nanoseconds on
 * CLOCK_MONOTONIC, or WAKEPATH_ESTIMATED: a minimum filter over the instants at which cycles begin finds it. false
 * when the recording is over and the program should end. `cycle` may be NULL. */
#define WAKEPATH_ESTIMATED UINT64_C(0)
bool wakepath_loop_begin(wakepath_loop *loop, uint64_t due_ns, wakepath_cycle *cycle);

/* Ends the cycle: its sample is on its way to the recorder. */
void wakepath_loop_finish(wakepath_loop *loop);

/* A part of the cycle that is timed: its name (1 to 32 bytes), and the longest that it should take in
 * nanoseconds, 0 for no such time. Before the first cycle. The same name is the same section; beyond 16, and
 * where nobody records, WAKEPATH_NO_SECTION, with which those below do nothing. Sections may lie within each
 * other. */
#define WAKEPATH_NO_SECTION UINT32_MAX
uint32_t wakepath_loop_section(wakepath_loop *loop, const char *name, uint64_t budget_ns);
void wakepath_section_begin(wakepath_loop *loop, uint32_t section);
void wakepath_section_end(wakepath_loop *loop, uint32_t section);

/* One section ends and another begins, at the same instant: one reading of the clock instead of two. */
void wakepath_section_switch(wakepath_loop *loop, uint32_t ended, uint32_t begun);

/* An argument of a line, for wakepath_log and wakepath.hpp. */
typedef union wakepath_argument {
    int64_t integer;
    uint64_t natural;
    double real;
    const char *text;
} wakepath_argument;

/* The parts of wakepath_log and of wakepath.hpp; a program has no need of them. What is known of a format: its
 * number in the lowest 16 bits, above them four bits for each argument: 1 int, 2 unsigned, 3 long, 4 unsigned long,
 * 5 long long, 6 unsigned long long, 7 double, 8 text, 9 pointer. */
#define WAKEPATH_NO_FORMAT UINT64_MAX
uint64_t wakepath_log_format(wakepath_loop *loop, const char *format);
uint64_t wakepath_log_format_braces(wakepath_loop *loop, const char *format, size_t bytes);
void wakepath_log_arguments(wakepath_loop *loop, uint64_t format, const wakepath_argument *arguments);
void wakepath_value_named(wakepath_loop *loop, const char *name, size_t bytes, double value);

/* A line of the loop's log, as printf has it: wakepath_log(loop, "height %.2f of %s", height, name). The format is a
 * literal, known by its address; the arguments (8 at most; of a text its first 64 bytes) are copied, and formatted
 * where the run is recorded. No system call, no lock, no allocation; where the recorder has fallen behind the line
 * is dropped and counted, and where nobody records nothing happens. %n, %Lf and widths from arguments can't be
 * copied: such a line is left out, and said. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 2, 3), unused))
#endif
static inline void
wakepath_log(wakepath_loop *loop, const char *format, ...) {
    wakepath_argument arguments[8];
    const uint64_t known = wakepath_log_format(loop, format);
    uint64_t codes;
    int count = 0;
    va_list list;
    if (known == WAKEPATH_NO_FORMAT) {
        return;
    }
    va_start(list, format);
    for (codes = known >> 16; codes != 0 && count < 8; codes >>= 4, count++) {
        switch (codes & 15) {
        case 1: arguments[count].integer = va_arg(list, int); break;
        case 2: arguments[count].natural = va_arg(list, unsigned); break;
        case 3: arguments[count].integer = va_arg(list, long); break;
        case 4: arguments[count].natural = va_arg(list, unsigned long); break;
        case 5: arguments[count].integer = va_arg(list, long long); break;
        case 6: arguments[count].natural = va_arg(list, unsigned long long); break;
        case 7: arguments[count].real = va_arg(list, double); break;
        case 8: arguments[count].text = va_arg(list, const char *); break;
        default: arguments[count].natural = (uint64_t)(uintptr_t)va_arg(list, void *); break;
        }
    }
    va_end(list);
    wakepath_log_arguments(loop, known, arguments);
}

/* A value of this cycle: wakepath_value(loop, "height", 1.5). The name is a literal. */
#define wakepath_value(loop, name, value) wakepath_value_named((loop), "" name "", sizeof(name) - 1, (value))

/* Due times at which no cycle ran, because the one before took too long. */
uint64_t wakepath_loop_skipped(const wakepath_loop *loop);

/* Whether a recorder has the loop's samples. */
bool wakepath_loop_is_recorded(const wakepath_loop *loop);

/* The loop whose cycle is under way on this thread; NULL without one. For code that is handed no loop, such as
 * plug-ins, which find it where they and the program share one libwakepath.so. */
wakepath_loop *wakepath_loop_under_way(void);

/* Gives the loop up; NULL does nothing. */
void wakepath_loop_destroy(wakepath_loop *loop);

/* Version of the library, such as "0.1.0". */
const char *wakepath_version(void);

#ifdef __cplusplus
}
#endif

#endif
