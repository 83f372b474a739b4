#include "vulkan/specialize.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "vulkan/spirv.h"

namespace lapilli {
namespace {

using spirv::header_words;
using spirv::Id;
using spirv::instructions_of;
using spirv::opcode;
using spirv::Words;

enum Op : std::uint32_t {
  op_source_continued = 2,
  op_member_name = 6,
  op_string = 7,
  op_line = 8,
  op_constant_true = 41,
  op_constant_false = 42,
  op_constant = 43,
  op_spec_constant_true = 48,
  op_spec_constant_false = 49,
  op_spec_constant = 50,
  op_spec_constant_op = 52,
  op_function = 54,
  op_function_end = 56,
  op_function_call = 57,
  op_variable = 59,
  op_decorate = 71,
  op_phi = 245,
  op_loop_merge = 246,
  op_selection_merge = 247,
  op_label = 248,
  op_branch = 249,
  op_branch_conditional = 250,
  op_switch = 251,
  op_unreachable = 255,
  op_no_line = 317,
  op_module_processed = 330,
};
enum Decoration : std::uint32_t {
  relaxed_precision = 0,
  specialization_id = 1,
  non_writable = 24,
  no_contraction = 42
};

// An operation of OpSpecConstantOp on 32 bits or on bool, 0 or 1; nothing for those that kernels do not use.
std::optional<std::uint32_t> fold(std::uint32_t operation, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  switch (operation) {
    case 128: return a + b;                                           // IAdd
    case 130: return a - b;                                           // ISub
    case 132: return a * b;                                           // IMul
    case 134: return b == 0 ? std::nullopt : std::optional(a / b);    // UDiv
    case 137: return b == 0 ? std::nullopt : std::optional(a % b);    // UMod
    case 164:                                                         // LogicalEqual
    case 170: return a == b ? 1 : 0;                                  // IEqual
    case 165:                                                         // LogicalNotEqual
    case 171: return a != b ? 1 : 0;                                  // INotEqual
    case 166:                                                         // LogicalOr
    case 197: return a | b;                                           // BitwiseOr
    case 167:                                                         // LogicalAnd
    case 199: return a & b;                                           // BitwiseAnd
    case 168: return a == 0 ? 1 : 0;                                  // LogicalNot
    case 169: return a != 0 ? b : c;                                  // Select
    case 172: return a > b ? 1 : 0;                                   // UGreaterThan
    case 174: return a >= b ? 1 : 0;                                  // UGreaterThanEqual
    case 176: return a < b ? 1 : 0;                                   // ULessThan
    case 178: return a <= b ? 1 : 0;                                  // ULessThanEqual
    case 194: return b >= 32 ? std::nullopt : std::optional(a >> b);  // ShiftRightLogical
    case 196: return b >= 32 ? std::nullopt : std::optional(a << b);  // ShiftLeftLogical
    default: return std::nullopt;
  }
}

// The numbers that constants of 32 bits or of type bool have.
class Constants {
 public:
  Constants(std::span<const Words> instructions, std::span<const std::uint32_t> values) {
    for (const Words words : instructions) read(words, values);
  }

  [[nodiscard]] std::optional<std::uint32_t> find(Id id) const {
    const auto found = known_.find(id);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void read(Words words, std::span<const std::uint32_t> values) {
    const auto specialized = [&](std::uint32_t otherwise) {
      const auto number = numbers_.find(words[2]);
      return number != numbers_.end() && number->second < values.size() ? values[number->second] : otherwise;
    };
    switch (opcode(words)) {
      case op_decorate:
        if (words[2] == specialization_id) numbers_[words[1]] = words[3];
        break;
      case op_constant_true: known_[words[2]] = 1; break;
      case op_constant_false: known_[words[2]] = 0; break;
      case op_constant:
        if (words.size() == 4) known_[words[2]] = words[3];
        break;
      case op_spec_constant_true: known_[words[2]] = specialized(1) != 0 ? 1 : 0; break;
      case op_spec_constant_false: known_[words[2]] = specialized(0) != 0 ? 1 : 0; break;
      case op_spec_constant:
        if (words.size() == 4) known_[words[2]] = specialized(words[3]);
        break;
      case op_spec_constant_op: read_operation(words); break;
      default: break;
    }
  }

  void read_operation(Words words) {
    std::array<std::uint32_t, 3> arguments{};
    if (words.size() > 4 + arguments.size()) return;
    for (std::size_t i = 4; i < words.size(); ++i) {
      const auto value = find(words[i]);
      if (!value) return;
      arguments[i - 4] = *value;
    }
    if (const auto result = fold(words[3], arguments[0], arguments[1], arguments[2])) known_[words[2]] = *result;
  }

  std::map<Id, std::uint32_t> numbers_;  // constant_id of each specialization constant
  std::map<Id, std::uint32_t> known_;
};

struct Block {
  std::vector<Words> body;      // from the label on, without merge and terminator
  std::vector<Words> ending;    // merge, if any, and terminator
  std::vector<Id> successors;   // where it branches to
  std::vector<Id> merges;       // blocks that its merge instruction names; of a loop the second one continues it
  std::optional<Id> only_next;  // the branch that is left of a decided selection
  bool reached = false;

