/* injected CPU OTHER-CPU CYCLES SEED FIFO-PRIORITY CATCH-UP FEED TRUTH KIND KIND: a loop of 4 ms with two causes, and its
 * own account of which delayed it when: a line `KIND FROM TO` for each in the file TRUTH, ns on CLOCK_MONOTONIC. FEED:
 * `timer`, or the loop's place in a chain of threads: `middle` or `end`. */
#include "injected.h"
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define MOST_TRUTHS 65536
/* A clock that jumps by more while a thread reads it in a row shows that it had no CPU. */
#define GAP 200000L

int loop_cpu, other_cpu, loop_priority;

struct account {
    atomic_long count;
    struct {
        char kind[16];
        long from, to;
    } rows[MOST_TRUTHS];
};

static struct account *account;
static uint64_t state;

void must(long result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "injected: %s: %s\n", what, strerror(errno));
    exit(3);
}

long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000 * MS + at.tv_nsec;
}

void rest_until(long at)
{
    struct timespec until = {at / (1000 * MS), at % (1000 * MS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == EINTR)
        ;
}

void rest(long ns)
{
    struct timespec time = {ns / (1000 * MS), ns % (1000 * MS)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
}

void compute(long ns)
{
    compute_with_gaps(0, ns);
}

void run_until(long at)
{
    while (now() < at)
        ;
}

/* What another thread takes from it is not its own. */
void run_dated(const char *kind, long until)
{
    long since = now(), before = since;
    while (before < until) {
        long at = now();
        if (at - before >= GAP) {
            truth(kind, since, before);
            since = at;
        }
        before = at;
    }
    truth(kind, since, before);
}

void compute_with_gaps(const char *kind, long ns)
{
    long before = now();
    while (ns > 0) {
        long at = now();
        if (at - before < GAP)
            ns -= at - before;
        else if (kind)
            truth(kind, before, at);
        before = at;
    }
}

void truth(const char *kind, long from, long to)
{
    long row = atomic_fetch_add(&account->count, 1);
    if (row >= MOST_TRUTHS)
        return;
    strncpy(account->rows[row].kind, kind, sizeof account->rows[row].kind - 1);
    account->rows[row].from = from;
    account->rows[row].to = to;
}

void settle(const char *name, int cpu, int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    prctl(PR_SET_NAME, name);
    must(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
    must(sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameters), "sched_setscheduler");
    /* Before ordinary threads of other programs. */
    if (!priority)
        must(setpriority(PRIO_PROCESS, 0, -15), "setpriority");
}

void thread(void *(*body)(void *))
{
    pthread_t made;
    errno = pthread_create(&made, 0, body, 0);
    must(-errno, "pthread_create");
}

pid_t child(void (*body)(void))
{
    pid_t made = fork();
    must(made, "fork");
    if (made == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body();
        _exit(0);
    }
    return made;
}

struct request *shared_request(void)
{
    void *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(memory == MAP_FAILED ? -1 : 0, "mmap");
    return memory;
}

void ask(struct request *request, long due, long ns)
{
    request->due = due;
    request->ns = ns;
    request->state = 0;
    request->wanted = 1;
    syscall(SYS_futex, &request->wanted, FUTEX_WAKE, 1, 0, 0, 0);
}

void wait_for(struct request *request)
{
    while (!atomic_exchange(&request->wanted, 0))
        syscall(SYS_futex, &request->wanted, FUTEX_WAIT, 0, 0, 0, 0);
}

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static const struct kind *kind_of(const char *name)
{
    const struct kind *tables[] = {KINDS_WORK, KINDS_WAITS, KINDS_OUTSIDE};
    for (int table = 0; table < 3; table++)
        for (const struct kind *kind = tables[table]; kind->name; kind++)
            if (!strcmp(kind->name, name))
                return kind;
    fprintf(stderr, "injected: no kind %s\n", name);
    exit(3);
}

static void write_truth(const char *path)
{
    FILE *file = fopen(path, "w");
    must(file ? 0 : -1, path);
    for (long row = 0; row < account->count && row < MOST_TRUTHS; row++)
        fprintf(file, "%s %ld %ld\n", account->rows[row].kind, account->rows[row].from, account->rows[row].to);
    must(fclose(file), path);
}

int main(int count, char **words)
{
    if (count != 11)
        return 2;
    loop_cpu = atoi(words[1]);
    other_cpu = atoi(words[2]);
    long cycles = atol(words[3]);
    state = 88172645463325252ULL ^ (strtoull(words[4], 0, 10) * 2654435761ULL);
    loop_priority = atoi(words[5]);
    int catch_up = atoi(words[6]);
    const struct kind *kinds[] = {kind_of(words[9]), kind_of(words[10])};
    account = mmap(0, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    must(account == MAP_FAILED ? -1 : 0, "mmap");
    for (int each = 0; each < 1 + (kinds[0] != kinds[1]); each++)
        if (kinds[each]->prepare)
            kinds[each]->prepare();
    const int has_timer = !strcmp(words[7], "timer");
    if (!has_timer)
        make_chain(!strcmp(words[7], "end"));
    settle("control", loop_cpu, loop_priority);
    rest(50 * MS);
    long due = now() + PERIOD;
    for (long cycle = 0, quiet = 200; cycle < cycles; cycle++) {
        if (has_timer)
            rest_until(due);
        else
            await_turn();
        compute(100000);
        due += PERIOD;
        if (--quiet < 0) {
            quiet = 8 + draw() % 14;
            const struct kind *kind = kinds[draw() % 2];
            if (kind->within)
                kind->within(5 * MS + draw() % (8 * MS));
            else
                kind->outside(has_timer ? due : next_due(now() + MS), 2 * MS + draw() % (8 * MS));
        }
        if (!has_timer)
            pass_on();
        while (!catch_up && due < now())
            due += PERIOD;
    }
    rest(100 * MS);
    write_truth(words[8]);
    return 0;
}
