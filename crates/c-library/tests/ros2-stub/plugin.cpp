// What a user's package exports: two controllers and a hardware component, each timed.
#include "controller_manager/controller_manager.hpp"

#include <wakepath_ros2.hpp>

namespace {

class Holding : public controller_interface::ControllerInterface {
public:
    controller_interface::return_type update(const rclcpp::Time &, const rclcpp::Duration &period) override {
        for (int step = 0; step < 500; step++) {
            held_ += (1.0 - held_) * static_cast<double>(period.nanoseconds()) * 1e-9;
        }
        return controller_interface::return_type::OK;
    }

private:
    double held_ = 0.0;
};

class Arm : public hardware_interface::SystemInterface {
public:
    hardware_interface::return_type read(const rclcpp::Time &, const rclcpp::Duration &) override {
        return hardware_interface::return_type::OK;
    }
    hardware_interface::return_type write(const rclcpp::Time &, const rclcpp::Duration &) override {
        return hardware_interface::return_type::OK;
    }
};

}  // namespace

extern "C" void stub_make(controller_manager::ControllerManager &manager) {
    for (const char *name : {"arm_controller", "gripper_controller"}) {
        auto controller = std::make_shared<wakepath::ros2::TimedController<Holding>>();
        controller->node = std::make_shared<rclcpp::Node>(name);
        manager.controllers.push_back(std::move(controller));
    }
    manager.hardware = std::make_shared<wakepath::ros2::TimedHardware<Arm>>();
    manager.hardware->name = "arm";
}
