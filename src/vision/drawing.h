#pragma once

#include <span>
#include <string>

#include "vision/image.h"

namespace lapilli {

/// The picture with a dark bar below it that holds the lines in white. The letters grow with the picture; a line that
/// would be wider is cut, and a picture narrower than 320 pixels gets margins. Only ASCII can be drawn: other
/// characters appear as '?'.
Image draw_caption(const Image& image, std::span<const std::string> lines);

}  // namespace lapilli
