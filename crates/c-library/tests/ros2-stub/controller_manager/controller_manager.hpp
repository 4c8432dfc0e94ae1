// A stub of ros2_control's controller manager: its controllers and its hardware come from one plug-in, loaded as
// pluginlib loads them, so that nothing of theirs is seen by the program.
#pragma once

#include "controller_interface/controller_interface.hpp"
#include "hardware_interface/system_interface.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace controller_manager {

class ControllerManager : public rclcpp::Node {
public:
    ControllerManager(std::shared_ptr<rclcpp::executors::SingleThreadedExecutor>, const std::string &name)
        : rclcpp::Node(name) {
        void *plugin = dlopen(std::getenv("STUB_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr) {
            throw std::runtime_error(dlerror());
        }
        using Make = void (*)(ControllerManager &);
        reinterpret_cast<Make>(dlsym(plugin, "stub_make"))(*this);
    }
    unsigned int get_update_rate() const { return 250; }
    void read(const rclcpp::Time &time, const rclcpp::Duration &period) { hardware->read(time, period); }
    controller_interface::return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) {
        for (const auto &controller : controllers) {
            controller->update(time, period);
        }
        return controller_interface::return_type::OK;
    }
    void write(const rclcpp::Time &time, const rclcpp::Duration &period) { hardware->write(time, period); }

    std::vector<std::shared_ptr<controller_interface::ControllerInterface>> controllers;
    std::shared_ptr<hardware_interface::SystemInterface> hardware;
};

}  // namespace controller_manager
