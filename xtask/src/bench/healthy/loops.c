/* Healthy loops, each waiting in another way: every 5 ms a little work on memory that is there, FIFO 60 or ordinary. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 5000000L
#define SECOND 1000000000L

static struct timespec due;
static volatile unsigned long sum;
static pthread_mutex_t lock;
static pthread_cond_t condition;
static sem_t semaphore, served;
static int channel[2];
static timer_t alarm_timer;

static void next_due(void)
{
    due.tv_nsec += PERIOD;
    if (due.tv_nsec >= SECOND) {
        due.tv_nsec -= SECOND;
        due.tv_sec++;
    }
}

static void work(void)
{
    for (int step = 0; step < 20000; step++)
        sum += step;
}

static int timer_file(void)
{
    struct itimerspec each = {{0, PERIOD}, {0, PERIOD}};
    int file = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(file, 0, &each, 0);
    return file;
}

static void absolute(void) { clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, 0); }

static void relative(void)
{
    struct timespec time = {0, PERIOD};
    nanosleep(&time, 0);
}

static int file = -1;
static void read_timer(void)
{
    uint64_t times;
    if (read(file, &times, sizeof times) < 0)
        exit(1);
}

static void polled(void)
{
    struct pollfd one = {file, POLLIN, 0};
    poll(&one, 1, -1);
    read_timer();
}

static int group = -1;
static void epolled(void)
{
    struct epoll_event event = {EPOLLIN, {0}};
    if (group < 0) {
        group = epoll_create1(0);
        epoll_ctl(group, EPOLL_CTL_ADD, file, &event);
    }
    epoll_wait(group, &event, 1, -1);
    read_timer();
}

static void selected(void)
{
    struct timeval time = {0, PERIOD / 1000};
    select(0, 0, 0, 0, &time);
}

static void timed_condition(void)
{
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&condition, &lock, &due);
    pthread_mutex_unlock(&lock);
}

static void timed_semaphore(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += PERIOD;
    time.tv_sec += time.tv_nsec / SECOND;
    time.tv_nsec %= SECOND;
    sem_timedwait(&semaphore, &time);
}

static void signalled(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigwait(&set, &number);
}

/* A short lock that another thread takes too, and a worker that is given work and has time for it. */
static void *other(void *nothing)
{
    struct timespec pause = {0, 1700000};
    for (;;) {
        pthread_mutex_lock(&lock);
        sum++;
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, 0);
    }
    return nothing;
}

static void locked(void)
{
    absolute();
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *nothing)
{
    for (;;) {
        sem_wait(&served);
        work();
    }
    return nothing;
}

static void serving(void)
{
    absolute();
    sem_post(&served);
}

static void *reader(void *nothing)
{
    char text[64];
    while (read(channel[0], text, sizeof text) > 0)
        ;
    return nothing;
}

static void telling(void)
{
    absolute();
    if (write(channel[1], "state\n", 6) != 6)
        exit(1);
}

static const struct {
    const char *name;
    void (*wait)(void);
    void *(*helper)(void *);
} KINDS[] = {
    {"absolute", absolute, 0}, {"relative", relative, 0},        {"timerfd", read_timer, 0},
    {"poll", polled, 0},       {"epoll", epolled, 0},            {"select", selected, 0},
    {"cond", timed_condition, 0}, {"semaphore", timed_semaphore, 0}, {"signal", signalled, 0},
    {"lock", locked, other},   {"worker", serving, worker},      {"pipe", telling, reader},
};

int main(int count, char **words)
{
    pthread_mutexattr_t inherits;
    pthread_condattr_t monotonic;
    pthread_t thread;
    sigset_t set;
    struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec each = {{0, PERIOD}, {0, PERIOD}};
    struct sched_param priority = {count > 2 ? atoi(words[2]) : 0};

    prctl(PR_SET_TIMERSLACK, 1000);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &inherits);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &monotonic);
    sem_init(&semaphore, 0, 0);
    sem_init(&served, 0, 0);
    if (pipe(channel))
        return 1;
    for (size_t kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++) {
        if (count < 2 || strcmp(words[1], KINDS[kind].name))
            continue;
        if (KINDS[kind].helper)
            pthread_create(&thread, 0, KINDS[kind].helper, 0);
        prctl(PR_SET_NAME, "control");
        if (priority.sched_priority && sched_setscheduler(0, SCHED_FIFO, &priority))
            return 1;
        if (!strcmp(words[1], "signal")) {
            sigemptyset(&set);
            sigaddset(&set, SIGALRM);
            pthread_sigmask(SIG_BLOCK, &set, 0);
            timer_create(CLOCK_MONOTONIC, &by_signal, &alarm_timer);
            timer_settime(alarm_timer, 0, &each, 0);
        }
        file = timer_file();
        clock_gettime(CLOCK_MONOTONIC, &due);
        for (;;) {
            next_due();
            KINDS[kind].wait();
            work();
        }
    }
    return 2;
}
