// A controller in C++ that holds its height and its attitude level, with an integrator: what a
// class with state looks like behind the C interface. The scenario's settings are its integral
// gain. Build it with
//   g++ -O2 -std=c++17 -fPIC -shared -I crates/measured-loop/include -o libaltitude.so altitude.cpp
#include "wakepath_controller.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

namespace {

constexpr double gravity = 9.81;

class Altitude {
public:
    explicit Altitude(const wakepath_controller_setup &setup)
        : setup_(setup), integral_gain_(std::strtod(setup.settings, nullptr)) {}

    bool step(const wakepath_controller_input &in, wakepath_controller_output &out) noexcept {
        const double seconds = static_cast<double>(setup_.period_ns) * 1e-9;
        const double error = in.wanted_position_m[2] - in.position_m[2];
        integral_ = std::clamp(integral_ + error * seconds, -1.0, 1.0);
        const double up = setup_.position_gain_per_s2[2] * error -
                          setup_.velocity_gain_per_s[2] * in.velocity_m_s[2] +
                          integral_gain_ * integral_;
        const double thrust = setup_.mass_kg * (gravity + up);

        // Near level the quaternion's vector part is half of roll, pitch and yaw.
        double torque[3];
        for (int n = 0; n < 3; ++n) {
            const double angle = 2.0 * in.attitude[n] * (in.attitude[3] < 0 ? -1.0 : 1.0);
            torque[n] = setup_.inertia_kg_m2[n] * (-setup_.attitude_gain_per_s2 * angle -
                                                   setup_.rate_gain_per_s * in.rate_rad_s[n]);
        }
        const double roll = torque[0] * std::sqrt(2.0) / setup_.arm_m;
        const double pitch = torque[1] * std::sqrt(2.0) / setup_.arm_m;
        const double yaw = torque[2] * setup_.thrust / setup_.yaw_torque;
        const double forces[4] = {thrust + roll - pitch + yaw, thrust - roll - pitch - yaw,
                                  thrust - roll + pitch + yaw, thrust + roll + pitch - yaw};
        for (int n = 0; n < 4; ++n) {
            const double speed = std::sqrt(std::max(0.25 * forces[n], 0.0) / setup_.thrust);
            out.rotor_speed_rad_s[n] = std::min(speed, setup_.max_speed_rad_s);
        }
        return std::isfinite(thrust);
    }

private:
    wakepath_controller_setup setup_; // its settings are not read after the constructor
    double integral_gain_;
    double integral_ = 0.0;
};

} // namespace

extern "C" {

uint32_t wakepath_controller_version(void) { return WAKEPATH_CONTROLLER_VERSION; }

void *wakepath_controller_init(const wakepath_controller_setup *setup) {
    return new (std::nothrow) Altitude(*setup);
}

int32_t wakepath_controller_step(void *controller, const wakepath_controller_input *input,
                                 wakepath_controller_output *output) {
    return static_cast<Altitude *>(controller)->step(*input, *output) ? 0 : 1;
}

void wakepath_controller_free(void *controller) { delete static_cast<Altitude *>(controller); }

} // extern "C"
