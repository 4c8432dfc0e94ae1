/* A chain of threads, each of which wakes the next by a pipe: a sensor with a timer, then the loop and a relay, in either
 * order. */
#include "injected.h"

/* Above everything that shares their CPU. */
#define SENSOR 96
#define RELAY 95

static int to_loop[2], to_relay[2], loop_is_last;
static long first_due;

static void wake(int *pipe)
{
    must(write(pipe[1], "", 1), "write");
}

static void wait_in(int *pipe)
{
    char byte;
    must(read(pipe[0], &byte, 1), "read");
}

static void *sensor(void *nothing)
{
    settle("sensor", other_cpu, SENSOR);
    for (long due = first_due;; due += PERIOD) {
        rest_until(due);
        compute(20000);
        wake(loop_is_last ? to_relay : to_loop);
    }
    return nothing;
}

static void *relay(void *nothing)
{
    settle("relay", other_cpu, RELAY);
    for (;;) {
        wait_in(to_relay);
        compute(50000);
        if (loop_is_last)
            wake(to_loop);
    }
    return nothing;
}

void make_chain(int is_last)
{
    loop_is_last = is_last;
    first_due = now() + 100 * MS;
    must(pipe(to_loop), "pipe");
    must(pipe(to_relay), "pipe");
    thread(relay);
    thread(sensor);
}

void await_turn(void)
{
    wait_in(to_loop);
}

void pass_on(void)
{
    if (!loop_is_last)
        wake(to_relay);
}

long next_due(long at)
{
    return first_due ? at + (PERIOD - (at - first_due) % PERIOD) % PERIOD : 0;
}
