/* A loop of 10 ms that waits in two functions of its own, each in every twentieth cycle: for a mutex that the thread
 * `telemetry` holds, and for an answer through a pipe that the thread `peer` gives. Both let it wait for 25 ms, and it
 * computes until the next cycle is due before, so that this cycle has the whole wait. The functions are not the
 * innermost ones: below them the C library waits, which has no frame pointers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted;
static atomic_int held;
static int question[2], answer[2];
static volatile int counted;

static void pause_ms(long ms)
{
	struct timespec time = { 0, ms * 1000000 };
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *telemetry(void *nothing)
{
	for (;;) {
		sem_wait(&wanted);
		pthread_mutex_lock(&state);
		held = 1;
		pause_ms(25);
		pthread_mutex_unlock(&state);
	}
}

static void *peer(void *nothing)
{
	char byte;
	while (read(question[0], &byte, 1) == 1) {
		pause_ms(25);
		write(answer[1], &byte, 1);
	}
	return NULL;
}

static __attribute__((noinline)) void take_state(void)
{
	pthread_mutex_lock(&state);
	counted++;
	pthread_mutex_unlock(&state);
}

static __attribute__((noinline)) void read_answer(void)
{
	char byte;
	read(answer[0], &byte, 1);
	counted++;
}

static void compute_until(const struct timespec *next)
{
	struct timespec now;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < next->tv_sec || (now.tv_sec == next->tv_sec && now.tv_nsec < next->tv_nsec));
}

static void cycle(int number, const struct timespec *next)
{
	if (number % 20 == 5) {
		compute_until(next);
		held = 0;
		sem_post(&wanted);
		while (!held)
			;
		take_state();
	}
	if (number % 20 == 15) {
		compute_until(next);
		write(question[1], "?", 1);
		read_answer();
	}
}

static struct timespec later(struct timespec time, long by_ns)
{
	time.tv_nsec += by_ns;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

static void *control(void *nothing)
{
	struct timespec due, next;
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (int number = 0;; number++) {
		due = later(due, 10000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		next = later(due, 10500000);
		cycle(number, &next);
	}
}

static void start(const char *name, void *(*body)(void *))
{
	pthread_t thread;
	pthread_create(&thread, NULL, body, NULL);
	pthread_setname_np(thread, name);
}

int main(void)
{
	sem_init(&wanted, 0, 0);
	pipe(question);
	pipe(answer);
	start("telemetry", telemetry);
	start("peer", peer);
	start("control", control);
	for (;;)
		pause();
}
