#include <lapilli/tensor.h>

int main() { return lapilli::Tensor::allocate(lapilli::DType::float32, {2, 3, 4}).element_count() == 24 ? 0 : 1; }
