#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// Checks that every node has as many inputs and outputs as its operator takes, all attributes that it needs and no
/// others, each of its type, and numbers that are flags, counts or types as such. Nodes of operators and functions
/// that are not ONNX's are left to others. Throws Error (invalid_model) that names node and attribute.
void check_signatures(const Model& model);

/// The version of its domain with which the node's operator came; nothing where it is not ONNX's.
std::optional<std::int64_t> first_version(const Node& node);

/// What operators take. After a line "domain NAME" one line for each version that differs from the one before:
/// "OPERATOR SINCE INPUTS OUTPUTS ATTRIBUTE:KIND ...", INPUTS and OUTPUTS "least-most" or "least-", with "!" behind
/// what has to be there; it goes on in lines that begin with a space. Kinds: f, i, s, t, g, p, y for a number, an
/// integer, a string, a tensor, a graph, a sparse tensor, a type; F, I, S, T for lists; and b for 0 or 1, n for a
/// positive integer, d for a floating-point type's code, e for a number that is finite and not negative.
std::string_view signature_table();

}  // namespace lapilli::onnx
