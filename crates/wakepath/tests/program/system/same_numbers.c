/* Three threads with long cycles now and then: one sleeps until each of its due times, passed ones too, one runs the
 * cycles that it is behind with at once, and one waits for two timers, which lose expirations meanwhile. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L

static long ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 * MS + now.tv_nsec;
}

static void compute(long for_ns)
{
    for (long end = ns() + for_ns; ns() < end;)
        ;
}

static void *late(void *nothing)
{
    prctl(PR_SET_NAME, "late");
    long due = ns();
    for (long cycle = 1;; cycle++) {
        due += 4 * MS;
        struct timespec at = {due / (1000 * MS), due % (1000 * MS)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        compute(cycle % 40 ? MS / 10 : 14 * MS);
    }
    return nothing;
}

static void *behind(void *nothing)
{
    prctl(PR_SET_NAME, "behind");
    long due = ns();
    for (long cycle = 1;; cycle++) {
        due += 10 * MS;
        if (ns() < due) {
            struct timespec at = {due / (1000 * MS), due % (1000 * MS)};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        }
        struct timespec used;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        for (long end = used.tv_sec * 1000 * MS + used.tv_nsec + MS, now = 0; now < end;) {
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
            now = used.tv_sec * 1000 * MS + used.tv_nsec;
        }
        if (cycle % 15 == 0)
            poll(0, 0, 45);
    }
    return nothing;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, late, 0);
    pthread_create(&thread, 0, behind, 0);
    prctl(PR_SET_NAME, "two");
    struct pollfd timers[2];
    for (int number = 0; number < 2; number++) {
        long period = (number ? 33 : 10) * MS;
        struct itimerspec each = {{0, period}, {0, period}};
        timers[number] = (struct pollfd){timerfd_create(CLOCK_MONOTONIC, 0), POLLIN};
        timerfd_settime(timers[number].fd, 0, &each, 0);
    }
    for (long turn = 1;; turn++) {
        uint64_t times;
        poll(timers, 2, -1);
        for (int number = 0; number < 2; number++)
            if (timers[number].revents)
                read(timers[number].fd, &times, sizeof times);
        compute(turn % 20 ? MS / 10 : 35 * MS);
    }
}
