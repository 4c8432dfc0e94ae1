/* A loop of 4 ms that is late by what it does itself, each fortieth cycle, in the way that its argument names. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 4000000L
#define LONG 20000000L

static const char *how;
static int cpu, descriptors[2], answers[2];

static long ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void compute(long for_ns)
{
    long end = ns(CLOCK_THREAD_CPUTIME_ID) + for_ns;
    while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static void settle(const char *name, int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    prctl(PR_SET_NAME, name);
    sched_setaffinity(0, sizeof set, &set);
    sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameters);
}

/* Reads slowly what the loop writes, answers it slowly, or asks it for something now and then. */
static void *peer(void *nothing)
{
    static char bytes[65536];
    prctl(PR_SET_NAME, "peer");
    for (;;) {
        if (how[0] == 'a') {
            read(descriptors[0], bytes, 1);
            usleep(LONG / 1000);
            write(answers[1], bytes, 1);
            continue;
        }
        usleep(how[0] == 'p' ? 60000 : 170000);
        if (how[0] == 'p')
            read(descriptors[0], bytes, sizeof bytes);
        if (how[0] == 's')
            write(descriptors[0], "12345678", 8);
    }
    return nothing;
}

static void *heir(void *nothing)
{
    prctl(PR_SET_NAME, "heir");
    for (;;) {
        usleep(150000);
        compute(LONG);
    }
    return nothing;
}

static void disturb(long cycle)
{
    static char text[16384];
    if (how[0] == 'p') /* pipe */
        write(descriptors[1], text, 8192);
    if (cycle % 40)
        return;
    if (how[0] == 'm') { /* memory */
        size_t bytes = 64 << 20;
        munmap(mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), bytes);
    }
}

/* One thread for a timer and for whoever else has something for it. */
static void serve(void)
{
    struct itimerspec each = {{0, PERIOD}, {0, PERIOD}};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0), all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    timerfd_settime(timer, 0, &each, 0);
    event.data.fd = timer;
    epoll_ctl(all, EPOLL_CTL_ADD, timer, &event);
    event.data.fd = descriptors[0];
    epoll_ctl(all, EPOLL_CTL_ADD, descriptors[0], &event);
    for (;;) {
        long value;
        epoll_wait(all, &event, 1, -1);
        read(event.data.fd, &value, sizeof value);
        compute(event.data.fd == timer ? 100000 : LONG);
    }
}

/* Waits for commands until its next due time, and in its work for an answer. None of the commands comes. */
static void take_commands(void)
{
    int commands[2];
    pipe(commands);
    long due = ns(CLOCK_MONOTONIC);
    for (long cycle = 1;; cycle++) {
        long left = (due += PERIOD) - ns(CLOCK_MONOTONIC);
        if (left > 0) {
            struct pollfd command = {commands[0], POLLIN, 0};
            struct timespec time_out = {0, left};
            ppoll(&command, 1, &time_out, 0);
        }
        compute(100000);
        if (cycle % 40 == 0) {
            struct pollfd answer = {answers[0], POLLIN, 0};
            char byte = 0;
            write(descriptors[1], &byte, 1);
            poll(&answer, 1, 1000);
            read(answers[0], &byte, 1);
        }
    }
}

int main(int count, char **words)
{
    pthread_t other;
    if (count < 3)
        return 1;
    how = words[1];
    cpu = atoi(words[2]);
    if ((how[0] == 'p' || how[0] == 'a') && pipe(descriptors))
        return 1;
    if (how[0] == 's')
        descriptors[0] = eventfd(0, 0);
    if (how[0] == 'a' && pipe(answers))
        return 1;
    pthread_create(&other, 0, peer, 0);
    settle("control", 80);
    if (how[0] == 'i')
        pthread_create(&other, 0, heir, 0);
    if (how[0] == 's')
        serve();
    if (how[0] == 'a')
        take_commands();
    long due = ns(CLOCK_MONOTONIC);
    for (long cycle = 0;; cycle++) {
        struct timespec at = {(due += PERIOD) / 1000000000L, due % 1000000000L};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        compute(100000);
        disturb(cycle);
    }
}
