/* A control loop of 250 Hz in C, recorded by `wakepath record -- ./loop`.
 *
 *     cc -O2 loop.c -lwakepath -o loop */

#include <stdio.h>
#include <string.h>
#include <wakepath.h>

/* Stands for reading sensors, computing and writing commands. */
static double step(double state) {
    for (int i = 0; i < 2000; i++) {
        state += (1.0 - state) * 0.001;
    }
    return state;
}

int main(void) {
    char said[256] = "";
    if (wakepath_prepare_other(-5, NULL, 0, said, sizeof said) != 0) {
        fprintf(stderr, "%s\n", said);
    }
    wakepath_loop *loop = wakepath_loop_create("control", 4000000, said, sizeof said);
    if (loop == NULL) {
        fprintf(stderr, "%s\n", said);
        return 1;
    }
    uint32_t compute = wakepath_loop_section(loop, "compute", 200000);
    double state = 0.0;
    wakepath_cycle cycle;
    while (wakepath_loop_wait(loop, &cycle)) {
        wakepath_section_begin(loop, compute);
        state = step(state);
        wakepath_section_end(loop, compute);
        if (cycle.cycle % 250 == 0) {
            wakepath_log(loop, "the state is %.3f", state);
        }
        wakepath_loop_finish(loop);
    }
    printf("the last state is %.3f; %llu due times skipped\n", state,
           (unsigned long long)wakepath_loop_skipped(loop));
    wakepath_loop_destroy(loop);
    return 0;
}
