// A stub of ros2_control's hardware_interface.
#pragma once

#include "rclcpp/rclcpp.hpp"

namespace hardware_interface {

enum class return_type : std::uint8_t { OK = 0, ERROR = 1, DEACTIVATE = 2 };

class SystemInterface {
public:
    virtual ~SystemInterface() = default;
    virtual return_type read(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
    virtual return_type write(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
    virtual std::string get_name() const { return name; }
    std::string name;
};

}  // namespace hardware_interface
