/* Causes that others bring on the loop around its due times: more urgent threads, signals, groups, timers. */
#include "injected.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#define GROUP "wakepath-injected"
/* Callbacks of so many timers are a matter of ms while they are recorded. */
#define TIMERS 4000
#define PART 1000000L

static struct request hogging, sharing, arming, moving, radio_on;
static struct request *stopping, *freezing;
static pid_t loop_process;

static void write_to(const char *path, const char *value)
{
    int file = open(path, O_WRONLY);
    must(file < 0 ? -1 : write(file, value, strlen(value)), path);
    close(file);
}

static void in_group(const char *controller)
{
    char path[128], number[16];
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/" GROUP, controller);
    mkdir(path, 0700);
    strcat(path, "/tasks");
    snprintf(number, sizeof number, "%d", getpid());
    write_to(path, number);
}

/* More urgent than the loop, or as urgent. */
static void *hog(void *nothing)
{
    settle("hog", loop_cpu, 90);
    for (;;) {
        wait_for(&hogging);
        rest_until(hogging.due);
        run_until(next_due(now()));
        run_dated("hog", now() + hogging.ns);
    }
    return nothing;
}

static void *equal(void *nothing)
{
    settle("equal", loop_cpu, loop_priority);
    for (;;) {
        wait_for(&sharing);
        rest_until(sharing.due);
        run_until(next_due(now()));
        run_dated("equal", now() + sharing.ns);
    }
    return nothing;
}

static void make_hog(void) { thread(hog); }
static void make_equal(void) { thread(equal); }
static void hog_it(long due, long ns) { ask(&hogging, due - MS + ns % (2 * MS), ns); }
static void equal_it(long due, long ns) { ask(&sharing, due - MS / 2, ns); }

/* Signals and the freezer, from another process. */
static void stopper(void)
{
    settle("stopper", other_cpu, URGENT);
    for (;;) {
        wait_for(stopping);
        rest_until(stopping->due - MS / 4);
        long from = now();
        kill(loop_process, SIGSTOP);
        rest(stopping->ns);
        truth("stop", from, now());
        kill(loop_process, SIGCONT);
    }
}

static void freezer(void)
{
    const char *file = "/sys/fs/cgroup/freezer/" GROUP "/freezer.state";
    settle("freezer", other_cpu, URGENT);
    for (;;) {
        wait_for(freezing);
        rest_until(freezing->due - MS / 4);
        long from = now();
        write_to(file, "FROZEN");
        rest(freezing->ns);
        truth("freeze", from, now());
        write_to(file, "THAWED");
    }
}

static void make_stopper(void) { loop_process = getpid(); stopping = shared_request(); child(stopper); }
static void make_freezer(void) { freezing = shared_request(); child(freezer); in_group("freezer"); }
static void stop_it(long due, long ns) { ask(stopping, due, ns); }
static void freeze_it(long due, long ns) { ask(freezing, due, ns); }

/* Many timers for one instant on the loop's CPU. */
static void *armer(void *nothing)
{
    static int timers[TIMERS];
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &most), "setrlimit");
    settle("armer", loop_cpu, 60);
    for (int each = 0; each < TIMERS; each++)
        must(timers[each] = timerfd_create(CLOCK_MONOTONIC, 0), "timerfd_create");
    for (;;) {
        wait_for(&arming);
        struct itimerspec at = {.it_value = {arming.due / (1000 * MS), arming.due % (1000 * MS)}};
        for (int each = 0; each < arming.ns; each++)
            timerfd_settime(timers[each], TFD_TIMER_ABSTIME, &at, 0);
        rest_until(arming.due + MS);
    }
    return nothing;
}

static void make_armer(void) { thread(armer); }
static void arm(long due, long ns)
{
    /* A turn later than all others: the arming takes its time. */
    ask(&arming, due + 5 * PERIOD - 5000, TIMERS / 4 + ns % (TIMERS * 3 / 4));
    truth("timers", due + 5 * PERIOD - 5000, due + 5 * PERIOD + PERIOD);
}

/* Moved to the other CPU, where something more urgent runs. */
static void *radio(void *nothing)
{
    settle("radio", other_cpu, 90);
    for (;;) {
        wait_for(&radio_on);
        rest_until(radio_on.due - MS / 4);
        long from = now();
        run_until(from + radio_on.ns);
        truth("moved", from, now());
    }
    return nothing;
}

static void put_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    must(sched_setaffinity(loop_process, sizeof set, &set), "sched_setaffinity");
}

static void *mover(void *nothing)
{
    settle("mover", loop_cpu, 60);
    for (;;) {
        wait_for(&moving);
        ask(&radio_on, moving.due, moving.ns);
        rest_until(moving.due - MS);
        put_on(other_cpu);
        rest_until(moving.due + moving.ns);
        put_on(loop_cpu);
    }
    return nothing;
}

static void make_mover(void) { loop_process = getpid(); thread(radio); thread(mover); }
static void move(long due, long ns) { ask(&moving, due, ns); }

/* The fair server: ordinary threads get their part although a real-time thread would use it. Another ordinary thread
   may have some of it in between; the next part is a second later. */
#define BETWEEN_PARTS (20 * MS)

static void *starver(void *nothing)
{
    settle("starver", loop_cpu, 40);
    for (;;)
        compute(PART);
    return nothing;
}

static void *starving(void *nothing)
{
    settle("starving", loop_cpu, 0);
    long before = now(), since = before;
    for (;;) {
        long at = now();
        if (at - before >= BETWEEN_PARTS) {
            if (before - since >= 2 * PART)
                truth("fair", since, before);
            since = at;
        }
        before = at;
    }
    return nothing;
}

static void make_fair(void) { thread(starver); thread(starving); }
static void nothing_more(long due, long ns) { (void)due, (void)ns; }

/* Neighbours of an ordinary loop, and its group's quota. */
static void *neighbour(void *nothing)
{
    settle("neighbour", loop_cpu, 0);
    for (;;) {
        wait_for(&sharing);
        rest_until(sharing.due - PERIOD);
        run_until(now() + sharing.ns);
    }
    return nothing;
}

static void make_neighbour(void) { thread(neighbour); }
static void neighbours(long ns)
{
    ask(&sharing, 0, 2 * ns);
    compute_with_gaps("neighbours", ns);
}

static void make_quota(void)
{
    in_group("cpu");
    write_to("/sys/fs/cgroup/cpu/" GROUP "/cpu.cfs_period_us", "50000");
    write_to("/sys/fs/cgroup/cpu/" GROUP "/cpu.cfs_quota_us", "10000");
    write_to("/sys/fs/cgroup/cpu/" GROUP "/cpu.shares", "100000");
}

/* The loop's group gets its time for the next period only after this much; others have the CPU for less. */
#define THROTTLED (8 * MS)

static void quota(long ns)
{
    long before = now(), left = 10 * MS + ns % (4 * MS);
    while (left > 0) {
        long at = now();
        if (at - before >= THROTTLED)
            truth("quota", before, at);
        else
            left -= at - before;
        before = at;
    }
}

const struct kind KINDS_OUTSIDE[] = {
    {"hog", make_hog, 0, hog_it},
    {"equal", make_equal, 0, equal_it},
    {"stop", make_stopper, 0, stop_it},
    {"freeze", make_freezer, 0, freeze_it},
    {"timers", make_armer, 0, arm},
    {"moved", make_mover, 0, move},
    {"fair", make_fair, 0, nothing_more},
    {"neighbours", make_neighbour, neighbours, 0},
    {"quota", make_quota, quota, 0},
    {0, 0, 0, 0},
};
