// wakepath.hpp for ROS 2: ros2_control's read, update and write with a section for each controller, timers and
// callbacks of rclcpp, and chains from topic to topic. It includes nothing of ROS: whatever has the members that are
// named here fits. C++17; everything is inline; link libwakepath, the shared one, so that plug-ins and the program
// that loads them have one.

#ifndef WAKEPATH_ROS2_HPP
#define WAKEPATH_ROS2_HPP

#include "wakepath.hpp"
#include "wakepath_diagnostics.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace wakepath::ros2 {

namespace detail {

/// A section of the loop whose cycle is under way on this thread, timed for as long as this lives; nothing where
/// none is. The name is declared when the section is first met.
class Section {
public:
    explicit Section(const std::string &name) : loop_(wakepath_loop_under_way()) {
        if (loop_ != nullptr) {
            section_ = number(loop_, name);
            wakepath_section_begin(loop_, section_);
        }
    }
    ~Section() {
        if (loop_ != nullptr) {
            wakepath_section_end(loop_, section_);
        }
    }
    Section(const Section &) = delete;
    Section &operator=(const Section &) = delete;

private:
    /// Asked of the library once for each loop and name. A loop takes 32 bytes of a name, in whole characters.
    static std::uint32_t number(wakepath_loop *loop, const std::string &name) {
        thread_local wakepath_loop *of = nullptr;
        thread_local std::unordered_map<std::string, std::uint32_t> known;
        if (of != loop) {
            known.clear();
            of = loop;
        }
        const auto found = known.find(name);
        if (found != known.end()) {
            return found->second;
        }
        std::size_t bytes = name.size() < 32 ? name.size() : 32;
        while (bytes < name.size() && bytes > 0 && (static_cast<unsigned char>(name[bytes]) & 0xc0) == 0x80) {
            --bytes;
        }
        const std::uint32_t number = wakepath_loop_section(loop, name.substr(0, bytes).c_str(), 0);
        known.emplace(name, number);
        return number;
    }

    wakepath_loop *loop_;
    std::uint32_t section_ = WAKEPATH_NO_SECTION;
};

/// What a member function `Result f(const Time &, const Duration &)` is made of.
template <typename Method>
struct Parts;
template <typename R, typename Of, typename T, typename D>
struct Parts<R (Of::*)(const T &, const D &)> {
    using Result = R;
    using Time = T;
    using Duration = D;
};

/// Result and arguments of a callable with one call operator, or of a function: rclcpp asks for a const call operator
/// that is no template, so a wrapper has to have the same one.
template <typename Callable>
struct Called : Called<decltype(&Callable::operator())> {};
template <typename R, typename... A>
struct Called<R(A...)> {
    using Shape = R(A...);
};
template <typename R, typename... A>
struct Called<R (*)(A...)> : Called<R(A...)> {};
template <typename R, typename... A>
struct Called<R (*)(A...) noexcept> : Called<R(A...)> {};
template <typename R, typename Of, typename... A>
struct Called<R (Of::*)(A...)> : Called<R(A...)> {};
template <typename R, typename Of, typename... A>
struct Called<R (Of::*)(A...) const> : Called<R(A...)> {};
template <typename R, typename Of, typename... A>
struct Called<R (Of::*)(A...) noexcept> : Called<R(A...)> {};
template <typename R, typename Of, typename... A>
struct Called<R (Of::*)(A...) const noexcept> : Called<R(A...)> {};

/// A callback as a section, with the callback's own call operator.
template <typename Callback, typename Shape = typename Called<Callback>::Shape>
class Sectioned;
template <typename Callback, typename R, typename... A>
class Sectioned<Callback, R(A...)> {
public:
    Sectioned(std::string name, Callback callback) : name_(std::move(name)), callback_(std::move(callback)) {}
    R operator()(A... arguments) const {
        const Section section(name_);
        return callback_(std::forward<A>(arguments)...);
    }

private:
    std::string name_;
    mutable Callback callback_;
};

}  // namespace detail

/// Times the rest of a block as a section of the loop whose cycle is under way on this thread, for code that is
/// handed no loop.
class [[nodiscard]] Timed {
public:
    explicit Timed(const std::string &name) : section_(name) {}

private:
    detail::Section section_;
};

