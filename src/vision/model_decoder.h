#pragma once

#include "lapilli/image_decoder.h"
#include "vision/image.h"

namespace lapilli {

/// A ModelOptions::decode_image for the formats of decode_image. Pictures are turned as their EXIF data say. Throws
/// Error (limit_exceeded) past a limit.
ImageDecoder model_image_decoder(const DecodeLimits& limits = {});

}  // namespace lapilli