  [[nodiscard]] Id label() const { return body.front()[1]; }
};

class Function {
 public:
  Function(std::span<const Words> instructions, const Constants& constants) {
    std::size_t i = 0;
    while (opcode(instructions[i]) != op_label) head_.push_back(instructions[i++]);
    while (opcode(instructions[i]) != op_function_end) {
      Block block;
      block.body.push_back(instructions[i++]);
      while (opcode(instructions[i]) != op_label && opcode(instructions[i]) != op_function_end) {
        const bool ends = !block.ending.empty() || is_ending(opcode(instructions[i]));
        (ends ? block.ending : block.body).push_back(instructions[i++]);
      }
      find_successors(block);
      places_[block.label()] = blocks_.size();
      blocks_.push_back(std::move(block));
    }
    decide(constants);
    reach();
  }

  [[nodiscard]] Id id() const { return head_.front()[2]; }

  // The functions that its remaining blocks call.
  [[nodiscard]] std::set<Id> calls() const {
    std::set<Id> ids;
    for (const Block& block : blocks_) {
      if (!block.reached) continue;
      for (const Words words : block.body) {
        if (opcode(words) == op_function_call) ids.insert(words[3]);
      }
    }
    return ids;
  }

  void write(std::vector<std::uint32_t>& output) const {
    const auto append = [&](Words words) { output.insert(output.end(), words.begin(), words.end()); };
    const auto branch = [&](Id to) { output.insert(output.end(), {2U << 16U | op_branch, to}); };
    for (const Words words : head_) append(words);
    for (const Block& block : blocks_) {
      if (block.reached) {
        for (const Words words : block.body)
          opcode(words) == op_phi ? write_phi(block, words, output) : append(words);
        if (block.only_next) {
          branch(*block.only_next);
        } else {
          for (const Words words : block.ending) append(words);
        }
      } else if (const auto named = named_by_.find(block.label()); named != named_by_.end()) {
        // Nothing gets there, but a merge instruction names it.
        append(block.body.front());
        if (named->second) {
          branch(*named->second);
        } else {
          output.push_back(1U << 16U | op_unreachable);
        }
      }
    }
    output.push_back(1U << 16U | op_function_end);
  }

 private:
  static bool is_ending(std::uint32_t op) { return op >= op_loop_merge && op <= op_unreachable && op != op_label; }

  static void find_successors(Block& block) {
    const Words merge = block.ending.front(), last = block.ending.back();
    if (opcode(merge) == op_selection_merge) block.merges = {merge[1]};
    if (opcode(merge) == op_loop_merge) block.merges = {merge[1], merge[2]};
    if (opcode(last) == op_branch) block.successors = {last[1]};
    if (opcode(last) == op_branch_conditional) block.successors = {last[2], last[3]};
    if (opcode(last) == op_switch) {
      block.successors = {last[2]};
      for (std::size_t i = 4; i < last.size(); i += 2) block.successors.push_back(last[i]);
    }
  }

  // Leaves of each selection with a known condition the branch that is taken.
  void decide(const Constants& constants) {
    const std::set<Id> left_early = find_early_exits();
    for (Block& block : blocks_) {
      const Words last = block.ending.back();
      const bool selects =
          opcode(block.ending.front()) == op_selection_merge && opcode(last) == op_branch_conditional;
      if (!selects || left_early.contains(block.merges[0])) continue;
      if (const auto condition = constants.find(last[1])) {
        block.only_next = *condition != 0 ? last[2] : last[3];
        block.successors = {*block.only_next};
        block.merges.clear();
      }
    }
  }

