// A 100 Hz autopilot that writes a log line in each cycle, in one of three ways: by itself, through a thread of
// its own, or through another process. The same controller as autopilot.py; what differs is who waits for the disk.
//
//     wakepath record -- ./autopilot --logging synchronous|thread|process [--log FILE]

#include <wakepath.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

/// Lines between two waits for the disk: what the log may lose with the battery, a second.
constexpr unsigned LINES_A_SYNC = 100;
constexpr std::size_t LINE_BYTES = 256;

struct Line {
    std::size_t length;
    std::array<char, LINE_BYTES> text;
};

/// The log on its disk. The same for all three ways.
class File {
public:
    explicit File(const std::string &path)
        : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) {
            throw std::runtime_error(path + ": " + std::strerror(errno));
        }
    }
    ~File() { close(descriptor_); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    void write(const Line &line) {
        if (::write(descriptor_, line.text.data(), line.length) < 0) {
            throw std::runtime_error(std::string("the log: ") + std::strerror(errno));
        }
        if (++lines_ % LINES_A_SYNC == 0) {
            fdatasync(descriptor_);
        }
    }

private:
    int descriptor_;
    unsigned lines_ = 0;
};

class Log {
public:
    virtual ~Log() = default;
    virtual void write(const Line &line) = 0;
    /// Lines that found no room: the loop waits for nobody.
    virtual unsigned long dropped() const { return 0; }
};

/// The loop writes, and waits for the disk itself.
class Synchronous final : public Log {
public:
    explicit Synchronous(const std::string &path) : file_(path) {}
    void write(const Line &line) override { file_.write(line); }

private:
    File file_;
};

/// A thread of the same process writes.
class Thread final : public Log {
public:
    explicit Thread(const std::string &path) : file_(path), writer_([this] { run(); }) {}
    ~Thread() override {
        over_.store(true, std::memory_order_release);
        writer_.join();
    }
    void write(const Line &line) override {
        const auto next = written_.load(std::memory_order_relaxed);
        if (next - read_.load(std::memory_order_acquire) == lines_.size()) {
            ++dropped_;
            return;
        }
        lines_[next % lines_.size()] = line;
        written_.store(next + 1, std::memory_order_release);
    }
    unsigned long dropped() const override { return dropped_; }

private:
    void run() {
        for (;;) {
            const bool last = over_.load(std::memory_order_acquire);
            auto next = read_.load(std::memory_order_relaxed);
            while (next != written_.load(std::memory_order_acquire)) {
                file_.write(lines_[next % lines_.size()]);
                read_.store(++next, std::memory_order_release);
            }
            if (last) {
                return;
            }
            std::this_thread::sleep_for(5ms);
        }
    }

    File file_;
    std::array<Line, 1024> lines_{};
    std::atomic<std::size_t> written_{0}, read_{0};
    std::atomic<bool> over_{false};
    unsigned long dropped_ = 0;
    std::thread writer_;  // the last: it uses all of the others
};

/// Another process writes, at a lower priority; each line goes to it as a datagram.
class Process final : public Log {
public:
    explicit Process(const std::string &path) {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
        }
        // Before the loop is made: a child then has nothing of it.
        writer_ = fork();
        if (writer_ < 0) {
            throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
        }
        if (writer_ == 0) {
            close(ends[1]);
            _exit(run(path, ends[0]));
        }
        close(ends[0]);
        socket_ = ends[1];
    }
    ~Process() override {
        close(socket_);
        waitpid(writer_, nullptr, 0);
    }
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    void write(const Line &line) override {
        if (send(socket_, line.text.data(), line.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            ++dropped_;
        }
    }
    unsigned long dropped() const override { return dropped_; }

private:
    static int run(const std::string &path, int socket) {
        if (nice(5) == -1) {
            std::perror("nice");
        }
        try {
            File file(path);
            Line line{};
            for (ssize_t length; (length = recv(socket, line.text.data(), LINE_BYTES, 0)) > 0;) {
                line.length = static_cast<std::size_t>(length);
                file.write(line);
            }
            return 0;
        } catch (const std::exception &error) {
            std::fprintf(stderr, "%s\n", error.what());
            return 1;
        }
    }

    pid_t writer_ = -1;
    int socket_ = -1;
    unsigned long dropped_ = 0;
};

