/*
 * The built-in controller's law in C: position error to force, force to torque, torque to rotor
 * speeds. Build it with
 *   cc -O2 -fPIC -shared -I crates/measured-loop/include -o libgeometric.so geometric.c -lm
 */
#include "wakepath_controller.h"

#include <math.h>
#include <stdlib.h>

static const double GRAVITY = 9.81;

typedef struct { double x, y, z; } vector;

static vector vec(const double v[3]) { return (vector){v[0], v[1], v[2]}; }
static vector plus(vector a, vector b) { return (vector){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vector times(double s, vector v) { return (vector){s * v.x, s * v.y, s * v.z}; }
static double dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vector cross(vector a, vector b) {
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* All memory is had in init; step works on this alone. */
typedef struct { wakepath_controller_setup setup; } geometric;

uint32_t wakepath_controller_version(void) { return WAKEPATH_CONTROLLER_VERSION; }

void *wakepath_controller_init(const wakepath_controller_setup *setup) {
    geometric *controller = malloc(sizeof *controller);
    if (controller) {
        controller->setup = *setup;
        controller->setup.settings = NULL; /* valid during init only */
    }
    return controller;
}

void wakepath_controller_free(void *controller) { free(controller); }

/* Position and velocity errors to a force in the world. */
static vector force(const wakepath_controller_setup *s, const wakepath_controller_input *in) {
    double a[3];
    for (int n = 0; n < 3; n++) {
        a[n] = -s->position_gain_per_s2[n] * (in->position_m[n] - in->wanted_position_m[n]) -
               s->velocity_gain_per_s[n] * (in->velocity_m_s[n] - in->wanted_velocity_m_s[n]) +
               in->wanted_acceleration_m_s2[n];
    }
    return times(s->mass_kg, (vector){a[0], a[1], a[2] + GRAVITY});
}

int32_t wakepath_controller_step(void *state, const wakepath_controller_input *in,
                                 wakepath_controller_output *out) {
    const wakepath_controller_setup *s = &((geometric *)state)->setup;

    /* The body's axes in the world. */
    double length = sqrt(in->attitude[0] * in->attitude[0] + in->attitude[1] * in->attitude[1] +
                         in->attitude[2] * in->attitude[2] + in->attitude[3] * in->attitude[3]);
    double i = in->attitude[0] / length, j = in->attitude[1] / length;
    double k = in->attitude[2] / length, w = in->attitude[3] / length;
    vector c1 = {1 - 2 * (j * j + k * k), 2 * (i * j + k * w), 2 * (i * k - j * w)};
    vector c2 = {2 * (i * j - k * w), 1 - 2 * (i * i + k * k), 2 * (j * k + i * w)};
    vector c3 = {2 * (i * k + j * w), 2 * (j * k - i * w), 1 - 2 * (i * i + j * j)};

    /* The wanted axes: thrust along the force, nose to the wanted heading. */
    vector f = force(s, in);
    double size = sqrt(dot(f, f));
    vector b3 = times(1 / size, f);
    vector side = cross(b3, (vector){cos(in->wanted_yaw_rad), sin(in->wanted_yaw_rad), 0});
    double breadth = sqrt(dot(side, side));
    if (!(size > 0) || !(breadth > 0)) {
        for (int n = 0; n < 4; n++) out->rotor_speed_rad_s[n] = s->hover_speed_rad_s;
        return 1; /* no direction to turn to */
    }
    vector b2 = times(1 / breadth, side);
    vector b1 = cross(b2, b3);

    vector error = {0.5 * (dot(b3, c2) - dot(c3, b2)), 0.5 * (dot(b1, c3) - dot(c1, b3)),
                    0.5 * (dot(b2, c1) - dot(c2, b1))};
    vector rate = vec(in->rate_rad_s);
    vector rate_error = {rate.x, rate.y, rate.z - in->wanted_yaw_rate_rad_s};
    vector turn = plus(times(-s->attitude_gain_per_s2, error),
                       times(-s->rate_gain_per_s, rate_error));
    const double *inertia = s->inertia_kg_m2;
    vector torque = plus((vector){inertia[0] * turn.x, inertia[1] * turn.y, inertia[2] * turn.z},
                         cross(rate, (vector){inertia[0] * rate.x, inertia[1] * rate.y,
                                              inertia[2] * rate.z}));

    /* Thrust and torque to four rotors. */
    double thrust = dot(f, c3);
    double roll = torque.x * sqrt(2) / s->arm_m, pitch = torque.y * sqrt(2) / s->arm_m;
    double yaw = torque.z * s->thrust / s->yaw_torque;
    const double forces[4] = {thrust + roll - pitch + yaw, thrust - roll - pitch - yaw,
                              thrust - roll + pitch + yaw, thrust + roll + pitch - yaw};
    for (int n = 0; n < 4; n++) {
        double speed = forces[n] > 0 ? sqrt(0.25 * forces[n] / s->thrust) : 0;
        out->rotor_speed_rad_s[n] = fmin(speed, s->max_speed_rad_s);
    }
    return 0;
}
