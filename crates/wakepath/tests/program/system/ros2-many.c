/* A node with a thousand timers of 100 ms: each is called back three times, one after the other. */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name, const char *space);
void ros_trace_rcl_timer_init(const void *timer, int64_t period);
void ros_trace_rclcpp_timer_callback_added(const void *timer, const void *callback);
void ros_trace_rclcpp_timer_link_node(const void *timer, const void *node);
void ros_trace_callback_start(const void *callback, bool is_within_process);
void ros_trace_callback_end(const void *callback);

#define TIMER(number) ((const void *)(0x1000 + 16L * (number)))
#define CALLBACK(number) ((const void *)(0x100000 + 16L * (number)))

int main(void) {
    const void *node = (const void *)0x10;
    ros_trace_rcl_node_init(node, node, "many", "/");
    for (int number = 0; number < 1000; number++) {
        ros_trace_rcl_timer_init(TIMER(number), 100000000);
        ros_trace_rclcpp_timer_callback_added(TIMER(number), CALLBACK(number));
        ros_trace_rclcpp_timer_link_node(TIMER(number), node);
    }
    for (int round = 0; round < 3; round++) {
        usleep(100000);
        for (int number = 0; number < 1000; number++) {
            ros_trace_callback_start(CALLBACK(number), false);
            ros_trace_callback_end(CALLBACK(number));
        }
    }
}