/// Roll, pitch and yaw: a filter, a controller in cascade, and the craft that they fly, in place of a sensor head.
class Autopilot {
public:
    void sense() {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double gust = std::sin(0.013 * static_cast<double>(cycle_) * static_cast<double>(axis + 1));
            rate_[axis] += 0.01 * (8.0 * command_[axis] - 1.5 * rate_[axis] + gust);
            angle_[axis] += 0.01 * rate_[axis];
        }
        ++cycle_;
    }

    /// A covariance of 15 states goes one step on: what takes the time in such a filter.
    void filter() {
        constexpr std::size_t STATES = 15;
        std::array<std::array<double, STATES>, STATES> next{};
        for (std::size_t row = 0; row < STATES; ++row) {
            for (std::size_t column = 0; column < STATES; ++column) {
                double sum = row == column ? 0.001 : 0.0;
                for (std::size_t at = 0; at < STATES; ++at) {
                    sum += (row == at ? 0.9 : 0.005) * covariance_[at][column];
                }
                next[row][column] = sum;
            }
        }
        covariance_ = next;
        const double gain = covariance_[0][0] / (covariance_[0][0] + 0.01);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            estimate_[axis] += gain * (angle_[axis] - estimate_[axis]);
        }
    }

    void control() {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double wanted_rate = 2.0 * (0.1 * static_cast<double>(axis) - estimate_[axis]);
            const double error = wanted_rate - rate_[axis];
            integral_[axis] += 0.01 * error;
            command_[axis] = 0.6 * error + 0.3 * integral_[axis];
        }
    }

    Line line() const {
        Line line{};
        const int length = std::snprintf(
            line.text.data(), LINE_BYTES,
            "%llu angle %.6f %.6f %.6f rate %.6f %.6f %.6f command %.6f %.6f %.6f covariance %.9f\n",
            static_cast<unsigned long long>(cycle_), angle_[0], angle_[1], angle_[2], rate_[0], rate_[1], rate_[2],
            command_[0], command_[1], command_[2], covariance_[0][0]);
        line.length = length < 0 ? 0 : std::min(static_cast<std::size_t>(length), LINE_BYTES - 1);
        return line;
    }

private:
    using Axes = std::array<double, 3>;
    unsigned long long cycle_ = 0;
    Axes angle_{}, rate_{}, estimate_{}, integral_{}, command_{};
    std::array<std::array<double, 15>, 15> covariance_{};
};

struct Options {
    std::string logging = "synchronous";
    std::string log = "autopilot.log";
};

Options read(int count, char **words) {
    Options options;
    for (int at = 1; at < count; ++at) {
        const std::string word = words[at];
        if (at + 1 < count && word == "--logging") {
            options.logging = words[++at];
        } else if (at + 1 < count && word == "--log") {
            options.log = words[++at];
        } else {
            throw std::runtime_error(word + ": give --logging synchronous|thread|process, --log FILE");
        }
    }
    return options;
}

std::unique_ptr<Log> log_of(const Options &options) {
    if (options.logging == "synchronous") {
        return std::make_unique<Synchronous>(options.log);
    }
    if (options.logging == "thread") {
        return std::make_unique<Thread>(options.log);
    }
    if (options.logging == "process") {
        return std::make_unique<Process>(options.log);
    }
    throw std::runtime_error("--logging " + options.logging + ": give synchronous, thread or process");
}

}  // namespace

int main(int count, char **words) {
    try {
        // Thread and process are there before the loop's thread is prepared: neither has its policy.
        const auto log = log_of(read(count, words));
        std::cerr << wakepath::prepare(wakepath::Other{});
        Autopilot autopilot;
        {
            wakepath::Loop loop("autopilot", 10ms);
            const auto filter = loop.section("filter");
            const auto control = loop.section("control");
            const auto logging = loop.section("logging");
            loop.run([&](const wakepath_cycle &) {
                autopilot.sense();
                {
                    const auto timed = loop.timed(filter);
                    autopilot.filter();
                }
                {
                    const auto timed = loop.timed(control);
                    autopilot.control();
                }
                const auto timed = loop.timed(logging);
                log->write(autopilot.line());
            });
        }
        std::cout << "lines dropped: " << log->dropped() << std::endl;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
