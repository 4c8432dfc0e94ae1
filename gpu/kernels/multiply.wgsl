// The product of two square matrices of 512 rows, one invocation for each element.

const SIZE: u32 = 512u;

@group(0) @binding(0) var<storage, read> left: array<f32, 262144>;
@group(0) @binding(1) var<storage, read> right: array<f32, 262144>;
@group(0) @binding(2) var<storage, read_write> product: array<f32, 262144>;

@compute @workgroup_size(16, 16)
fn multiply(@builtin(global_invocation_id) at: vec3<u32>) {
    var sum = 0.0;
    for (var k = 0u; k < SIZE; k++) {
        sum += left[at.y * SIZE + k] * right[k * SIZE + at.x];
    }
    product[at.y * SIZE + at.x] = sum;
}
