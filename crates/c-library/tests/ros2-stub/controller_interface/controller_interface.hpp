// A stub of ros2_control's controller_interface.
#pragma once

#include "rclcpp/rclcpp.hpp"

namespace controller_interface {

enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };

class ControllerInterface {
public:
    virtual ~ControllerInterface() = default;
    virtual return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
    std::shared_ptr<rclcpp::Node> get_node() { return node; }
    std::shared_ptr<rclcpp::Node> node;
};

}  // namespace controller_interface
