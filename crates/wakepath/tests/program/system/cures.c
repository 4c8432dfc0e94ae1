/* A loop of 4 ms at FIFO 80, late in each way that a word names, each in cycles of its own. A word that ends in + has
 * the fix that is printed for that way, as it is printed. Some ways are threads of their own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 4000000L
#define MS 1000000L
/* From one way's cycle to the next one's, in cycles. */
#define STEP 4
/* Above 32 MiB: smaller ones glibc keeps once it has given one back. */
#define BLOCK (48L << 20)
#define TOUCHED (24L << 20)
#define BLOCKS 6
#define PAGE 4096
/* The most that is written before a sync, and what a sync should take to be one of the loop's largest delays; half of
 * it is enough. */
#define MOST (64L << 20)
#define SLOW (24 * MS)

static char **ways;
static int cpu, piped[2], sockets[2], asked[2], polled[2], stream[2], terminal[2], file;
static volatile int to_sync;
/* What the file gets before each sync, in bytes. */
static long written;
static pthread_mutex_t lock;
static char *fresh, text[512 << 10];

/* Of the way that is so called: 0 none, 1 as it is, 2 with its fix. */
static int way(const char *name)
{
    for (char **word = ways; *word; word++)
        if (!strncmp(*word, name, strlen(name)))
            return (*word)[strlen(*word) - 1] == '+' ? 2 : 1;
    return 0;
}

