/* What a libtracetools.so exports, as far as `wakepath watch --ros2` records it: names and arguments are the real
 * one's, and each function does nothing, as the real one does without a tracing session. */
#include <stdbool.h>
#include <stdint.h>

#define NOTHING { __asm__ volatile("" ::: "memory"); }

void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name, const char *space) NOTHING
void ros_trace_rcl_timer_init(const void *timer, int64_t period) NOTHING
void ros_trace_rclcpp_timer_callback_added(const void *timer, const void *callback) NOTHING
void ros_trace_rclcpp_timer_link_node(const void *timer, const void *node) NOTHING
void ros_trace_rcl_subscription_init(const void *of, const void *node, const void *rmw, const char *topic, uint64_t depth) NOTHING
void ros_trace_rclcpp_subscription_init(const void *of, const void *object) NOTHING
void ros_trace_rclcpp_subscription_callback_added(const void *object, const void *callback) NOTHING
void ros_trace_rcl_publisher_init(const void *of, const void *node, const void *rmw, const char *topic, uint64_t depth) NOTHING
void ros_trace_rcl_client_init(const void *of, const void *node, const void *rmw, const char *service) NOTHING
void ros_trace_callback_start(const void *callback, bool is_within_process) NOTHING
void ros_trace_callback_end(const void *callback) NOTHING
void ros_trace_rmw_publish(const void *rmw, const void *message, int64_t stamp) NOTHING
void ros_trace_rmw_take(const void *rmw, const void *message, int64_t stamp, bool taken) NOTHING