  // Where conditional branches go that are not the head of that selection: its merge has to stay for them.
  [[nodiscard]] std::set<Id> find_early_exits() const {
    std::set<Id> exits;
    for (const Block& block : blocks_) {
      if (block.successors.size() < 2) continue;
      for (const Id next : block.successors) {
        if (!std::ranges::contains(block.merges, next)) exits.insert(next);
      }
    }
    return exits;
  }

  void reach() {
    std::vector<std::size_t> waiting{0};
    while (!waiting.empty()) {
      Block& block = blocks_[waiting.back()];
      waiting.pop_back();
      if (block.reached) continue;
      block.reached = true;
      for (const Id next : block.successors) {
        predecessors_[next].insert(block.label());
        waiting.push_back(places_.at(next));
      }
    }
    for (const Block& block : blocks_) {
      if (!block.reached) continue;
      for (std::size_t i = 0; i < block.merges.size(); ++i) {
        named_by_[block.merges[i]] = i == 1 ? std::optional(block.label()) : std::nullopt;
      }
    }
  }

  void write_phi(const Block& block, Words words, std::vector<std::uint32_t>& output) const {
    const std::size_t start = output.size();
    output.insert(output.end(), words.begin(), words.begin() + 3);
    const auto from = predecessors_.find(block.label());
    for (std::size_t i = 3; i + 1 < words.size(); i += 2) {
      const auto named = named_by_.find(words[i + 1]);
      if (from != predecessors_.end() && from->second.contains(words[i + 1])) {
        output.insert(output.end(), {words[i], words[i + 1]});
      } else if (named != named_by_.end() && named->second == block.label()) {
        output.insert(output.end(), {words[2], words[i + 1]});  // nothing comes from there: any value will do
      }
    }
    output[start] = static_cast<std::uint32_t>(output.size() - start) << 16U | op_phi;
  }

  std::vector<Words> head_;  // OpFunction and parameters
  std::vector<Block> blocks_;
  std::map<Id, std::size_t> places_;
  std::map<Id, std::set<Id>> predecessors_;
  std::map<Id, std::optional<Id>> named_by_;  // of what continues a loop: its header
};

bool is_debugging(std::uint32_t op) {
  return (op >= op_source_continued && op <= op_member_name) || op == op_string || op == op_line ||
         op == op_no_line || op == op_module_processed;
}

// The entry points and what they call, however deep.
std::vector<const Function*> needed(const std::vector<Function>& functions, const std::set<Id>& entry_points) {
  std::set<Id> ids = entry_points;
  std::vector<const Function*> result;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Function& function : functions) {
      if (!ids.contains(function.id()) || std::ranges::contains(result, &function)) continue;
      result.push_back(&function);
      ids.merge(function.calls());
      changed = true;
    }
  }
  return result;
}

}  // namespace

std::vector<std::uint32_t> without_dead_branches(Words spirv, std::span<const std::uint32_t> values) {
  constexpr std::uint32_t op_entry_point = 15;
  const std::vector<Words> all = instructions_of(spirv);
  const auto first = std::ranges::find_if(all, [](Words words) { return opcode(words) == op_function; });
  const std::span<const Words> global(all.begin(), first);
  const Constants constants(global, values);
  std::vector<Function> functions;
  for (auto begin = first; begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [](Words words) { return opcode(words) == op_function_end; });
    functions.emplace_back(std::span<const Words>(begin, end + 1), constants);
    begin = end + 1;
  }
  std::set<Id> entry_points;
  for (const Words words : global) {
    if (opcode(words) == op_entry_point) entry_points.insert(words[2]);
  }
  std::vector<std::uint32_t> code;
  for (const Function* function : needed(functions, entry_points)) function->write(code);

  // What is used is defined, so an id that is named here as a result or an argument is still there.
  std::set<Id> there;
  for (std::size_t at = 0; at < code.size(); at += code[at] >> 16U) {
    if (code[at] >> 16U > 2) there.insert(code[at + 2]);
  }
  for (const Words words : global) {
    if (opcode(words) == op_variable) there.insert(words[2]);
  }
  std::vector<std::uint32_t> result(spirv.begin(), spirv.begin() + header_words);
  for (const Words words : global) {
    // Constant tables are variables of functions, which are not written.
    const bool of_a_result =
        opcode(words) == op_decorate &&
        (words[2] == no_contraction || words[2] == relaxed_precision || words[2] == non_writable);
    if (is_debugging(opcode(words)) || (of_a_result && !there.contains(words[1]))) continue;
    result.insert(result.end(), words.begin(), words.end());
  }
  result.insert(result.end(), code.begin(), code.end());
  return result;
}

}  // namespace lapilli
