/* A loop of 4 ms that another process stops, freezes or sends signals to, that catches up after long cycles, or that
   asks a slow device each cycle. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 4000000L
#define LONG 20000000L

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

static int put(const char *directory, const char *file, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    int to = open(path, O_WRONLY);
    int failed = to < 0 || write(to, text, strlen(text)) < 0;
    close(to);
    return failed;
}

/* Answers as a serial adapter with a latency timer of 16 ms does. */
static void device(int line)
{
    struct sched_param parameters = {.sched_priority = 81};
    char question[8];
    prctl(PR_SET_NAME, "device");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_setscheduler(0, SCHED_FIFO, &parameters);
    while (read(line, question, sizeof question) > 0) {
        usleep(16000);
        write(line, question, sizeof question);
    }
    _exit(0);
}

/* A cycle as the loop itself measures it: its begin, and the time in its call of read(). */
struct measured {
    unsigned long begun_ns, read_ns;
};
#define MEASURED 4096

/* In a file that outlives the loop, whose pages are all there before its first cycle. */
static struct measured *measured_in(const char *path)
{
    size_t size = MEASURED * sizeof(struct measured);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, size))
        exit(1);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        exit(1);
    return memset(mapped, 0, size);
}

static void nothing(int signal)
{
}

static void ops(const char *how, const char *group, pid_t loop)
{
    prctl(PR_SET_NAME, "ops");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        usleep(!strcmp(how, "signalled") ? 50500 : 150000);
        if (!strcmp(how, "stopped"))
            kill(loop, SIGSTOP);
        if (!strcmp(how, "frozen"))
            put(group, "cgroup.freeze", "1");
        if (!strcmp(how, "signalled"))
            kill(loop, SIGUSR1);
        else
            usleep(LONG / 1000);
        if (!strcmp(how, "stopped"))
            kill(loop, SIGCONT);
        if (!strcmp(how, "frozen"))
            put(group, "cgroup.freeze", "0");
    }
}

int main(int count, char **words)
{
    if (count < 4)
        return 1;
    const char *how = words[1], *group = words[3];
    struct sched_param parameters = {.sched_priority = 80};
    cpu_set_t set;
    char own[32];
    signal(SIGUSR1, nothing);
    pid_t loop = getpid();
    int lines[2], is_paced = !strcmp(how, "paced");
    if (is_paced && (socketpair(AF_UNIX, SOCK_STREAM, 0, lines) || !fork()))
        device(lines[1]);
    struct measured *measured = is_paced ? measured_in(words[3]) : NULL;
    if (!is_paced && strcmp(how, "late") && !fork())
        ops(how, group, loop);
    snprintf(own, sizeof own, "%d", loop);
    if (!strcmp(how, "frozen") && put(group, "cgroup.procs", own))
        return 1;
    prctl(PR_SET_NAME, "control");
    CPU_ZERO(&set);
    CPU_SET(atoi(words[2]), &set);
    sched_setaffinity(0, sizeof set, &set);
    sched_setscheduler(0, SCHED_FIFO, &parameters);
    long due = ns(CLOCK_MONOTONIC);
    for (long cycle = 1;; cycle++) {
        long now = ns(CLOCK_MONOTONIC);
        due += PERIOD;
        if (is_paced && due < now)
            due = now;
        struct measured *this = is_paced && cycle <= MEASURED ? &measured[cycle - 1] : NULL;
        struct timespec at = {due / 1000000000L, due % 1000000000L};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        compute(!strcmp(how, "late") && cycle % 40 == 0 ? LONG : 100000);
        if (is_paced) {
            write(lines[0], "position", 8);
            long asked = ns(CLOCK_MONOTONIC);
            read(lines[0], own, 8);
            if (this)
                *this = (struct measured){now, ns(CLOCK_MONOTONIC) - asked};
        }
    }
}
