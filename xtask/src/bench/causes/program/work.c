/* Causes in the loop's own work: what it computes, and what the kernel does for it. */
#include "injected.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>

#define FRESH (256L << 20)
#define MAPPED (64L << 20)

static struct request spinning, loading, cleaning;
static int synced, paged;
static char *fresh, *mapped;
static long next_fresh;
static char text[1 << 20];

/* A lock of the program's own, for which the loop spins. */
static struct request spinning;

static void *spin_holder(void *nothing)
{
    settle("spun", other_cpu, URGENT);
    for (;;) {
        wait_for(&spinning);
        run_until(now() + spinning.ns);
        spinning.state = 1;
    }
    return nothing;
}

static void make_spin(void) { thread(spin_holder); }

static void spin(long ns)
{
    ask(&spinning, 0, ns);
    TIMED("spin", while (!spinning.state));
}

/* Its pages are there before: faults on them would be another cause. */
static void touch_text(void) { memset(text, 1, sizeof text); }

static void code(long ns) { TIMED("code", compute(ns)); }

static void call(long ns)
{
    long from = now(), until = from + ns;
    while (now() < until)
        getrandom(text, sizeof text, 0);
    truth("call", from, now());
}

static void read_proc(long ns)
{
    long from = now(), until = from + ns;
    while (now() < until) {
        int maps = open("/proc/self/smaps", O_RDONLY);
        while (read(maps, text, sizeof text) > 0)
            ;
        close(maps);
    }
    truth("proc", from, now());
}

static void *cleaner(void *nothing)
{
    settle("cleaner", other_cpu, 0);
    for (;;) {
        wait_for(&cleaning);
        madvise(fresh + cleaning.due, cleaning.ns, MADV_DONTNEED);
    }
    return nothing;
}

static void make_fresh(void)
{
    fresh = mmap(0, FRESH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(fresh == MAP_FAILED ? -1 : madvise(fresh, FRESH, MADV_NOHUGEPAGE), "mmap");
    thread(cleaner);
}

static void faults(long ns)
{
    long from = now(), until = from + ns, first = next_fresh;
    while (now() < until && next_fresh < FRESH)
        for (int page = 0; page < 16; page++, next_fresh += 4096)
            fresh[next_fresh] = 1;
    truth("faults", from, now());
    ask(&cleaning, first, next_fresh - first);
    if (next_fresh >= FRESH / 2)
        next_fresh = 0;
}

static void map(long ns)
{
    long bytes = ns / MS << 21;
    void *block;
    TIMED("mmap",
          block = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
          munmap(block, bytes));
}

static void *loader(void *nothing)
{
    settle("loader", other_cpu, URGENT);
    for (;;) {
        wait_for(&loading);
        loading.state = 1;
        void *block = mmap(0, loading.ns / MS << 21, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        munmap(block, loading.ns / MS << 21);
    }
    return nothing;
}

static void make_loader(void) { thread(loader); }

static void memory_lock(long ns)
{
    void *block;
    ask(&loading, 0, ns);
    while (!loading.state)
        ;
    compute(300000);
    TIMED("loader", block = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(block, 4096);
}

static void make_file(void) { touch_text(); synced = open("synced", O_CREAT | O_RDWR, 0600); must(synced, "synced"); }
static void sync_file(long ns)
{
    (void)ns;
    TIMED("fsync", for (int part = 0; part < 4; part++) pwrite(synced, text, sizeof text, part << 20); fsync(synced));
}

static void own_sleep(long ns) { TIMED("sleep", rest(ns)); }

static void make_mapped(void)
{
    int own = open("paged", O_CREAT | O_RDWR, 0600);
    must(own, "paged");
    for (int part = 0; part < 64; part++)
        must(write(own, text, sizeof text), "paged");
    must(fsync(own), "paged");
    mapped = mmap(0, MAPPED, PROT_READ, MAP_SHARED, own, 0);
    must(mapped == MAP_FAILED ? -1 : madvise(mapped, MAPPED, MADV_RANDOM), "mmap");
    paged = own;
}

static volatile char seen;
static void paging(long ns)
{
    static long page;
    madvise(mapped, MAPPED, MADV_DONTNEED);
    posix_fadvise(paged, 0, 0, POSIX_FADV_DONTNEED);
    long from = now(), until = from + ns;
    while (now() < until)
        seen = mapped[(page += 4096 * 17) % (MAPPED)];
    truth("paging", from, now());
}

const struct kind KINDS_WORK[] = {
    {"spin", make_spin, spin, 0},
    {"code", 0, code, 0},
    {"call", touch_text, call, 0},
    {"proc", touch_text, read_proc, 0},
    {"faults", make_fresh, faults, 0},
    {"paging", make_mapped, paging, 0},
    {"mmap", 0, map, 0},
    {"loader", make_loader, memory_lock, 0},
    {"fsync", make_file, sync_file, 0},
    {"sleep", 0, own_sleep, 0},
    {0, 0, 0, 0},
};
