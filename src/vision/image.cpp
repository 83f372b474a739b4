#include "vision/image.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <span>

#include "base/atomic_file.h"
#include "base/failure.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "vision/image_header.h"

namespace lapilli {
namespace {

void check_header(std::span<const std::byte> file, const DecodeLimits& limits) {
  const std::optional<ImageHeader> header = read_image_header(file);
  if (!header) {
    fail(ErrorCode::unsupported,
         "not an image that Lapilli reads: PNG, JPEG, JPEG 2000, WebP, BMP, TIFF and PNM are");
  }
  if (!header->complete) {
    fail(ErrorCode::invalid_argument, "the {} file ends before its picture does", header->format);
  }
  if (header->width == 0 || header->height == 0) {
    fail(ErrorCode::invalid_argument, "the {} file says that its picture is {} x {}", header->format, header->width,
         header->height);
  }
  // Both are below 2^32, so the product fits.
  if (header->width * header->height > limits.pixels) {
    fail(ErrorCode::limit_exceeded, "the picture is {} x {}, and {} pixels are the limit", header->width,
         header->height, limits.pixels);
  }
}

cv::Mat decode_pixels(std::span<const std::byte> file) {
  const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8UC1,
                      const_cast<std::byte*>(file.data()));  // cv::Mat has no view of const
  try {
    return cv::imdecode(bytes, cv::IMREAD_COLOR);
  } catch (const cv::Exception& error) {
    fail(ErrorCode::invalid_argument, "the picture cannot be decoded: {}", error.err);
  }
}

}  // namespace

Image decode_image(std::span<const std::byte> file, const DecodeLimits& limits) {
  if (file.size() > limits.file_bytes) {
    fail(ErrorCode::limit_exceeded, "the file has {}, and {} are the limit", byte_text(file.size()),
         byte_text(limits.file_bytes));
  }
  check_header(file, limits);
  const cv::Mat decoded = decode_pixels(file);
  if (decoded.empty() || decoded.type() != CV_8UC3) {
    fail(ErrorCode::invalid_argument, "the picture cannot be decoded: its data are damaged");
  }
  Image image{.width = decoded.cols, .height = decoded.rows, .pixels = {}};
  image.pixels.resize(decoded.total() * 3);
  cv::Mat target(decoded.rows, decoded.cols, CV_8UC3, image.pixels.data());
  cv::cvtColor(decoded, target, cv::COLOR_BGR2RGB);
  return image;
}

Image decode_image(const std::filesystem::path& path, const DecodeLimits& limits) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return with_context(path.string(), [&] { return decode_image(file->bytes(), limits); });
}

void write_image(const std::filesystem::path& path, const Image& image) {
  const std::string extension = path.extension().string();
  if (extension.empty() || !cv::haveImageWriter(path.string())) {
    fail(ErrorCode::invalid_argument, "{}: the name must end in .png, .jpg or another format that OpenCV writes",
         path.string());
  }
  cv::Mat pixels(image.height, image.width, CV_8UC3);
  const cv::Mat source(image.height, image.width, CV_8UC3,
                       const_cast<std::uint8_t*>(image.pixels.data()));  // as above
  cv::cvtColor(source, pixels, cv::COLOR_RGB2BGR);
  std::vector<std::uint8_t> encoded;
  if (!cv::imencode(extension, pixels, encoded)) {
    fail(ErrorCode::input_output, "{}: a picture of {} x {} could not be encoded", path.string(), image.width,
         image.height);
  }
  write_atomically(path, std::as_bytes(std::span(encoded)));
}

}  // namespace lapilli
