// A sensor wakes a filter, and that an actuator in another process, over the network. Every 50th pass takes the filter
// longer than a period. The actuator writes how many passes ended later than a period after they were due, and
// the longest in nanoseconds, into a file.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 10000000L
#define PASSES 200

static sem_t filled;
static long dues[PASSES];
static int to_actuator;

static long now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * 1000000000L + at.tv_nsec;
}

static void work(long us)
{
    long end = now(CLOCK_THREAD_CPUTIME_ID) + us * 1000;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static void urgent(const char *name, int priority)
{
    struct sched_param of = { .sched_priority = priority };
    prctl(PR_SET_NAME, name);
    sched_setscheduler(0, SCHED_FIFO, &of);
}

static void *filter(void *unused)
{
    urgent("filter", 79);
    for (int pass = 0; pass < PASSES; pass++) {
        sem_wait(&filled);
        work(pass % 50 == 25 ? 12000 : 300);
        send(to_actuator, &dues[pass], sizeof dues[pass], 0);
    }
    return NULL;
}

static int actuator(int from_filter, const char *path)
{
    long due, late = 0, longest = 0;
    urgent("actuator", 78);
    for (int pass = 0; pass < PASSES && recv(from_filter, &due, sizeof due, 0) == sizeof due; pass++) {
        work(100);
        long took = now(CLOCK_MONOTONIC) - due;
        late += took > PERIOD;
        longest = took > longest ? took : longest;
    }
    FILE *noted = fopen(path, "w");
    fprintf(noted, "%ld %ld\n", late, longest);
    return fclose(noted);
}

int main(int count, char **words)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof here;
    int from_filter = socket(AF_INET, SOCK_DGRAM, 0);
    bind(from_filter, (struct sockaddr *)&here, length);
    getsockname(from_filter, (struct sockaddr *)&here, &length);
    to_actuator = socket(AF_INET, SOCK_DGRAM, 0);
    connect(to_actuator, (struct sockaddr *)&here, length);
    sem_init(&filled, 0, 0);
    if (fork() == 0)
        return actuator(from_filter, words[1]);
    pthread_t other;
    pthread_create(&other, NULL, filter, NULL);
    urgent("sensor", 80);
    long due = now(CLOCK_MONOTONIC) + 100000000;
    for (int pass = 0; pass < PASSES; pass++, due += PERIOD) {
        struct timespec at = { due / 1000000000, due % 1000000000 };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        work(200);
        dues[pass] = due;
        sem_post(&filled);
    }
    pthread_join(other, NULL);
    sleep(1);
}
