#!/usr/bin/env bash
# The rules that a machine can check: format, sizes, directions of dependency, defects.
#   tools/lint.sh BUILD_FOLDER     the folder holds compile_commands.json, and has been built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:?usage: tools/lint.sh BUILD_FOLDER}
longest_file=600
longest_function=80 # .clang-tidy has it for C++, this script for Bash

# folder: the folders of src that it may include, besides itself and include/lapilli. Downwards only.
folders='
base:
kernels:
program:       base kernels
ir:            base
ops:           base ir kernels program
import/onnx:   base ir ops
import/tflite: base ir ops
passes:        base ir ops
plan:          base ir ops kernels passes program
vulkan:        base kernels program
run:           base kernels program vulkan
flow:          base ir ops import/onnx import/tflite passes plan kernels program vulkan run
api:           base ir ops import/onnx import/tflite passes plan kernels program vulkan run flow
io:            base
vision:        base api
text:          base api
audio:         base api
'

failures=0
complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

# Our own files of these kinds. Found without git, which a fresh checkout's machine may lack.
files() { # PATTERN ...
  local pattern names=()
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find . -path './build*' -prune -o -path ./.git -prune -o -type f \( "${names[@]:1}" \) -print | sed 's|^\./||' | sort
}

check_sizes() {
  local file lines
  while read -r file; do
    lines=$(wc -l <"$file")
    ((lines <= longest_file)) || complain "$file: $lines lines, $longest_file at most: split it by what its parts do"
  done < <(files '*.cpp' '*.h' '*.glsl' '*.comp' '*.cmake' 'CMakeLists.txt' '*.py' '*.sh' '*.md' do)
  while read -r file; do complain "$file"; done < <(files '*.sh' do | xargs awk -v most=$longest_function '
    /^[a-z_]+\(\) \{/ {name = $1; start = FNR}
    /^\}/ && name != "" {
      if (FNR - start > most) print FILENAME ": " name " has " FNR - start " lines, " most " at most"
      name = ""
    }')
}

check_leftovers() {
  local line
  while read -r line; do complain "$line: do it, or file an issue"; done < <(
    files '*.cpp' '*.h' '*.glsl' '*.comp' '*.cmake' 'CMakeLists.txt' '*.py' '*.sh' do |
      grep -v '^tools/lint.sh$' | xargs grep -nE '\b(TODO|FIXME|XXX)\b')
}

folder_of() { # PATH below src: the folder of the table that it lies in
  local path=${1%/*}
  while [[ $path == */* ]] && ! grep -q "^$path:" <<<"$folders"; do path=${path%/*}; done
  grep -q "^$path:" <<<"$folders" && echo "$path"
}

check_dependencies() {
  local file line included from to allowed
  while IFS=: read -r file line included; do
    from=$(folder_of "${file#src/}") || { complain "$file: its folder is not in the table of tools/lint.sh"; continue; }
    allowed=$(sed -n "s|^$from: *||p" <<<"$folders")
    to=$(folder_of "$included") || continue
    [[ $from == "$to" || " $allowed " == *" $to "* ]] ||
      complain "$file:$line: src/$from may not include src/$to ($included)"
  done < <(grep -rnE --include='*.cpp' --include='*.h' '^#include "[a-z_0-9/]+/[^"]+"' src |
    grep -v '"lapilli/' | sed -E 's|^([^:]+):([0-9]+):#include "([^"]+)".*|\1:\2:\3|')
  check_outside_library '<(vulkan|vma|vk_mem_alloc)' src/vulkan tests/vulkan
  check_outside_library '<opencv2/' src/vision tests/vision
  check_outside_library '<protozero/' src/import/onnx tests/import
  check_outside_library '<re2/' src/flow
  check_outside_library '<flatbuffers/' src/program
}

check_outside_library() { # REGEX FOLDER ...: only these folders include it
  local regex=$1 line exclude=()
  shift
  exclude=("${@/#/^}")
  while read -r line; do
    complain "$line: only $* may include this"
  done < <(grep -rnE --include='*.cpp' --include='*.h' "^#include $regex" src include apps tests |
    grep -vE "$(IFS='|'; echo "${exclude[*]}")")
}

check_format() {
  files '*.cpp' '*.h' | xargs clang-format --dry-run --Werror || complain "clang-format -i on the files above puts that right"
}

# A file found clean is not checked again until it, a header that it includes, or the checks change. Files that have
# been built are known with their headers; for others every header counts.
check_defects() {
  local cache=${LAPILLI_LINT_CACHE:-$build/lint} todo=() key file
  mkdir -p "$cache"
  while read -r key file; do [[ -e $cache/$key ]] || todo+=("$key" "$file"); done < <(defect_keys)
  ((${#todo[@]})) || return 0
  echo "clang-tidy: $((${#todo[@]} / 2)) files"
  printf '%s\n' "${todo[@]}" | xargs -P "$(nproc)" -n 2 bash -c '
    output=$(clang-tidy-22 -p "$0" --quiet "$3" 2>/dev/null) || { printf "%s\n" "$output"; exit 1; }
    touch "$1/$2"' "$build" "$cache" || complain "clang-tidy found the above"
}

defect_keys() { # "KEY FILE" for each file that is compiled
  local file headers settings
  settings=$(clang-tidy-22 --version | sha256sum)$(sha256sum <.clang-tidy)
  # ccache may have made the paths relative to the build folder. What the build generates comes from what is checked.
  ninja -C "$build" -t deps | awk -v top="$PWD/" '
    {path = $1; sub(/^\.\.\//, "", path); if (index(path, top) == 1) path = substr(path, length(top) + 1)}
    /^[^ ]/ {source = ""}
    /^ / && source == "" {source = path}
    /^ / && path !~ /^\/|\/generated\// {print source, path}' | sort -u >"$build/lint.headers"
  while read -r file; do
    grep -q "\"$PWD/$file\"" "$build/compile_commands.json" || continue
    headers=$(awk -v file="$file" '$1 == file {print $2}' "$build/lint.headers")
    [[ -n $headers ]] || headers="$file $(files '*.h')"
    echo "$({ echo "$settings $file"; cat $headers; } | sha256sum | cut -c1-32) $file"
  done < <(files '*.cpp')
}

check_sizes
check_leftovers
check_dependencies
check_format
check_defects
if ((failures)); then
  echo "lint: $failures complaints"
  exit 1
fi
echo "lint: clean"