/// The loop of ros2_control, driven by whoever sleeps: `step` is one cycle of a controller manager.
///
///     wakepath::ros2::ControlLoop loop("controller_manager", manager->get_update_rate());
///     while (rclcpp::ok() && loop.step(*manager, manager->now(), period)) {
///         std::this_thread::sleep_until(next += period);
///     }
class ControlLoop {
public:
    /// On the thread that steps: there the recorder is waited for.
    ControlLoop(const std::string &name, unsigned rate_hz)
        : loop_(Loop::driven(name, std::chrono::nanoseconds(rate_hz == 0 ? 0 : 1'000'000'000 / rate_hz))),
          read_(loop_.section("read")), update_(loop_.section("update")), write_(loop_.section("write")) {}

    /// Reads, updates and writes as one cycle of three sections; false when the recording is over. Controllers that
    /// are `TimedController`s and hardware that is `TimedHardware` have sections within these.
    template <typename Manager, typename Time, typename Duration>
    bool step(Manager &manager, const Time &time, const Duration &period,
              std::optional<std::chrono::nanoseconds> due = std::nullopt) {
        const auto cycle = loop_.begin(due);
        if (!cycle) {
            return false;
        }
        figures_.add(*cycle);
        {
            const auto timed = loop_.timed(read_);
            manager.read(time, period);
        }
        {
            const auto timed = loop_.timed(update_);
            manager.update(time, period);
        }
        {
            const auto timed = loop_.timed(write_);
            manager.write(time, period);
        }
        loop_.finish();
        return true;
    }

    Loop &loop() { return loop_; }
    /// Live figures for diagnostic_updater.
    const LiveFigures &figures() const { return figures_; }

private:
    Loop loop_;
    LiveFigures figures_;
    std::uint32_t read_;
    std::uint32_t update_;
    std::uint32_t write_;
};

/// A controller whose `update` is a section of the name of its node. Export this in the controller's place:
///
///     using TimedPid = wakepath::ros2::TimedController<Pid>;  // in namespace my
///     PLUGINLIB_EXPORT_CLASS(my::TimedPid, controller_interface::ControllerInterface)
template <typename Controller, typename Parts = detail::Parts<decltype(&Controller::update)>>
class TimedController : public Controller {
public:
    using Controller::Controller;

    typename Parts::Result update(const typename Parts::Time &time, const typename Parts::Duration &period) override {
        if (name_.empty()) {
            name_ = this->get_node()->get_name();
        }
        const detail::Section timed(name_);
        return Controller::update(time, period);
    }

private:
    std::string name_;
};

/// Hardware whose `read` and `write` are sections of its name.
template <typename Hardware, typename Read = detail::Parts<decltype(&Hardware::read)>,
          typename Write = detail::Parts<decltype(&Hardware::write)>>
class TimedHardware : public Hardware {
public:
    using Hardware::Hardware;

    typename Read::Result read(const typename Read::Time &time, const typename Read::Duration &period) override {
        if (read_.empty()) {
            read_ = "read " + std::string(this->get_name());
        }
        const detail::Section timed(read_);
        return Hardware::read(time, period);
    }
    typename Write::Result write(const typename Write::Time &time, const typename Write::Duration &period) override {
        if (write_.empty()) {
            write_ = "write " + std::string(this->get_name());
        }
        const detail::Section timed(write_);
        return Hardware::write(time, period);
    }

private:
    std::string read_;
    std::string write_;
};

/// A callback of a timer as a loop of its own. The first call makes the loop; due times are estimated, because a timer
/// reports to nobody when it was due. An executor with several threads may make each call on another one: all are
/// recorded, and those on another thread than the first call's are counted as the value `on another thread`. Two calls
/// at the same time, as in a reentrant callback group, are carried out, and one of the two is recorded; the value
/// `at the same time` counts the others.
///
///     timer_ = create_wall_timer(4ms, wakepath::ros2::TimerLoop("attitude", 4ms).callback([this] { step(); }));
class TimerLoop {
    struct State {
        State(std::string of, std::chrono::nanoseconds each) : name(std::move(of)), period(each) {}
        std::string name;
        std::chrono::nanoseconds period;
        std::mutex one_at_a_time;
        std::optional<Loop> loop;
        std::thread::id first;
        std::atomic<std::uint64_t> elsewhere{0};
        std::atomic<std::uint64_t> at_the_same_time{0};
        std::uint64_t reported = 0;
        LiveFigures figures;
    };
    /// Ends the cycle when the callback has returned or thrown, with what is to be counted of it.
    struct Finished {
        State &state;
        bool elsewhere;
        ~Finished() {
            if (elsewhere) {
                state.loop->value("on another thread", 1.0);
            }
            const std::uint64_t unrecorded = state.at_the_same_time;
            if (unrecorded != state.reported) {
                state.loop->value("at the same time", static_cast<double>(unrecorded - state.reported));
                state.reported = unrecorded;
            }
            state.loop->finish();
        }
    };
    /// What a timer calls, with the callback's own call operator.
    template <typename Callback, typename Over, typename Shape = typename detail::Called<Callback>::Shape>
    class Cycle;
    template <typename Callback, typename Over, typename... A>
    class Cycle<Callback, Over, void(A...)> {
    public:
        Cycle(std::shared_ptr<State> state, Callback callback, Over when_over)
            : state_(std::move(state)), callback_(std::move(callback)), when_over_(std::move(when_over)) {}
        void operator()(A... arguments) const {
            const std::unique_lock<std::mutex> alone(state_->one_at_a_time, std::try_to_lock);
            if (!alone) {
                ++state_->at_the_same_time;
                callback_(std::forward<A>(arguments)...);
                return;
            }
            if (!state_->loop) {
                state_->loop.emplace(Loop::driven(state_->name, state_->period));
                state_->first = std::this_thread::get_id();
            }
            const bool elsewhere = state_->first != std::this_thread::get_id();
            if (elsewhere) {
                ++state_->elsewhere;
            }
            if (const auto cycle = state_->loop->begin()) {
                state_->figures.add(*cycle);
                const Finished finished{*state_, elsewhere};
                callback_(std::forward<A>(arguments)...);
            } else {
                when_over_();
            }
        }

    private:
        std::shared_ptr<State> state_;
        mutable Callback callback_;
        mutable Over when_over_;
    };

public:
    TimerLoop(std::string name, std::chrono::nanoseconds period)
        : state_(std::make_shared<State>(std::move(name), period)) {}

    /// Once the recording is over the callback is no longer carried out and `when_over` is called in its place: end the
    /// program there (`rclcpp::shutdown()`). What the callback throws passes through, and ends its cycle. The callback
    /// takes nothing, or the timer, and returns nothing.
    template <typename Callback>
    auto callback(Callback callback) const {
        return this->callback(std::move(callback), [] {});
    }
    template <typename Callback, typename Over>
    auto callback(Callback callback, Over when_over) const {
        return Cycle<Callback, Over>(state_, std::move(callback), std::move(when_over));
    }

    /// Calls on another thread than the first one's.
    std::uint64_t elsewhere() const { return state_->elsewhere; }
    /// Calls that were not recorded, because another one was under way.
    std::uint64_t at_the_same_time() const { return state_->at_the_same_time; }
    /// Live figures for diagnostic_updater.
    const LiveFigures &figures() const { return state_->figures; }

private:
    std::shared_ptr<State> state_;
};

/// A callback of a timer, subscription or service as a section of the loop whose cycle is under way on this thread. It
/// takes and returns what the callback does; a callable with several call operators (`auto` arguments, `std::bind`) has
/// to be written as a lambda with types.
template <typename Callback>
detail::Sectioned<Callback> timed(std::string name, Callback callback) {
    return {std::move(name), std::move(callback)};
}

/// Lives in the loop and carries out an executor's callbacks in each cycle, as the section `callbacks`; until the
/// recording is over or `ok` says no: `spin(loop, executor, [] { return rclcpp::ok(); })`.
template <typename Executor, typename Ok>
void spin(Loop &loop, Executor &executor, Ok ok) {
    const auto callbacks = loop.section("callbacks");
    while (ok() && loop.wait()) {
        {
            const auto timed = loop.timed(callbacks);
            executor.spin_some();
        }
        loop.finish();
    }
}

/// The instant at which a chain from topic to topic began, in nanoseconds on the clock of its stamps. Whoever passes a
/// message on passes the stamp of what it came from, unchanged: it is the chain's identity.
template <typename Stamp>
std::int64_t origin_ns(const Stamp &stamp) {
    return static_cast<std::int64_t>(stamp.sec) * 1'000'000'000 + static_cast<std::int64_t>(stamp.nanosec);
}

/// The end of a chain, within a cycle: what passed since its origin is a value of the cycle, in microseconds.
/// `now_ns` is on the clock of the stamps: `wakepath::ros2::chain_ends(loop, "camera to motor", message.header.stamp,
/// now().nanoseconds())`. Where the name ends with a limit in microseconds, "camera to motor <= 20000", the run says how
/// often it was exceeded. Returns it in nanoseconds.
template <std::size_t Bytes, typename Stamp>
std::int64_t chain_ends(Loop &loop, const char (&name)[Bytes], const Stamp &stamp, std::int64_t now_ns) {
    const std::int64_t passed_ns = now_ns - origin_ns(stamp);
    loop.value(name, static_cast<double>(passed_ns) / 1e3);
    return passed_ns;
}

}  // namespace wakepath::ros2

#endif
