#include "vulkan/wide_integers.h"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/failure.h"
#include "vulkan/spirv.h"

namespace lapilli {
namespace {

using spirv::Id;
using spirv::opcode;
using spirv::Words;

enum Op : std::uint32_t {
  op_name = 5,
  op_member_name = 6,
  op_extended_import = 11,
  op_extended = 12,
  op_memory_model = 14,
  op_capability = 17,
  op_type_void = 19,
  op_type_bool = 20,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_array = 28,
  op_type_runtime_array = 29,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_type_function = 33,
  op_constant = 43,
  op_constant_composite = 44,
  op_spec_constant_composite = 51,
  op_spec_constant_op = 52,
  op_function = 54,
  op_function_end = 56,
  op_function_call = 57,
  op_variable = 59,
  op_store = 62,
  op_composite_extract = 81,
  op_convert_float_to_unsigned = 109,
  op_convert_float_to_signed = 110,
  op_convert_signed_to_float = 111,
  op_convert_unsigned_to_float = 112,
  op_convert_unsigned = 113,
  op_convert_signed = 114,
  op_bitcast = 124,
  op_copy_object = 83,
  op_logical_not = 168,
  op_loop_merge = 246,
  op_selection_merge = 247,
  op_label = 248,
  op_branch = 249,
  op_return = 253,
  op_unreachable = 255,
};
constexpr std::uint32_t capability_int64 = 11, no_id = 0;

bool is_type(std::uint32_t op) { return op >= op_type_void && op <= 39; }

bool has_result(std::uint32_t op) {
  const bool flow = op >= op_loop_merge && op <= op_unreachable;
  return !flow && op != op_store && op != 63 && op != 224 && op != 225 && op != 228 && op != op_function_end;
}

/// An instruction on 64-bit integers and the helper that stands for it.
struct Replacement {
  std::uint32_t op;
  std::string_view helper;
  bool swapped = false, negated = false;
  bool shifts = false;  // the second operand is a number of bits
};
constexpr std::array replacements{
    Replacement{126, "negate"},
    Replacement{128, "add"},
    Replacement{130, "subtract"},
    Replacement{132, "multiply"},
    Replacement{134, "unsigned_divide"},
    Replacement{135, "signed_divide"},
    Replacement{170, "is_equal"},
    Replacement{171, "is_equal", false, true},
    Replacement{172, "unsigned_less", true},
    Replacement{173, "signed_less", true},
    Replacement{174, "unsigned_less", false, true},
    Replacement{175, "signed_less", false, true},
    Replacement{176, "unsigned_less"},
    Replacement{177, "signed_less"},
    Replacement{178, "unsigned_less", true, true},
    Replacement{179, "signed_less", true, true},
    Replacement{194, "shift_right", false, false, true},
    Replacement{195, "shift_right_signed", false, false, true},
    Replacement{196, "shift_left", false, false, true},
};

/// Of GLSL.std.450.
constexpr std::array extended_replacements{
    Replacement{5, "absolute"},          Replacement{38, "unsigned_minimum"}, Replacement{39, "signed_minimum"},
    Replacement{41, "unsigned_maximum"}, Replacement{42, "signed_maximum"},   Replacement{44, "unsigned_clamp"},
    Replacement{45, "signed_clamp"},
};

/// What takes operands as they are, whether these are integers or two words: moves, and bit by bit.
constexpr std::array unchanged{1U, 54U, 55U, 57U, 59U, 61U, 65U, 169U, 197U, 198U, 199U, 200U, 245U};

std::string_view text_of(Words words) { return reinterpret_cast<const char*>(words.data()); }

/// The functions of the helper module.
class Helpers {
 public:
  explicit Helpers(Words spirv) : instructions_(spirv::instructions_of(spirv)) {
    std::map<Id, std::string> names;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const Words words = instructions_[i];
      if (opcode(words) == op_name) {
        // "add(vu2;vu2;"
        const std::string_view name = text_of(words.subspan(2));
        names[words[1]] = std::string(name.substr(0, name.find('(')));
      } else if (opcode(words) == op_extended_import) {
        globals_[words[1]] = words;
      } else if (is_type(opcode(words)) && functions_.empty()) {
        globals_[words[1]] = words;
      } else if (opcode(words) == op_function) {
        functions_[words[2]] = i;
        if (names.contains(words[2])) by_name_[names[words[2]]] = words[2];
      } else if (functions_.empty() && words.size() > 2 &&
                 ((opcode(words) >= 41 && opcode(words) <= 46) || opcode(words) == 1)) {
        globals_[words[2]] = words;
      }
    }
  }

