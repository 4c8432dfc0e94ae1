/* A plug-in with a controller. */
int _ZN3arm3Pid6updateERKN6rclcpp4TimeERKNS2_8DurationE(void *of, void *time, void *period) {
    __asm__ volatile("" ::: "memory");
    return 0;
}
