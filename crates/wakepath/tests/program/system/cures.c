/* A loop of 4 ms at FIFO 80 that is late in the way that its second word names. The third word is what the fix that is
 * printed for it says, applied as it says; without a third word nothing is cured. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 4000000L
/* Above 32 MiB: smaller ones glibc keeps once it has given one back. */
#define BLOCK (48L << 20)
#define TOUCHED (24L << 20)
#define BLOCKS 6
#define PAGE 4096
/* The most that is written before a sync, and what a sync has to take to be the loop's largest delay. */
#define MOST (32L << 20)
#define SLOW 8000000L

static const char *how, *fix;
static int cpu, descriptors[2], file;
static volatile int cycles_to_sync;
static pthread_mutex_t lock;
static char *fresh;

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

static void rest(long for_ns)
{
    struct timespec time = {0, for_ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
}

static void pin(const char *name)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    prctl(PR_SET_NAME, name);
    sched_setaffinity(0, sizeof set, &set);
}

static void settle(const char *name, int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    pin(name);
    sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameters);
}

static void *holder(void *nothing)
{
    settle("holder", 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        compute(1000000);
        pthread_mutex_unlock(&lock);
        rest(1500000);
    }
    return nothing;
}

static void *spoiler(void *nothing)
{
    settle("spoiler", 50);
    for (;;) {
        rest(50000000);
        compute(20000000);
    }
    return nothing;
}

static void *hog(void *nothing)
{
    settle("hog", 90);
    for (;;) {
        rest(50000000);
        compute(20000000);
    }
    return nothing;
}

/* Ordinary, as a loop is that sets no policy. */
static void *neighbour(void *nothing)
{
    settle("neighbour", 0);
    for (;;)
        compute(1000000);
    return nothing;
}

static void *reader(void *nothing)
{
    static char bytes[65536];
    prctl(PR_SET_NAME, "reader");
    for (;;) {
        rest(60000000);
        read(descriptors[0], bytes, sizeof bytes);
    }
    return nothing;
}

/* What the file gets before each sync, in bytes. */
static long written;

static void write_file(void)
{
    static char text[MOST];
    for (long at = 0; at < written;) {
        long more = pwrite(file, text + at, written - at, at);
        if (more <= 0)
            exit(1);
        at += more;
    }
}

static void open_file(void)
{
    file = open("synced", O_CREAT | O_RDWR, 0600);
}

/* The other thread that writes and syncs the file for the loop. */
static void sync_file(void)
{
    write_file();
    fsync(file);
}

/* As much as makes a sync slow, of the fastest of three; on standard output with that time. */
static int cost_of_sync(void)
{
    long fastest = 0;
    open_file();
    for (written = 65536; written <= MOST; written *= 2) {
        fastest = 1L << 40;
        for (int i = 0; i < 3; i++) {
            write_file();
            long since = ns(CLOCK_MONOTONIC);
            fsync(file);
            long took = ns(CLOCK_MONOTONIC) - since;
            fastest = took < fastest ? took : fastest;
        }
        if (fastest >= SLOW)
            break;
    }
    printf("%ld %ld\n", written, fastest);
    return fastest < SLOW;
}

static void *writer(void *nothing)
{
    prctl(PR_SET_NAME, "writer");
    for (;;) {
        rest(1000000);
        if (cycles_to_sync) {
            cycles_to_sync = 0;
            sync_file();
        }
    }
    return nothing;
}

static void use(volatile char *block, long bytes)
{
    for (long at = 0; at < bytes; at += PAGE)
        block[at] = 1;
}

static void disturb(long cycle)
{
    static char text[16384];
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    if (how[0] == 'p') /* pipe */
        write(descriptors[1], text, 8192);
    if (cycle % 40)
        return;
    if (how[0] == 'a') { /* allocation */
        char *block = malloc(BLOCK);
        use(block, BLOCK);
        free(block);
    }
    if (how[0] == 't') { /* touch */
        if (cycle / 40 < BLOCKS)
            use(fresh + cycle / 40 * TOUCHED, TOUCHED);
    }
    if (how[0] == 's') { /* sync */
        if (fix)
            cycles_to_sync = 1;
        else
            sync_file();
    }
}

static void start(void *(*body)(void *))
{
    pthread_t thread;
    pthread_create(&thread, 0, body, 0);
}

int main(int count, char **words)
{
    if (count < 3)
        return 1;
    cpu = atoi(words[1]);
    how = words[2];
    fix = count > 3 ? words[3] : 0;
    if (!strcmp(how, "cost-of-sync"))
        return cost_of_sync();
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if (how[0] == 'i' && fix)
        pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &kind);
    if (how[0] == 'a') {
        mlockall(MCL_CURRENT | MCL_FUTURE);
        if (fix) {
            mallopt(M_MMAP_MAX, 0);
            mallopt(M_TRIM_THRESHOLD, -1);
        }
        char *block = malloc(BLOCK);
        use(block, BLOCK);
        free(block);
    }
    if (how[0] == 't') {
        fresh = mmap(0, BLOCKS * TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(fresh, BLOCKS * TOUCHED, MADV_NOHUGEPAGE);
        if (fix)
            mlockall(MCL_CURRENT | MCL_FUTURE);
    }
    if (how[0] == 'i') {
        start(holder);
        start(spoiler);
    }
    if (how[0] == 'h')
        start(hog);
    if (how[0] == 'o')
        start(neighbour);
    if (how[0] == 'p') {
        pipe2(descriptors, fix ? O_NONBLOCK : 0);
        start(reader);
    }
    if (how[0] == 's') {
        written = atol(how + strlen("sync"));
        open_file();
        start(writer);
    }
    if (how[0] == 'o')
        pin("control");
    else
        settle("control", how[0] == 'h' && fix ? atoi(fix) : 80);
    long due = ns(CLOCK_MONOTONIC) + 20000000;
    for (long cycle = 0;; cycle++) {
        /* Due times that have passed are skipped: a stall of the machine makes one cycle late. */
        due += PERIOD;
        if (due < ns(CLOCK_MONOTONIC))
            due += (ns(CLOCK_MONOTONIC) - due) / PERIOD * PERIOD;
        struct timespec at = {due / 1000000000L, due % 1000000000L};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        compute(100000);
        disturb(cycle);
    }
}
