/* What the parts of the program share: a loop into whose cycles causes of lateness are injected at random, and that
 * writes down which one delayed it from when to when. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 4000000L
#define MS 1000000L

struct kind {
    const char *name;
    /* Makes what it needs; may be null. */
    void (*prepare)(void);
    /* Delays the loop within its cycle by about so many nanoseconds; null if `outside` does it. */
    void (*within)(long ns);
    /* Lets something delay the loop by about so many nanoseconds around its next due time. */
    void (*outside)(long due, long ns);
};

extern const struct kind KINDS_WORK[], KINDS_WAITS[], KINDS_OUTSIDE[];
extern int loop_cpu, other_cpu, loop_priority;

/* A wait for a request in memory that processes share; `due`, `ns`: the request. */
struct request {
    atomic_int wanted;
    atomic_long due, ns;
    atomic_int state;
};

long now(void);
void rest_until(long at);
void rest(long ns);
/* Runs on a CPU for so long, stretches without one not counted. */
void compute(long ns);
/* Runs until an instant. */
void run_until(long at);
void run_dated(const char *kind, long until);
/* Runs like `compute`, and writes down as `kind` each stretch in which the thread had no CPU. */
void compute_with_gaps(const char *kind, long ns);
/* This kind delayed the loop, or kept it ready, between two instants. */
void truth(const char *kind, long from, long to);
/* Above ordinary threads of other programs on the same CPU. */
#define URGENT 70
/* Does the work, and writes down that this kind delayed the loop meanwhile. */
#define TIMED(KIND, WORK) do { long from = now(); WORK; truth(KIND, from, now()); } while (0)
/* Name, CPU, and FIFO priority, or 0 for OTHER, of the calling thread. */
void settle(const char *name, int cpu, int priority);
void thread(void *(*body)(void *));
/* A child process, which ends with the program. */
pid_t child(void (*body)(void));
void ask(struct request *request, long due, long ns);
/* Waits until it is asked. */
void wait_for(struct request *request);
struct request *shared_request(void);
void must(long result, const char *what);
/* Feeds the loop by a chain of threads, of which it is the last one or not. */
void make_chain(int is_last);
/* Waits for the thread before it. */
void await_turn(void);
/* Wakes the thread after it, if there is one. */
void pass_on(void);
/* The sensor's first due time from `at` on; 0 without a chain. */
long next_due(long at);