static int fixed(const char *name)
{
    return way(name) == 2;
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

static void rest(long for_ns)
{
    struct timespec time = {for_ns / 1000000000L, for_ns % 1000000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
}

static int until(long at_ns)
{
    struct timespec at = {at_ns / 1000000000L, at_ns % 1000000000L};
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
}

static void pin(const char *name, int to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(to, &set);
    prctl(PR_SET_NAME, name);
    sched_setaffinity(0, sizeof set, &set);
}

static void settle(const char *name, int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    pin(name, cpu);
    sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameters);
}

/* On any CPU, and ordinary programs don't keep it off. */
static void urgent(const char *name)
{
    struct sched_param parameters = {.sched_priority = 30};
    prctl(PR_SET_NAME, name);
    sched_setscheduler(0, SCHED_FIFO, &parameters);
}

static void start(void *(*body)(void *), void *with)
{
    pthread_t thread;
    pthread_create(&thread, 0, body, with);
}

/* A process of its own. */
static void apart(void *(*body)(void *))
{
    if (fork())
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body(0);
    _exit(0);
}

static void disturb_every(long rest_ms, long work_ms)
{
    for (;;) {
        rest(rest_ms * MS);
        compute(work_ms * MS);
    }
}

static void *holder(void *nothing)
{
    settle("holder", 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        compute(MS);
        pthread_mutex_unlock(&lock);
        rest(MS + MS / 2);
    }
    return nothing;
}

/* Other locks, held for long on another CPU: by a thread that works, and by one that sleeps. */
static pthread_mutex_t long_held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slept_with = PTHREAD_MUTEX_INITIALIZER;

/* Holds a lock for 15 ms now and then, from another CPU; with the way's fix it works or sleeps before it takes the lock. */
static void hold(const char *name, const char *way, pthread_mutex_t *held, long every, void (*pass)(long))
{
    settle(name, 85);
    pin(name, cpu ? cpu - 1 : cpu + 1);
    for (;;) {
        rest(every);
        if (fixed(way))
            pass(15 * MS);
        pthread_mutex_lock(held);
        if (!fixed(way))
            pass(15 * MS);
        pthread_mutex_unlock(held);
    }
}

static void *long_holder(void *nothing)
{
    hold("long-holder", "held", &long_held, 150 * MS, compute);
    return nothing;
}

static void *sleeping_holder(void *nothing)
{
    hold("sleeping-holder", "slept", &slept_with, 170 * MS, rest);
    return nothing;
}

/* A lock that the loop asks for once, for 8 ms, and does without if it isn't free by then. */
static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;

static void *timed_holder(void *nothing)
{
    hold("timed-holder", "timed", &timed, 190 * MS, compute);
    return nothing;
}

static void lock_in_time(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 8 * MS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (!pthread_mutex_timedlock(&timed, &end))
        pthread_mutex_unlock(&timed);
}

static void *spoiler(void *nothing)
{
    settle("spoiler", 50);
    disturb_every(50, 20);
    return nothing;
}

static void *hog(void *nothing)
{
    settle("hog", 90);
    disturb_every(170, 12);
    return nothing;
}

/* "give it another CPU" */
static void *roamer(void *nothing)
{
    settle("roamer", 90);
    if (fixed("roamer"))
        pin("roamer", cpu ? cpu - 1 : cpu + 1);
    disturb_every(180, 12);
    return nothing;
}

/* Below the loop, but for its work; "give it another CPU" */
static void *raised(void *nothing)
{
    settle("raised", 20);
    if (fixed("raised"))
        pin("raised", cpu ? cpu - 1 : cpu + 1);
    for (;;) {
        rest(165 * MS);
        sched_setparam(0, &(struct sched_param){.sched_priority = 97});
        compute(12 * MS);
        sched_setparam(0, &(struct sched_param){.sched_priority = 20});
    }
    return nothing;
}

static void *highest(void *nothing)
{
    settle("highest", fixed("highest") ? 70 : 99);
    disturb_every(190, 12);
    return nothing;
}

static void *equal(void *nothing)
{
    settle("equal", fixed("equal") ? 70 : 80);
    disturb_every(210, 12);
    return nothing;
}

/* Has what it inherits. */
static void *sibling(void *nothing)
{
    pin("sibling", cpu);
    disturb_every(230, 12);
    return nothing;
}

/* Ordinary, as a loop is that sets no policy. */
static void *neighbour(void *nothing)
{
    if (way("inherits"))
        pin("neighbour", cpu);
    else
        settle("neighbour", 0);
    for (;;)
        compute(MS);
    return nothing;
}

/* Ordinary, and ready all the time. */
static void *starved(void *nothing)
{
    settle("starved", 0);
    for (;;)
        compute(MS);
    return nothing;
}

/* Uses all of the CPU, or leaves a tenth of it. */
static void *greedy(void *nothing)
{
    settle("greedy", 40);
    for (;;) {
        compute(9 * MS);
        if (fixed("greedy"))
            rest(MS);
    }
    return nothing;
}

/* Holds a lock that the loop spins on, and can't run meanwhile. */
static volatile int spun;

static void *spun_holder(void *nothing)
{
    settle("spun-holder", 0);
    for (;;) {
        if (fixed("spin"))
            pthread_mutex_lock(&lock);
        spun = 1;
        compute(3 * MS);
        spun = 0;
        if (fixed("spin"))
            pthread_mutex_unlock(&lock);
        rest(60 * MS);
    }
    return nothing;
}

/* Takes what there is, now and then. */
static void *reader(void *of)
{
    static __thread char bytes[65536];
    struct pollfd ready = {.fd = *(int *)of, .events = POLLIN};
    urgent("reader");
    for (;;) {
        rest(25 * MS);
        while (poll(&ready, 1, 0) > 0 && read(ready.fd, bytes, sizeof bytes) > 0)
            ;
    }
    return 0;
}

static void *device(void *asked)
{
    char question[8];
    int *socket = asked;
    urgent(socket == polled ? "polled" : "device");
    while (read(socket[1], question, sizeof question) > 0) {
        rest(15 * MS);
        write(socket[1], question, sizeof question);
    }
    return asked;
}

static void write_file(void)
{
    for (long at = 0; at < written;) {
        long rest_of_it = written - at, whole = sizeof text;
        long more = pwrite(file, text, rest_of_it < whole ? rest_of_it : whole, at);
        if (more <= 0)
            exit(1);
        at += more;
    }
}

/* The other thread that writes and syncs the file for the loop. */
static void sync_file(void)
{
    write_file();
    fsync(file);
}

static void *writer(void *nothing)
{
    prctl(PR_SET_NAME, "writer");
    for (;;) {
        rest(MS);
        if (to_sync) {
            to_sync = 0;
            sync_file();
        }
    }
    return nothing;
}

/* As much as makes a sync slow, of the fastest of three; on standard output with that time. */
static int cost_of_sync(void)
{
    long fastest = 0;
    file = open("synced", O_CREAT | O_RDWR, 0600);
    for (written = 65536;; written *= 2) {
        fastest = 1L << 40;
        for (int i = 0; i < 3; i++) {
            write_file();
            long since = ns(CLOCK_MONOTONIC);
            fsync(file);
            long took = ns(CLOCK_MONOTONIC) - since;
            fastest = took < fastest ? took : fastest;
        }
        if (fastest >= SLOW || written == MOST)
            break;
    }
    printf("%ld %ld\n", written, fastest);
    return fastest < SLOW / 2;
}

static void use(volatile char *block, long bytes)
{
    for (long at = 0; at < bytes; at += PAGE)
        block[at] = 1;
}

static void allocate(void)
{
    char *block = malloc(BLOCK);
    use(block, BLOCK);
    free(block);
}

/* On another CPU, changes the memory map of the process again and again. */
static void *mapper(void *nothing)
{
    urgent("mapper");
    pin("mapper", cpu ? cpu - 1 : cpu + 1);
    for (;;) {
        void *block = mmap(0, 4 * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        munmap(block, 4 * BLOCK);
        rest(5 * MS);
    }
    return nothing;
}

static void map(void)
{
    if (!fixed("mapping"))
        munmap(mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
}

/* On another CPU, starts a process with a copy of the memory, and ends the one before it. */
static void *forker(void *nothing)
{
    urgent("forker");
    pin("forker", cpu ? cpu - 1 : cpu + 1);
    for (pid_t before = 0;;) {
        pid_t child = fork();
        if (!child) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
        if (before) {
            kill(before, SIGKILL);
            waitpid(before, 0, 0);
        }
        before = child;
        rest(60 * MS);
    }
    return nothing;
}

static void write_to_all(void)
{
    use(fresh, TOUCHED);
}

/* On another CPU, answers what comes whole. */
static void *answerer(void *nothing)
{
    char question[8];
    urgent("answerer");
    pin("answerer", cpu ? cpu - 1 : cpu + 1);
    while (recv(stream[1], question, sizeof question, MSG_WAITALL) > 0)
        send(stream[1], question, sizeof question, 0);
    return nothing;
}

static void ask_in_parts(void)
{
    char question[8] = {0};
    send(stream[0], question, 4, 0);
    send(stream[0], question, 4, 0);
    recv(stream[0], question, sizeof question, MSG_WAITALL);
}

static void connect_stream(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int at_once = 1, listening = socket(AF_INET, SOCK_STREAM, 0);
    bind(listening, (struct sockaddr *)&address, length);
    listen(listening, 1);
    getsockname(listening, (struct sockaddr *)&address, &length);
    stream[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect(stream[0], (struct sockaddr *)&address, length);
    stream[1] = accept(listening, 0, 0);
    if (fixed("delayed"))
        setsockopt(stream[0], IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
}

/* The first packets of a connection are acknowledged at once. */
static void use_stream(void)
{
    char question[8] = {0};
    for (int times = 0; times < 50; times++) {
        send(stream[0], question, sizeof question, 0);
        recv(stream[0], question, sizeof question, MSG_WAITALL);
    }
}

/* Ordinary, with a slack that its starter left it. */
static void *slack(void *nothing)
{
    settle("slack", 0);
    prctl(PR_SET_TIMERSLACK, fixed("slack") ? 1 : 8 * MS);
    long due = ns(CLOCK_MONOTONIC);
    for (;;) {
        if ((due += 5 * PERIOD) < ns(CLOCK_MONOTONIC))
            due = ns(CLOCK_MONOTONIC);
        until(due);
        compute(MS / 20);
    }
    return nothing;
}

/* Sleeps for a time after its work, or until one. */
static void *relative(void *nothing)
{
    settle("relative", 79);
    for (long due = ns(CLOCK_MONOTONIC);;) {
        if (fixed("relative"))
            until(due += 5 * PERIOD);
        else
            rest(5 * PERIOD);
        compute(MS / 2);
    }
    return nothing;
}

/* A sleep that a signal ends is over, or goes on. */
static pthread_t to_signal;

static void *signalled(void *nothing)
{
    settle("signalled", 79);
    to_signal = pthread_self();
    for (long due = ns(CLOCK_MONOTONIC);;) {
        due += 5 * PERIOD;
        while (until(due) == EINTR && fixed("signalled"))
            ;
        compute(MS / 10);
    }
    return nothing;
}

static void *signaller(void *nothing)
{
    prctl(PR_SET_NAME, "signaller");
    for (;;) {
        rest(53 * MS);
        if (to_signal)
            pthread_kill(to_signal, SIGUSR1);
    }
    return nothing;
}

static void handle(int signal)
{
}

static int requests[2];

static void *requester(void *nothing)
{
    prctl(PR_SET_NAME, "requester");
    for (;;) {
        rest(130 * MS);
        write(requests[1], "request", 8);
    }
    return nothing;
}

static void *service(void *nothing)
{
    char request[8];
    settle("service", 60);
    while (read(requests[0], request, 8) > 0)
        compute(20 * MS);
    return nothing;
}

/* A timer's callback, and without the fix a service too. */
static void *executor(void *nothing)
{
    char request[8];
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {{0, 5 * PERIOD}, {0, 5 * PERIOD}};
    struct pollfd ready[] = {{timer, POLLIN}, {requests[0], POLLIN}};
    settle("executor", 79);
    timerfd_settime(timer, 0, &every, 0);
    for (;;) {
        poll(ready, fixed("executor") ? 1 : 2, -1);
        if (ready[0].revents && read(timer, request, 8) > 0)
            compute(MS / 10);
        if (!fixed("executor") && ready[1].revents && read(requests[0], request, 8) > 0)
            compute(20 * MS);
    }
    return nothing;
}

static void wait_for_answer(void)
{
    char answer[8];
    if (fixed("answer")) {
        recv(asked[0], answer, sizeof answer, MSG_DONTWAIT);
        write(asked[0], "question", 8);
    } else {
        write(asked[0], "question", 8);
        read(asked[0], answer, sizeof answer);
    }
}

static void poll_for_answer(void)
{
    char answer[8];
    struct pollfd one = {.fd = polled[0], .events = POLLIN};
    if (fixed("polled")) {
        if (poll(&one, 1, 0) > 0)
            read(polled[0], answer, sizeof answer);
        write(polled[0], "question", 8);
    } else {
        write(polled[0], "question", 8);
        poll(&one, 1, 500);
        read(polled[0], answer, sizeof answer);
    }
}

static void touch(void)
{
    static int blocks;
    if (blocks < BLOCKS)
        use(fresh + blocks++ * TOUCHED, TOUCHED);
}

static void print_to_pipe(void)
{
    write(piped[1], text, 128 << 10);
}

static void print_to_terminal(void)
{
    write(terminal[1], text, 128 << 10);
}

static void send_much(void)
{
    write(sockets[1], text, sizeof text);
}

static void sync_now(void)
{
    if (fixed("sync"))
        to_sync = 1;
    else
        sync_file();
}

static void allocate_now(void)
{
    allocate();
}

static void start_child(void)
{
    if (fixed("child") || vfork())
        return;
    prctl(PR_SET_NAME, "child");
    rest(12 * MS);
    _exit(0);
}

static const struct {
    const char *name;
    void (*now)(void);
} in_cycle[] = {
    {"pipe", print_to_pipe}, {"terminal", print_to_terminal}, {"socket", send_much}, {"answer", wait_for_answer}, {"polled", poll_for_answer},
    {"sync", sync_now},               {"touch", touch},      {"allocation", allocate_now},
    {"child", start_child},           {"mapping", map},    {"forked", write_to_all},
    {"delayed", ask_in_parts},
};
#define WAYS (int)(sizeof in_cycle / sizeof *in_cycle)

/* Each way of this program has its turn, STEP cycles apart, eight of them or more. */
static void disturb(long cycle)
{
    int chosen[WAYS], count = 0;
    for (int i = 0; i < WAYS; i++)
        if (way(in_cycle[i].name))
            chosen[count++] = i;
    int round = count < 8 ? 8 : count;
    int turn = cycle / STEP % round;
    if (cycle % STEP == 0 && turn < count)
        in_cycle[chosen[turn]].now();
}

static void open_all(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if (fixed("inversion") || fixed("spin"))
        pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &kind);
    pipe2(piped, fixed("pipe") ? O_NONBLOCK : 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    if (fixed("socket"))
        fcntl(sockets[1], F_SETFL, O_NONBLOCK);
    socketpair(AF_UNIX, SOCK_STREAM, 0, asked);
    socketpair(AF_UNIX, SOCK_STREAM, 0, polled);
    pipe(requests);
    if (way("terminal")) {
        terminal[0] = posix_openpt(O_RDWR | O_NOCTTY);
        grantpt(terminal[0]);
        unlockpt(terminal[0]);
        terminal[1] = open(ptsname(terminal[0]), O_WRONLY | O_NOCTTY | (fixed("terminal") ? O_NONBLOCK : 0));
    }
    if (way("sync")) {
        for (char **word = ways; *word; word++)
            if (!strncmp(*word, "sync", 4))
                written = atol(*word + 4);
        file = open("synced", O_CREAT | O_RDWR, 0600);
    }
    if (way("touch")) {
        fresh = mmap(0, BLOCKS * TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(fresh, BLOCKS * TOUCHED, MADV_NOHUGEPAGE);
    }
    if (way("delayed"))
        connect_stream();
    if (way("forked")) {
        fresh = mmap(0, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(fresh, TOUCHED, MADV_NOHUGEPAGE);
        if (fixed("forked"))
            madvise(fresh, TOUCHED, MADV_DONTFORK);
        mlockall(MCL_CURRENT | MCL_FUTURE);
    }
    if (way("allocation") || fixed("touch"))
        mlockall(MCL_CURRENT | MCL_FUTURE);
    if (fixed("allocation")) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
    }
    if (way("allocation"))
        allocate();
}

static void start_all(void)
{
    static const struct {
        const char *name;
        void *(*body)(void *);
        int *with;
    } threads[] = {
        {"inversion", holder},    {"inversion", spoiler},   {"hog", hog},           {"highest", highest},
        {"roamer", roamer},       {"raised", raised},
        {"ordinary", neighbour},  {"spin", spun_holder},  {"pipe", reader, &piped[0]},
        {"terminal", reader, &terminal[0]}, {"socket", reader, &sockets[0]}, {"answer", device, asked}, {"polled", device, polled},
        {"sync", writer},
        {"slack", slack},         {"relative", relative},   {"executor", requester}, {"executor", executor},
        {"held", long_holder}, {"slept", sleeping_holder}, {"signalled", signaller}, {"signalled", signalled},
        {"timed", timed_holder}, {"mapping", mapper}, {"forked", forker}, {"delayed", answerer}, {"greedy", starved}, {"greedy", greedy},
    };
    if (way("equal"))
        apart(equal);
    for (int i = 0; i < (int)(sizeof threads / sizeof *threads); i++)
        if (way(threads[i].name))
            start(threads[i].body, threads[i].with);
    if (fixed("executor"))
        start(service, 0);
}

int main(int count, char **words)
{
    if (count < 3)
        return 1;
    cpu = atoi(words[1]);
    ways = words + 2;
    if (way("cost-of-sync"))
        return cost_of_sync();
    int priority = fixed("hog") ? 95 : 80;
    /* Its name from the beginning, which may take long. */
    prctl(PR_SET_NAME, "control");
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, 0);
    open_all();
    start_all();
    if (way("delayed"))
        use_stream();
    if (way("ordinary") || way("quota"))
        pin("control", cpu);
    else
        settle("control", priority);
    if (way("sibling")) {
        struct sched_param parameters = {.sched_priority = priority};
        if (fixed("sibling"))
            sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters);
        start(sibling, 0);
    }
    /* More than its share, if it has to share its CPU. */
    long work = way("ordinary") ? PERIOD * 6 / 10 : way("quota") ? MS / 4 : MS / 10;
    long due = ns(CLOCK_MONOTONIC) + 5 * PERIOD;
    for (long cycle = 0;; cycle++) {
        /* Due times that have passed are skipped: a stall of the machine makes one cycle late. */
        due += PERIOD;
        if (due < ns(CLOCK_MONOTONIC))
            due += (ns(CLOCK_MONOTONIC) - due) / PERIOD * PERIOD;
        until(due);
        compute(work);
        if (way("inversion") || fixed("spin")) {
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
        }
        if (way("held")) {
            pthread_mutex_lock(&long_held);
            pthread_mutex_unlock(&long_held);
        }
        if (way("slept")) {
            pthread_mutex_lock(&slept_with);
            pthread_mutex_unlock(&slept_with);
        }
        if (way("timed"))
            lock_in_time();
        while (way("spin") == 1 && spun)
            ;
        disturb(cycle);
    }
}
