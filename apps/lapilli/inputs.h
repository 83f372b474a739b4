#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrays.h"
#include "lapilli/model.h"

namespace lapilli::program {

/// Reads arrays for the inputs of a model, each text one of: NAME=FILE, FILE.npz with arrays of the inputs' names
/// ("in:" before a name is left out), or FILE for a model with one input. Files are .npy, .npz with one array, or .pb
/// (ONNX's TensorProto). Maps are given as two arrays (array_names). Throws Error that names the file or the
/// input, which is given once.
NamedTensors read_inputs(const std::vector<std::string>& texts, const std::vector<PortDescription>& ports);

/// Made-up elements, the same on every machine for the same seed and name: floats of the normal distribution, bool of
/// both kinds, uint8 of all values, other integers from 0 to 99.
Tensor random_tensor(const PortDescription& port, const Sizes& sizes, std::uint64_t seed);

/// All inputs of the model, by name: those that are given, and random ones for the others. Sizes that follow from the
/// given ones count, then `sizes`, then 1.
NamedTensors complete_inputs(NamedTensors given, const Model& model, Sizes sizes, std::uint64_t seed);

/// One run with arrays by name, with a word on stderr while a person waits: the outputs in their order (add_arrays).
ArrayList run_once(const Model& model, Context& context, const NamedTensors& inputs);

}  // namespace lapilli::program
