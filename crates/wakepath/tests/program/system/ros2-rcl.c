/* What a librcl.so exports, as far as `wakepath watch --ros2` records it: a request or response is there if the second
 * argument is not NULL, else the result is rcl's for a failed take. */
int rcl_take_request_with_info(const void *service, void *header, void *request);
int rcl_take_response_with_info(const void *client, void *header, void *response);

int rcl_take_request_with_info(const void *service, void *header, void *request) {
    __asm__ volatile("" : : "r"(service), "r"(request) : "memory");
    return header != 0 ? 0 : 601;
}

int rcl_take_response_with_info(const void *client, void *header, void *response) {
    __asm__ volatile("" : : "r"(client), "r"(response) : "memory");
    return header != 0 ? 0 : 501;
}
