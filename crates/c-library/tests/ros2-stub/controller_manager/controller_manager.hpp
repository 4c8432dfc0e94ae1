// A stub of ros2_control's controller manager: its controllers and its hardware come from one plug-in, loaded as
// pluginlib loads them, so that nothing of theirs is seen by the program.
#pragma once

#include "controller_interface/controller_interface.hpp"
#include "hardware_interface/system_interface.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace controller_manager {

inline rclcpp::NodeOptions get_cm_node_options() { return {}; }

class ControllerManager : public rclcpp::Node {
public:
    /// Controllers get their parameters from the arguments of the manager's options, and from nowhere else.
    ControllerManager(std::shared_ptr<rclcpp::Executor>, const std::string &name, const std::string & = "",
                      const rclcpp::NodeOptions &options = get_cm_node_options())
        : rclcpp::Node(name) {
        for (const auto &word : rclcpp::given()) {
            const auto &own = options.arguments();
            if (word.rfind("--params-file", 0) == 0 && std::find(own.begin(), own.end(), word) == own.end()) {
                throw std::runtime_error("the controllers have no parameters");
            }
        }
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