  [[nodiscard]] Id find(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) fail(ErrorCode::internal, "there is no helper '{}' for 64-bit integers", name);
    return found->second;
  }
  /// A type, constant or import; nothing for ids of functions and what is in them.
  [[nodiscard]] std::optional<Words> global(Id id) const {
    const auto found = globals_.find(id);
    return found == globals_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool is_function(Id id) const { return functions_.contains(id); }
  [[nodiscard]] std::span<const Words> body(Id function) const {
    std::size_t end = functions_.at(function);
    const std::size_t begin = end;
    while (opcode(instructions_[end]) != op_function_end) ++end;
    return std::span(instructions_).subspan(begin, end + 1 - begin);
  }

 private:
  std::vector<Words> instructions_;
  std::map<Id, Words> globals_;
  std::map<Id, std::size_t> functions_;
  std::map<std::string, Id, std::less<>> by_name_;
};

/// Whether a word of an instruction is a number and no id.
bool is_literal(std::uint32_t op, std::size_t at) {
  switch (op) {
    case op_function:
    case op_variable:
    case op_loop_merge: return at == 3;
    case op_selection_merge:
    case op_type_pointer: return at == 2;
    case op_extended:
    case op_composite_extract: return at >= 4 && (op == op_composite_extract || at == 4);
    case 82: return at >= 5;  // OpCompositeInsert
    case op_type_int:
    case op_type_float: return at >= 2;
    case op_type_vector: return at == 3;
    case op_constant: return at >= 3;
    default: return false;
  }
}

class Lowering {
 public:
  Lowering(Words spirv, Words helpers) : spirv_(spirv), helpers_(helpers), bound_(spirv[spirv::bound_word]) {}

  std::vector<std::uint32_t> run() {
    const std::vector<Words> all = spirv::instructions_of(spirv_);
    find_types(all);
    for (const Words words : all) {
      if (opcode(words) == op_function) in_functions_ = true;
      in_functions_ ? lower(words) : lower_global(words);
    }
    std::vector<std::uint32_t> result(spirv_.begin(), spirv_.begin() + spirv::header_words);
    result[spirv::bound_word] = bound_;
    for (const auto* part : {&head_, &globals_, &code_, &helper_code_}) {
      result.insert(result.end(), part->begin(), part->end());
    }
    return result;
  }

 private:
  using Instruction = std::vector<std::uint32_t>;

  Id fresh() { return bound_++; }

  static void append(std::vector<std::uint32_t>& to, Instruction words) {
    words[0] = static_cast<std::uint32_t>(words.size()) << 16U | (words[0] & 0xFFFFU);
    to.insert(to.end(), words.begin(), words.end());
  }
  void emit(std::uint32_t op, Instruction operands) {
    operands.insert(operands.begin(), op);
    append(code_, std::move(operands));
  }

  void find_types(std::span<const Words> all) {
    for (const Words words : all) {
      if (opcode(words) == op_function) break;
      if (opcode(words) == op_type_float && words[2] == 64) floats64_.insert(words[1]);
      if (opcode(words) != op_type_int) continue;
      if (words[2] == 64) wide_.insert(words[1]);
      if (words[2] == 32) (words[3] == 0 ? unsigned_ : signed_) = words[1];
    }
    for (const Words words : all) {
      if (opcode(words) == op_type_vector && words[2] == unsigned_ && unsigned_ != no_id && words[3] == 2)
        pair_ = words[1];
    }
    for (Id* type : {&unsigned_, &signed_, &pair_}) {
      if (*type == no_id) *type = fresh();
    }
    declare(op_type_int, unsigned_, {32, 0});
    declare(op_type_int, signed_, {32, 1});
    declare(op_type_vector, pair_, {unsigned_, 2});
    for (const Id type : wide_) replaced_[type] = pair_;
  }

