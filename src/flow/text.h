#pragma once

#include <string_view>

#include "flow/host_call.h"

namespace lapilli {

constexpr std::string_view strings_reason = "strings are the host's";

/// The elements as another type, strings too. Real numbers read as NumPy prints them, with the fewest digits that
/// give them back, but for ONNX's own literals "NaN", "INF" and "-INF"; bool reads "True" and "False". Throws Error
/// (invalid_argument) for text that is no number.
Tensor cast_elements(const Tensor& tensor, DType dtype);

/// Cast and CastLike from strings or to them.
void cast_text(HostCall& call);
void cast_text_like(HostCall& call);

/// StringNormalizer. Letters of all languages change their case one by one, whatever the locale.
void normalize_text(HostCall& call);

/// TfIdfVectorizer, of strings and of integers.
void vectorize_text(HostCall& call);

/// UniquePadded (src/import/onnx/expand.cpp) of strings, which are ordered byte by byte.
void unique_text(HostCall& call);

}  // namespace lapilli
