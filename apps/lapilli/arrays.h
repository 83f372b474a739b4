#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/npz.h"
#include "lapilli/model.h"

namespace lapilli::program {

/// Arrays in an order, each with its name.
using ArrayList = std::vector<std::pair<std::string, Tensor>>;

/// Whether type, shape and every bit of the elements are the same.
bool same_elements(const Tensor& left, const Tensor& right);

/// A value as arrays. A tensor keeps its name; a map becomes NAME.keys and NAME.values; a sequence becomes NAME[0],
/// NAME[1], ... or, where its elements are maps with the same keys, one map with values for each of them, [elements,
/// keys]; an optional without content becomes nothing.
void add_arrays(const std::string& name, const Value& value, ArrayList& arrays);

/// The arrays that an input of the model is given as: its name, or those of a map.
std::vector<std::string> array_names(const PortDescription& port);

/// The input as a value, from arrays. Throws Error (invalid_argument) that names the array which is missing.
Value value_of(const PortDescription& port, const NamedTensors& arrays);

}  // namespace lapilli::program
