#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::program {

enum class Style : std::uint8_t { plain, bold, dim, good, bad };

/// The text in a style where stdout is a terminal that shows colours, and as it is elsewhere.
std::string styled(std::string_view text, Style style);

/// Rows of cells in columns as wide as their widest cell, numbers to the right.
class Table {
 public:
  /// `right` has the columns whose cells are numbers.
  explicit Table(std::vector<std::string> headings, std::vector<std::size_t> right = {});

  void add(std::vector<std::string> cells);
  /// Cells longer than this are cut in their middle; 0: none are.
  void limit_width(std::size_t most) { most_ = most; }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first has the headings
  std::vector<std::size_t> right_;
  std::size_t most_ = 0;
};

/// Says on stderr what a person waits for, and takes it back when it is done. Silent where stderr is no terminal.
class Progress {
 public:
  explicit Progress(std::string_view what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
};

/// "1.23 G", for counts of operations and parameters.
std::string count_text(double count);

/// A text for one line of a terminal: control characters are replaced.
std::string one_line(std::string_view text);

}  // namespace lapilli::program
