#include "vision/drawing.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace lapilli {
namespace {

constexpr int narrowest_canvas = 320;
constexpr int font = cv::FONT_HERSHEY_DUPLEX;

/// One '?' for each character that the font lacks; the later bytes of a UTF-8 sequence go.
std::string drawable(const std::string& text) {
  std::string result;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7F) {
      result += character;
    } else if ((byte & 0xC0U) != 0x80U) {
      result += '?';
    }
  }
  return result;
}

int text_width(const std::string& text, double scale, int thickness) {
  return cv::getTextSize(text, font, scale, thickness, nullptr).width;
}

std::string cut_to_width(std::string text, int width, double scale, int thickness) {
  if (text_width(text, scale, thickness) <= width) return text;
  while (!text.empty() && text_width(text + "...", scale, thickness) > width) text.pop_back();
  return text + "...";
}

}  // namespace

Image draw_caption(const Image& image, std::span<const std::string> lines) {
  const int width = std::max(image.width, narrowest_canvas);
  const double scale = std::max(0.5, width / 800.0);
  const int thickness = std::max(1, static_cast<int>(scale * 1.5));
  const int line_height = static_cast<int>(32 * scale);
  const int margin = line_height / 3;
  const int bar = lines.empty() ? 0 : static_cast<int>(lines.size()) * line_height + 2 * margin;

  cv::Mat canvas(image.height + bar, width, CV_8UC3, cv::Scalar(24, 24, 24));
  const cv::Mat picture(image.height, image.width, CV_8UC3,
                        const_cast<std::uint8_t*>(image.pixels.data()));  // cv::Mat has no view of const
  picture.copyTo(canvas(cv::Rect((width - image.width) / 2, 0, image.width, image.height)));
  int baseline = image.height + margin + static_cast<int>(24 * scale);
  for (const std::string& line : lines) {
    cv::putText(canvas, cut_to_width(drawable(line), width - 2 * margin, scale, thickness), {margin, baseline}, font,
                scale, cv::Scalar(255, 255, 255), thickness, cv::LINE_AA);
    baseline += line_height;
  }
  return {.width = canvas.cols, .height = canvas.rows, .pixels = {canvas.datastart, canvas.dataend}};
}

}  // namespace lapilli
