#version 450
// c = scale * a + b, with the count in a push constant and scale from the parameters.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint offset = 0;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
layout(binding = 3) uniform Parameters { vec4 scale; };
layout(push_constant) uniform Push { uint count; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) c[i] = scale.x * a[i] + b[i] + float(offset);
}