  void declare(std::uint32_t op, Id id, const Instruction& operands) {
    Instruction words{op, id};
    words.insert(words.end(), operands.begin(), operands.end());
    append(globals_, words);
    words.erase(words.begin() + 1);
    known_[words] = id;
  }

  [[nodiscard]] Id mapped(Id type) const {
    const auto found = replaced_.find(type);
    return found == replaced_.end() ? type : found->second;
  }

  // A word constant; the same one again for the same number.
  Id number(std::uint32_t value) {
    const auto [found, added] = numbers_.try_emplace(value, no_id);
    if (added) {
      found->second = fresh();
      append(globals_, {op_constant, unsigned_, found->second, value});
    }
    return found->second;
  }

  void lower_global(Words words) {
    const std::uint32_t op = opcode(words);
    Instruction copy(words.begin(), words.end());
    if ((op == op_capability && words[1] == capability_int64) || op == op_name || op == op_member_name) return;
    if (op == op_extended_import && text_of(words.subspan(2)) == "GLSL.std.450") extended_ = words[1];
    if (op == op_memory_model && extended_ == no_id) import_extended();
    if (is_type(op)) return lower_type(std::move(copy));
    const bool constant = (op >= 41 && op <= op_spec_constant_op) || op == op_variable || op == 1;
    if (!constant) return append(head_, std::move(copy));
    types_[words[2]] = words[1];
    copy[1] = mapped(copy[1]);
    if (!wide_.contains(words[1])) return append(globals_, std::move(copy));
    if (op == op_constant) {
      const Id low = number(words[3]), high = number(words[4]);
      return append(globals_, {op_constant_composite, pair_, words[2], low, high});
    }
    if (op == op_spec_constant_op) return lower_specialization(words);
    append(globals_, std::move(copy));
  }

  // A conversion of a specialization constant, which is all that kernels compute with 64 bits before they run.
  void lower_specialization(Words words) {
    const bool is_signed = words[3] == op_convert_signed;
    if (!is_signed && words[3] != op_convert_unsigned) {
      fail(ErrorCode::internal, "operation {} on specialization constants of 64 bits is not known", words[3]);
    }
    constexpr std::uint32_t add = 128, shift_right_signed = 195;
    const Id zero = number(0), sign_bit = number(31), low = fresh();
    append(globals_, {op_spec_constant_op, unsigned_, low, add, words[4], zero});
    Id high = zero;
    if (is_signed) {
      high = fresh();
      append(globals_, {op_spec_constant_op, unsigned_, high, shift_right_signed, words[4], sign_bit});
    }
    append(globals_, {op_spec_constant_composite, pair_, words[2], low, high});
  }

  void import_extended() {
    extended_ = fresh();
    constexpr std::string_view name = "GLSL.std.450";
    Instruction words(2 + name.size() / 4 + 1, 0);
    words[0] = op_extended_import;
    words[1] = extended_;
    std::memcpy(words.data() + 2, name.data(), name.size());
    append(head_, std::move(words));
  }

  void lower_type(Instruction words) {
    const std::uint32_t op = words[0] & 0xFFFFU;
    const Id id = words[1];
    if (wide_.contains(id) || id == unsigned_ || id == signed_ || id == pair_) return;
    if (op == op_type_vector && wide_.contains(words[2])) fail(ErrorCode::internal, "a vector of 64-bit integers");
    for (std::size_t i = 2; i < words.size(); ++i) {
      const bool length = op == op_type_array && i == 3;
      if (!is_literal(op, i) && !length) words[i] = mapped(words[i]);
    }
    Instruction key = words;
    key[0] = op;
    key.erase(key.begin() + 1);
    const bool unique = op < op_type_array || op == op_type_function;  // declared once only
    if (const auto found = known_.find(key); unique && found != known_.end()) {
      replaced_[id] = found->second;
      return;
    }
    // Structures may be decorated, and arrays are.
    if (op != op_type_struct && op != op_type_array && op != op_type_runtime_array) known_[key] = id;
    append(globals_, std::move(words));
  }

