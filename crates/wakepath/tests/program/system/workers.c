// Three workers that take turns: one waits for the next due time, the others until it comes, as the threads of a pool do.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>

#define WORKERS 3
#define PERIOD 4000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int someone_waits;
static long due;

static long now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * 1000000000L + at.tv_nsec;
}

static void *worker(void *unused)
{
    struct epoll_event event;
    int events = epoll_create1(0);
    prctl(PR_SET_NAME, "worker");
    for (;;) {
        pthread_mutex_lock(&lock);
        while (someone_waits)
            pthread_cond_wait(&idle, &lock);
        someone_waits = 1;
        pthread_mutex_unlock(&lock);
        for (long left; (left = due - now(CLOCK_MONOTONIC)) > 0;)
            epoll_wait(events, &event, 1, (left + 999999) / 1000000);
        pthread_mutex_lock(&lock);
        due += PERIOD;
        someone_waits = 0;
        pthread_cond_signal(&idle);
        pthread_mutex_unlock(&lock);
        long end = now(CLOCK_THREAD_CPUTIME_ID) + 100000;
        while (now(CLOCK_THREAD_CPUTIME_ID) < end)
            ;
    }
}

int main(void)
{
    pthread_t other;
    due = now(CLOCK_MONOTONIC) + PERIOD;
    for (int number = 1; number < WORKERS; number++)
        pthread_create(&other, NULL, worker, NULL);
    worker(NULL);
}
