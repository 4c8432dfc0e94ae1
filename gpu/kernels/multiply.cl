// The product of two square matrices of 512 rows, one work item for each element.

#define SIZE 512

kernel void multiply(global const float *left, global const float *right, global float *product)
{
    const size_t column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < SIZE; k++)
        sum += left[row * SIZE + k] * right[k * SIZE + column];
    product[row * SIZE + column] = sum;
}