  [[nodiscard]] Id type_of(Id id) const {
    const auto found = types_.find(id);
    return found == types_.end() ? no_id : found->second;
  }
  [[nodiscard]] bool is_wide(Id id) const { return wide_.contains(type_of(id)); }

  void lower(Words words) {
    const std::uint32_t op = opcode(words);
    const bool typed = has_result(op) && op != op_label && words.size() > 2;
    if (typed) types_[words[2]] = words[1];
    Instruction copy(words.begin(), words.end());
    if (typed) copy[1] = mapped(copy[1]);
    if (op == op_function) copy[4] = mapped(copy[4]);
    const std::size_t first = op == op_extended ? 5 : 3;
    const bool computes = typed && op != op_function && op != op_variable && op != op_composite_extract;
    bool touches = computes && wide_.contains(words[1]);
    for (std::size_t i = first; computes && i < words.size(); ++i) touches = touches || is_wide(words[i]);
    if (!touches || std::ranges::contains(unchanged, op)) return append(code_, std::move(copy));
    if (op == op_bitcast || (op >= op_convert_float_to_unsigned && op <= op_convert_signed))
      return lower_conversion(words);
    lower_operation(words);
  }

  void lower_operation(Words words) {
    const bool extended = opcode(words) == op_extended;
    const std::uint32_t op = extended ? words[4] : opcode(words);
    const std::span<const Replacement> table =
        extended ? std::span<const Replacement>(extended_replacements) : std::span<const Replacement>(replacements);
    const auto found = std::ranges::find(table, op, &Replacement::op);
    if (found == table.end()) {
      fail(ErrorCode::internal, "instruction {} on 64-bit integers is not known", op);
    }
    const std::size_t first = extended ? 5 : 3;
    Instruction arguments(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
    if (found->shifts) arguments[1] = as_unsigned(arguments[1]);
    if (found->swapped) std::swap(arguments[0], arguments[1]);
    const Id type = mapped(words[1]);
    if (!found->negated) return call(found->helper, type, words[2], arguments);
    const Id opposite = fresh();
    call(found->helper, type, opposite, arguments);
    emit(op_logical_not, {type, words[2], opposite});
  }

  // The low word of anything.
  Id as_unsigned(Id value) {
    if (type_of(value) == unsigned_) return value;
    const Id result = fresh();
    if (is_wide(value)) {
      emit(op_composite_extract, {unsigned_, result, value, 0});
    } else {
      emit(op_bitcast, {unsigned_, result, value});
    }
    return result;
  }

  void lower_conversion(Words words) {
    const std::uint32_t op = opcode(words);
    const Id type = words[1], result = words[2], value = words[3];
    const bool to_wide = wide_.contains(type), from_wide = is_wide(value);
    if (op == op_bitcast) {
      const bool same = mapped(type) == mapped(type_of(value));
      return emit(same ? static_cast<std::uint32_t>(op_copy_object) : op, {mapped(type), result, value});
    }
    const bool from_float = op == op_convert_float_to_unsigned || op == op_convert_float_to_signed;
    const bool to_float = op == op_convert_signed_to_float || op == op_convert_unsigned_to_float;
    const bool is_signed =
        op == op_convert_float_to_signed || op == op_convert_signed_to_float || op == op_convert_signed;
    if (from_float || to_float) {
      const bool wide_float = floats64_.contains(from_float ? type_of(value) : type);
      const std::string_view kind = wide_float ? "double" : "float", sign = is_signed ? "signed" : "unsigned";
      const std::string helper =
          from_float ? std::format("{}_to_{}", kind, sign) : std::format("{}_to_{}", sign, kind);
      return call(helper, mapped(type), result, {value});
    }
    if (to_wide && from_wide) return emit(op_copy_object, {pair_, result, value});
    if (to_wide) return extend(is_signed, result, value);
    if (type == unsigned_) return emit(op_composite_extract, {unsigned_, result, value, 0});
    const Id low = as_unsigned(value);
    emit(type == signed_ ? static_cast<std::uint32_t>(op_bitcast) : op, {type, result, low});
  }

  void extend(bool is_signed, Id result, Id value) {
    const Id target = is_signed ? signed_ : unsigned_;
    Id word = value;
    if (type_of(value) != target) {
      word = fresh();
      const bool same_width = type_of(value) == signed_ || type_of(value) == unsigned_;
      const std::uint32_t narrow = is_signed ? op_convert_signed : op_convert_unsigned;
      emit(same_width ? static_cast<std::uint32_t>(op_bitcast) : narrow, {target, word, value});
    }
    call(is_signed ? "sign_extend" : "zero_extend", pair_, result, {word});
  }

  void call(std::string_view helper, Id type, Id result, const Instruction& arguments) {
    Instruction operands{type, result, import(helpers_.find(helper))};
    operands.insert(operands.end(), arguments.begin(), arguments.end());
    emit(op_function_call, std::move(operands));
  }

  // The id here of one of the helper module's; its function or declaration comes along.
  Id import(Id theirs) {
    if (const auto found = imported_.find(theirs); found != imported_.end()) return found->second;
    if (const auto declaration = helpers_.global(theirs)) return imported_[theirs] = import_global(*declaration);
    const Id ours = imported_[theirs] = fresh();
    if (!helpers_.is_function(theirs)) return ours;
    Instruction code;
    for (const Words words : helpers_.body(theirs)) {
      Instruction copy(words.begin(), words.end());
      for (std::size_t i = 1; i < copy.size(); ++i) {
        if (!is_literal(opcode(words), i)) copy[i] = import(copy[i]);
      }
      append(code, std::move(copy));
    }
    helper_code_.insert(helper_code_.end(), code.begin(), code.end());
    return ours;
  }

  Id import_global(Words words) {
    const std::uint32_t op = opcode(words);
    if (op == op_extended_import) return extended_;
    const std::size_t result = is_type(op) ? 1 : 2;
    Instruction copy(words.begin(), words.end());
    copy[0] = op;
    for (std::size_t i = 1; i < copy.size(); ++i) {
      if (i != result && !is_literal(op, i)) copy[i] = import(copy[i]);
    }
    Instruction key = copy;
    key.erase(key.begin() + static_cast<std::ptrdiff_t>(result));
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    copy[result] = fresh();
    known_[key] = copy[result];
    append(globals_, copy);
    return copy[result];
  }

  Words spirv_;
  Helpers helpers_;
  std::uint32_t bound_;
  std::set<Id> wide_, floats64_;
  Id unsigned_ = no_id, signed_ = no_id, pair_ = no_id, extended_ = no_id;
  std::map<Id, Id> replaced_;        // types
  std::map<Id, Id> types_;           // of what has one, as the module had it
  std::map<Instruction, Id> known_;  // declarations, without the id that they declare
  std::map<std::uint32_t, Id> numbers_;
  std::map<Id, Id> imported_;
  Instruction head_, globals_, code_, helper_code_;
  bool in_functions_ = false;
};

}  // namespace

std::vector<std::uint32_t> without_wide_integers(std::span<const std::uint32_t> spirv,
                                                 std::span<const std::uint32_t> helpers) {
  for (const Words words : spirv::instructions_of(spirv)) {
    if (opcode(words) != op_capability) break;
    if (words[1] == capability_int64) return Lowering(spirv, helpers).run();
  }
  return {spirv.begin(), spirv.end()};
}

}  // namespace lapilli
