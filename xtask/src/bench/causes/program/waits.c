/* Causes in what the loop waits for within its work: locks, and others' answers. */
#include "injected.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <pty.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request holding, spoiling, draining, deep, worked;
static struct request *locking, *answering;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_done = PTHREAD_COND_INITIALIZER;
static int pipes[2], inner[2], sockets[2], terminal, lock_file;
static char text[1 << 16];

/* A thread that takes the lock when it is asked, and keeps it while it runs, sleeps or waits for another thread. */
enum hold { RUN, SLEEP, ASK_DEEP };
static enum hold hold;

static void *holder(void *nothing)
{
    char byte;
    settle("holder", other_cpu, URGENT);
    for (;;) {
        wait_for(&holding);
        pthread_mutex_lock(&lock);
        holding.state = 1;
        if (hold == RUN)
            run_until(now() + holding.ns);
        else if (hold == SLEEP)
            rest(holding.ns);
        else {
            ask(&deep, 0, holding.ns);
            read(inner[0], &byte, 1);
        }
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static void *deep_worker(void *nothing)
{
    settle("deep", other_cpu, URGENT);
    for (;;) {
        wait_for(&deep);
        run_until(now() + deep.ns);
        write(inner[1], "", 1);
    }
    return nothing;
}

static void make_holder(void) { static int made; if (!made++) thread(holder); }
static void make_deep(void) { make_holder(); must(pipe(inner), "pipe"); thread(deep_worker); }

static void locked(const char *kind, enum hold how, long ns)
{
    hold = how;
    ask(&holding, 0, ns);
    long until = now() + 20 * MS;
    while (!holding.state && now() < until)
        ;
    TIMED(kind, pthread_mutex_lock(&lock));
    pthread_mutex_unlock(&lock);
}

static void lock_held(long ns) { locked("lock", RUN, ns); }
static void lock_sleeper(long ns) { locked("sleeper", SLEEP, ns); }
static void lock_nested(long ns) { locked("nested", ASK_DEEP, ns); }

/* An ordinary thread that holds the lock on the loop's CPU, and one in between that takes the CPU from it. */
static pthread_mutex_t low_lock = PTHREAD_MUTEX_INITIALIZER;
static struct request low, letting_go;

static void *low_holder(void *nothing)
{
    settle("low", loop_cpu, 0);
    for (;;) {
        wait_for(&low);
        pthread_mutex_lock(&low_lock);
        low.state = 1;
        wait_for(&letting_go);
        compute(300000);
        pthread_mutex_unlock(&low_lock);
    }
    return nothing;
}

static void *middle(void *nothing)
{
    settle("middle", loop_cpu, 50);
    for (;;) {
        wait_for(&spoiling);
        run_until(now() + spoiling.ns);
    }
    return nothing;
}

static void make_low(void)
{
    thread(low_holder);
    thread(middle);
    ask(&low, 0, 0);
}

static void inversion(long ns)
{
    if (!low.state)
        return;
    ask(&spoiling, 0, ns);
    ask(&letting_go, 0, 0);
    TIMED("inversion", pthread_mutex_lock(&low_lock));
    pthread_mutex_unlock(&low_lock);
    ask(&low, 0, 0);
}

static void *reader(void *nothing)
{
    static char bytes[1 << 16];
    settle("reader", other_cpu, URGENT);
    for (;;) {
        wait_for(&draining);
        rest(draining.ns);
        read(pipes[0], bytes, sizeof bytes);
    }
    return nothing;
}

static void make_pipe(void)
{
    must(pipe(pipes), "pipe");
    must(write(pipes[1], text, 1 << 16), "pipe");
    thread(reader);
}

static void full_pipe(long ns)
{
    ask(&draining, 0, ns);
    TIMED("pipe", write(pipes[1], text, 1 << 16));
}

static void peer(void)
{
    char byte;
    settle("peer", other_cpu, URGENT);
    for (;;) {
        must(recv(sockets[1], &byte, 1, 0), "recv");
        rest(answering->ns);
        send(sockets[1], "", 1, 0);
    }
}

static void make_peer(void)
{
    struct sockaddr_in at[2];
    if (!answering)
        answering = shared_request();
    for (int side = 0; side < 2; side++) {
        socklen_t size = sizeof *at;
        at[side] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        sockets[side] = socket(AF_INET, SOCK_DGRAM, 0);
        must(bind(sockets[side], (void *)&at[side], size), "bind");
        getsockname(sockets[side], (void *)&at[side], &size);
    }
    for (int side = 0; side < 2; side++)
        must(connect(sockets[side], (void *)&at[!side], sizeof *at), "connect");
    child(peer);
}

static void late_peer(long ns)
{
    char byte;
    answering->ns = ns;
    TIMED("peer", send(sockets[0], "", 1, 0); recv(sockets[0], &byte, 1, 0));
}

static int master;
static void adapter(void)
{
    char byte;
    settle("adapter", other_cpu, URGENT);
    while (read(master, &byte, 1) == 1) {
        rest(answering->ns);
        write(master, "a", 1);
    }
}

static void make_serial(void)
{
    struct termios raw = {0};
    cfmakeraw(&raw);
    if (!answering)
        answering = shared_request();
    must(openpty(&master, &terminal, 0, &raw, 0), "openpty");
    child(adapter);
}

static void serial(long ns)
{
    char byte;
    answering->ns = ns;
    TIMED("serial", write(terminal, "q", 1); read(terminal, &byte, 1));
}

static void wait_for_child(long ns)
{
    long from = now();
    pid_t made = fork();
    if (made == 0) {
        settle("child", other_cpu, URGENT);
        run_until(now() + ns);
        _exit(0);
    }
    waitpid(made, 0, 0);
    truth("child", from, now());
}

static void locker(void)
{
    int own = open("locked", O_CREAT | O_RDWR, 0600);
    settle("locker", other_cpu, URGENT);
    for (;;) {
        wait_for(locking);
        flock(own, LOCK_EX);
        locking->state = 1;
        run_until(now() + locking->ns);
        flock(own, LOCK_UN);
    }
}

static void make_locker(void)
{
    locking = shared_request();
    lock_file = open("locked", O_CREAT | O_RDWR, 0600);
    must(lock_file, "locked");
    child(locker);
}

static void file_lock(long ns)
{
    ask(locking, 0, ns);
    while (!locking->state)
        ;
    TIMED("flock", flock(lock_file, LOCK_EX));
    flock(lock_file, LOCK_UN);
}

static void *worker(void *nothing)
{
    settle("worker", other_cpu, URGENT);
    for (;;) {
        wait_for(&worked);
        run_until(now() + worked.ns);
        pthread_mutex_lock(&work_lock);
        worked.state = 1;
        pthread_cond_signal(&work_done);
        pthread_mutex_unlock(&work_lock);
    }
    return nothing;
}

static void make_worker(void) { thread(worker); }

static void condition(long ns)
{
    long from = now();
    ask(&worked, 0, ns);
    pthread_mutex_lock(&work_lock);
    while (!worked.state)
        pthread_cond_wait(&work_done, &work_lock);
    pthread_mutex_unlock(&work_lock);
    truth("worker", from, now());
}

const struct kind KINDS_WAITS[] = {
    {"lock", make_holder, lock_held, 0},
    {"sleeper", make_holder, lock_sleeper, 0},
    {"nested", make_deep, lock_nested, 0},
    {"inversion", make_low, inversion, 0},
    {"pipe", make_pipe, full_pipe, 0},
    {"peer", make_peer, late_peer, 0},
    {"serial", make_serial, serial, 0},
    {"child", 0, wait_for_child, 0},
    {"flock", make_locker, file_lock, 0},
    {"worker", make_worker, condition, 0},
    {0, 0, 0, 0},
};
