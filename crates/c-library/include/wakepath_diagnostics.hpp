// Live figures of a loop for ROS 2's diagnostic_updater, with and without a recording: cycles, latency, misses of a
// limit and skipped due times since the last report. It includes nothing of ROS. C++17; everything is inline.

#ifndef WAKEPATH_DIAGNOSTICS_HPP
#define WAKEPATH_DIAGNOSTICS_HPP

#include "wakepath.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace wakepath::ros2 {

/// Figures that the loop's thread adds to and another thread reports. Adding takes no lock and allocates nothing.
///
///     updater.add("attitude", figures.diagnostics(500us));
class LiveFigures {
    struct State {
        std::atomic<std::int64_t> limit_ns{0};
        std::atomic<std::uint64_t> cycles{0};
        std::atomic<std::uint64_t> above{0};
        std::atomic<std::uint64_t> skipped{0};
        std::atomic<std::int64_t> sum_ns{0};
        std::atomic<std::int64_t> max_ns{0};
        /// The number of the next cycle, if none is skipped; the loop's alone.
        std::uint64_t next = 0;
    };

    /// What diagnostic_updater calls: it takes a DiagnosticStatusWrapper.
    class Task {
    public:
        explicit Task(std::shared_ptr<State> state) : state_(std::move(state)) {}
        template <typename Status>
        void operator()(Status &status) const {
            State &state = *state_;
            const std::uint64_t cycles = state.cycles.exchange(0);
            const std::uint64_t above = state.above.exchange(0);
            const std::uint64_t skipped = state.skipped.exchange(0);
            const std::int64_t sum_ns = state.sum_ns.exchange(0);
            const std::int64_t max_ns = state.max_ns.exchange(0);
            const double limit_us = static_cast<double>(state.limit_ns.load()) / 1e3;
            // The levels of diagnostic_msgs/DiagnosticStatus.
            constexpr unsigned char ok = 0, warn = 1, stale = 3;
            if (cycles == 0) {
                status.summary(stale, "no cycle since the last report");
                return;
            }
            if (above > 0 || skipped > 0) {
                status.summary(warn, std::to_string(above) + " cycles above the limit, " + std::to_string(skipped) +
                                         " due times skipped");
            } else {
                status.summary(ok, "all cycles within the limit");
            }
            status.add("cycles", cycles);
            status.add("latency limit, us", limit_us);
            status.add("latency above the limit", above);
            status.add("latency mean, us", static_cast<double>(sum_ns) / 1e3 / static_cast<double>(cycles));
            status.add("latency max, us", static_cast<double>(max_ns) / 1e3);
            status.add("skipped", skipped);
        }

    private:
        std::shared_ptr<State> state_;
    };

public:
    LiveFigures() : state_(std::make_shared<State>()) {}

    /// Adds a cycle; one thread at a time.
    void add(const wakepath_cycle &cycle) {
        State &state = *state_;
        const auto latency_ns = static_cast<std::int64_t>(cycle.wake_ns - cycle.due_ns);
        if (state.next > 0 && cycle.cycle > state.next) {
            state.skipped += cycle.cycle - state.next;
        }
        state.next = cycle.cycle + 1;
        state.sum_ns += latency_ns;
        const std::int64_t limit_ns = state.limit_ns;
        if (limit_ns > 0 && latency_ns > limit_ns) {
            ++state.above;
        }
        std::int64_t max_ns = state.max_ns;
        while (latency_ns > max_ns && !state.max_ns.compare_exchange_weak(max_ns, latency_ns)) {
        }
        ++state.cycles;
    }

    /// A task for `Updater::add`: each report has what happened since the one before. Latencies above the limit, and
    /// skipped due times, are warnings.
    auto diagnostics(std::chrono::nanoseconds limit) const {
        state_->limit_ns = limit.count();
        return Task(state_);
    }

private:
    std::shared_ptr<State> state_;
};

}  // namespace wakepath::ros2

#endif
