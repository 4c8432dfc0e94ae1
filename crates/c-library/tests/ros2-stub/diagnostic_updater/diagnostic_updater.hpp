// A stub of diagnostic_updater: what its tasks report is printed.
#pragma once

#include <rclcpp/rclcpp.hpp>

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diagnostic_updater {

class DiagnosticStatusWrapper {
public:
    void summary(unsigned char level, const std::string message) { std::cout << int(level) << ' ' << message << '\n'; }
    template <typename T>
    void add(const std::string &key, const T &value) {
        std::cout << key << ": " << value << '\n';
    }
};

using TaskFunction = std::function<void(DiagnosticStatusWrapper &)>;

class Updater {
public:
    template <typename NodeT>
    explicit Updater(NodeT, double = 1.0) {}
    void setHardwareID(const std::string &) {}
    void add(const std::string &name, TaskFunction task) { tasks_.emplace_back(name, std::move(task)); }
    void force_update() {
        for (const auto &[name, task] : tasks_) {
            std::cout << name << '\n';
            DiagnosticStatusWrapper status;
            task(status);
        }
    }

private:
    std::vector<std::pair<std::string, TaskFunction>> tasks_;
};

}  // namespace diagnostic_updater
