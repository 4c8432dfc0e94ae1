/*
 * A controller of your own in wakepath's measured loop: version 1 of the interface.
 *
 * Build a shared library that exports the functions below (the last one is optional)
 * and name it in a scenario: work = { kind = "library", library = "./libmine.so" }.
 *
 * Times are in nanoseconds, everything else in SI units, angles in radians. World axes: z up; body
 * axes: x forward, y left, z up. A quaternion is (i, j, k, w) and turns body into world vectors.
 * Rotors stand at the body's (+,+), (+,-), (-,-), (-,+) diagonals, in this order; their yaw torque
 * on the body has the signs +, -, +, -.
 */
#ifndef WAKEPATH_CONTROLLER_H
#define WAKEPATH_CONTROLLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WAKEPATH_CONTROLLER_VERSION 1u

/* What the controller is to fly; valid during init only. */
typedef struct wakepath_controller_setup {
    uint64_t period_ns;
    double mass_kg;
    double inertia_kg_m2[3];      /* about the centre of mass, body axes */
    double arm_m;                 /* from the centre of mass to a rotor hub */
    double thrust;                /* k_f, N/(rad/s)^2 */
    double yaw_torque;            /* k_m, N m/(rad/s)^2 */
    double max_speed_rad_s;
    double hover_speed_rad_s;     /* at which four rotors carry the weight */
    double position_gain_per_s2[3];
    double velocity_gain_per_s[3];
    double attitude_gain_per_s2;
    double rate_gain_per_s;
    const char *settings;         /* the scenario's text, ended by a NUL; may be empty */
} wakepath_controller_setup;

/* What a cycle reads. */
typedef struct wakepath_controller_input {
    uint64_t time_ns;             /* since cycle 0 was due: the instant of the state */
    double position_m[3];
    double velocity_m_s[3];
    double attitude[4];
    double rate_rad_s[3];         /* body axes */
    double wanted_position_m[3];
    double wanted_velocity_m_s[3];
    double wanted_acceleration_m_s2[3];
    double wanted_yaw_rad;
    double wanted_yaw_rate_rad_s;
} wakepath_controller_input;

/* What a cycle writes. */
typedef struct wakepath_controller_output {
    double rotor_speed_rad_s[4];  /* clipped to 0 .. max_speed_rad_s */
} wakepath_controller_output;

/* A part of the controller that is timed by the controller itself. */
typedef struct wakepath_controller_module {
    const char *name;             /* ended by a NUL */
    uint64_t budget_ns;           /* 0: none */
    uint64_t time_ns;             /* of its run in the last step */
    uint32_t ran;                 /* 0: it did not run in the last step */
    uint32_t every;               /* it shall run once in so many cycles; 0: at no rate of its own.
                                     wakepath then counts how often it came late */
} wakepath_controller_module;

/* Returns WAKEPATH_CONTROLLER_VERSION as the library was compiled with it. */
uint32_t wakepath_controller_version(void);

/* Once, before the first cycle. May allocate. NULL: it refuses, and the loop is not run. */
void *wakepath_controller_init(const wakepath_controller_setup *setup);

/* Once a cycle. Must not allocate, lock or make a system call. Not 0: a fault of its own, which is
 * counted; the output is applied all the same. */
int32_t wakepath_controller_step(void *controller, const wakepath_controller_input *input,
                                 wakepath_controller_output *output);

/* Once, after the last cycle. */
void wakepath_controller_free(void *controller);

/* Optional. Called after init and after each cycle, outside the timed region: points *modules at
 * the parts and returns how many there are. Number, names, budgets and rates (every) must stay what they are
 * after init. */
uint32_t wakepath_controller_modules(void *controller,
                                     const wakepath_controller_module **modules);

#ifdef __cplusplus
}
#endif

#endif
