/* A loop of 4 ms at FIFO 80 that is late because of something outside its own code, in the way that its argument names:
 * another thread of its process, another process, the kernel's budgets, its clock, its sender. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 4000000L
#define MS 1000000L
#define PAGE 4096

static const char *how;
static int cpu, other_cpu;

static int is(const char *way)
{
    return !strcmp(how, way);
}

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

static void until(clockid_t clock, long at_ns)
{
    struct timespec at = {at_ns / 1000000000L, at_ns % 1000000000L};
    clock_nanosleep(clock, TIMER_ABSTIME, &at, 0);
}

static void put_on(pid_t thread, int to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(to, &set);
    sched_setaffinity(thread, sizeof set, &set);
}

static void settle(const char *name, int on, int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    prctl(PR_SET_NAME, name);
    put_on(0, on);
    sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameters);
}

static void start(void *(*body)(void *))
{
    pthread_t thread;
    pthread_create(&thread, 0, body, 0);
}

/* Whether this is a new process, which ends with this one. */
static int apart(void)
{
    if (fork())
        return 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return 1;
}

/* Maps and unmaps much memory, with the lock of the whole address space. At a priority, so that an ordinary load doesn't
 * keep it from its CPU while it holds that lock. */
static void *loader(void *nothing)
{
    size_t size = 256L << 20;
    settle("loader", other_cpu, 20);
    for (;;) {
        munmap(mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), size);
        usleep(150000);
    }
    return nothing;
}

static void map_a_little(void)
{
    size_t size = 16 * PAGE;
    char *mapped = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, size);
    munmap(mapped, size);
}

/* Moves the loop to the other CPU and back, where something more urgent works. */
static void manage(pid_t loop)
{
    settle("placer", other_cpu, 95);
    for (;;) {
        usleep(400000);
        put_on(loop, other_cpu);
        usleep(60000);
        put_on(loop, cpu);
    }
}

static void transmit(void)
{
    settle("modem", other_cpu, 90);
    for (;;) {
        usleep(8000);
        compute(12 * MS);
    }
}

/* In user mode alone, as long as it runs. */
static void *poller(void *nothing)
{
    settle("poller", cpu, 40);
    for (volatile long count = 0;; count++)
        ;
    return nothing;
}

static void *starved(void *nothing)
{
    settle("starved", cpu, 0);
    for (volatile long count = 0;; count++)
        ;
    return nothing;
}

static sem_t posted;

/* Wakes the loop from another CPU. */
static void *poster(void *nothing)
{
    settle("poster", other_cpu, 85);
    for (long due = ns(CLOCK_MONOTONIC);;) {
        until(CLOCK_MONOTONIC, due += PERIOD);
        sem_post(&posted);
    }
    return nothing;
}

static struct sockaddr_in address = {.sin_family = AF_INET};

/* Sends a packet each 4 ms, and is 40 ms late with each hundredth. */
static void send_packets(void)
{
    int from = socket(AF_INET, SOCK_DGRAM, 0);
    settle("sender", other_cpu, 90);
    long due = ns(CLOCK_MONOTONIC);
    for (long number = 1;; number++) {
        until(CLOCK_MONOTONIC, due += number % 100 ? PERIOD : 10 * PERIOD);
        sendto(from, &number, sizeof number, 0, (void *)&address, sizeof address);
    }
}

static void receive(void)
{
    socklen_t size = sizeof address;
    long number;
    int to = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(to, (void *)&address, sizeof address) || getsockname(to, (void *)&address, &size))
        exit(1);
    if (apart())
        send_packets();
    settle("control", cpu, 80);
    for (;;) {
        recv(to, &number, sizeof number, 0);
        compute(MS / 5);
    }
}

/* Each fortieth cycle computes for long, and touches one new page. */
static void compute_long(long cycle)
{
    static char *fresh;
    static long page;
    if (!fresh) {
        size_t size = 4096L * PAGE;
        fresh = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        madvise(fresh, size, MADV_NOHUGEPAGE);
    }
    if (cycle % 40 == 0) {
        fresh[PAGE * (page++ % 4096)] = 1;
        compute(25 * MS);
    }
}

int main(int count, char **words)
{
    if (count < 4)
        return 1;
    how = words[1];
    cpu = atoi(words[2]);
    other_cpu = atoi(words[3]);
    pid_t loop = getpid();
    prctl(PR_SET_NAME, "control");
    if (is("packets"))
        receive();
    if (is("moved")) {
        if (apart())
            manage(loop);
        if (apart())
            transmit();
    }
    if (is("memory-lock"))
        start(loader);
    if (is("starving"))
        start(starved);
    if (is("starving") || is("user-mode"))
        start(poller);
    if (is("user-mode"))
        start(poster);
    settle("control", cpu, 80);
    clockid_t clock = is("clock") ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    long due = ns(clock);
    for (long cycle = 1;; cycle++) {
        due += PERIOD;
        /* To the kernel this looks as if the clock had been set back. */
        if (is("clock") && cycle % 150 == 0)
            due += 200 * MS;
        if (due < ns(clock))
            due += (ns(clock) - due) / PERIOD * PERIOD;
        if (is("user-mode"))
            sem_wait(&posted);
        else
            until(clock, due);
        compute(is("budget") ? 3 * PERIOD / 10 : MS / 10);
        if (is("memory-lock"))
            map_a_little();
        if (is("computing"))
            compute_long(cycle);
    }
}
