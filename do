#!/usr/bin/env bash
# Everything that is done with this checkout, by one word: ./do help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

help() {
  cat <<'TEXT'
./do COMMAND [ARGUMENT ...]          each command sets up what it needs, and can be repeated

  demo [PHOTO ...]     build, classify two photos (or yours) on the GPU, draw the answer on them
  build                build the program (build/lapilli) and the library
  test [ARGUMENT ...]  build and run all tests; arguments go to ctest, such as -R vision
  networks [...]       compare whole networks with ONNX Runtime, those too that take minutes on a CPU
  sanitize             build the tests of host code with Clang's address and undefined-behaviour sanitizers, and run them
  conformance [...]    run the conformance suite of ONNX and count what passes; with --newest first, the node tests of a
                       newer onnx from PyPI, in all four modes
  limits [...]         the same on small devices: few workgroups, small bindings, no 64-bit integers, ...
  soak                 run 500 random sizes and read 2.5 GiB of weights; print what memory does
  bench [...]          time the demo's network; arguments go to "lapilli bench", such as --batch 8 or --json
  lint                 check format, defects (clang-tidy) and the rules of size and dependency
  fuzz [SECONDS]       feed damaged files to the readers, for 60 seconds, with the same sanitizers
  help                 this text

The first command on a fresh Debian 13 installs packages (packages.txt) and takes some minutes; later ones build only
what changed. Without a GPU everything runs on the CPU through Mesa's llvmpipe. To install the library and the program:

  cmake --install build --prefix /usr/local
TEXT
}

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }
die() {
  printf './do: %s\n' "$*" >&2
  exit 1
}

jobs=$(nproc 2>/dev/null || echo 2)

# --- packages ---------------------------------------------------------------------------------------------------------

packages_of() { # GROUP ...: the names in packages.txt
  local group name
  while read -r name _; do
    case $name in
      '' | \#*) ;;
      \[*) group=${name//[\[\]]/} ;;
      *) [[ " $* " == *" $group "* ]] && echo "$name" ;;
    esac
  done <packages.txt
  true
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

os_field() { (. /etc/os-release 2>/dev/null && eval "echo \"\${$1:-}\"") || true; }

# Debian 13 and what comes after it: testing and unstable have no VERSION_ID.
is_new_debian() { [[ $(os_field ID) == debian && ($(os_field VERSION_ID) -ge 13 || -z $(os_field VERSION_ID)) ]]; }

# The words that put a command in root's hands, or failure.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    echo env
  elif command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    echo sudo
  else
    return 1
  fi
}

# GROUP ...: makes sure that the packages of these groups are there.
need() {
  local name root missing=()
  if ! command -v dpkg-query >/dev/null; then
    need_elsewhere "$@"
    return
  fi
  for name in $(packages_of "$@"); do is_installed "$name" || missing+=("$name"); done
  ((${#missing[@]})) || return 0
  if is_new_debian && root=$(as_root); then
    say "Installing ${#missing[@]} Debian packages (once): ${missing[*]}"
    $root apt-get update -q >&2 && $root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >&2 ||
      die "apt could not install them; its own message is above"
    return
  fi
  printf '%s\n' "These packages are missing. On Debian 13 this installs them:" "" \
    "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" "" >&2
  is_new_debian || suggest_container
  exit 1
}

need_elsewhere() { # a system without dpkg: names cannot be checked, only programs
  local program absent=()
  for program in c++ cmake ninja pkg-config glslc flatc; do
    command -v "$program" >/dev/null || absent+=("$program")
  done
  ((${#absent[@]})) || return 0
  printf '%s\n' "These programs are missing: ${absent[*]}. Install what your system calls these Debian packages:" "" \
    "  $(packages_of "$@" | tr '\n' ' ')" "" >&2
  suggest_container
  exit 1
}

suggest_container() {
  printf '%s\n' "This is $(os_field PRETTY_NAME), which may lack some of them or have them too old (GCC 13 is needed). In a container:" \
    "" "  podman run --rm -it -v \"\$PWD\":/lapilli -w /lapilli debian:13 ./do help" "" >&2
}

# --- building ---------------------------------------------------------------------------------------------------------

configure() { # FOLDER OPTION ...
  local folder=$1
  shift
  mkdir -p "$folder"
  cmake -S . -B "$folder" -G Ninja "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "CMake could not configure $folder; its message is above"
  }
}

build() { # [TARGET ...]
  say "Building in build/ with $jobs jobs"
  configure build -DCMAKE_BUILD_TYPE=Release
  cmake --build build -j "$jobs" "${@/#/--target=}"
}

# Tests need their own packages, so the program alone is built without them until somebody asks for them.
without_tests() {
  need build
  [[ -f build/CMakeCache.txt ]] || configure build -DLAPILLI_TESTS=OFF
}

with_tests() {
  need build run test
  configure build -DLAPILLI_TESTS=ON
}

# --- commands ---------------------------------------------------------------------------------------------------------

command_build() {
  without_tests
  build
}

command_demo() {
  need build run
  without_tests
  build lapilli_tool
  local photos=("$@")
  ((${#photos[@]})) || photos=(assets/photos/*.png)
  say "Classifying ${photos[*]}"
  build/lapilli classify assets/efficientnet_lite0.onnx "${photos[@]}" --top 3 --output build/demo
  say "The pictures with their captions are in build/demo"
}

command_test() {
  with_tests
  build
  say "Testing"
  ctest --test-dir build -j "$jobs" --output-on-failure --no-tests=error -LE slow "$@"
}

command_networks() {
  with_tests
  build lapilli_tool
  say "Comparing networks with ONNX Runtime"
  ctest --test-dir build -j 1 --output-on-failure --no-tests=error -R '^networks\.' "$@"
}

# By Clang, which has libFuzzer and tells more than GCC.
build_sanitized() { # FOLDER SANITIZERS TARGET [OPTION ...]
  local folder=$1 sanitizers=$2 target=$3
  need build run test sanitize
  say "Building with sanitizers in $folder/ with $jobs jobs"
  configure "$folder" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DLAPILLI_TESTS=ON \
    -DLAPILLI_BENCHMARKS=OFF -DLAPILLI_SANITIZE="$sanitizers" "${@:4}"
  cmake --build "$folder" -j "$jobs" --target "$target"
}

# Fuzzers and sanitized tests share their objects.
build_checked() { # TARGET
  build_sanitized build-asan address,undefined "$1" -DLAPILLI_FUZZERS=ON
}

command_sanitize() {
  local folder label
  case ${1:-} in
    '')
      folder=build-asan label=checked
      build_checked lapilli_checked_tests
      ;;
    thread)
      folder=build-tsan label=threads
      build_sanitized build-tsan thread lapilli_threads_tests
      ;;
    *) die "sanitize takes 'thread' or nothing, not '$1'" ;;
  esac
  say "Testing with sanitizers"
  ctest --test-dir $folder -L $label -j "$jobs" --output-on-failure --no-tests=error --quiet \
    --output-log $folder/ctest.log || {
    tail -n 200 $folder/ctest.log >&2
    die "tests failed with sanitizers; the whole log is $folder/ctest.log"
  }
  grep 'tests passed' $folder/ctest.log
}

# The newest onnx has its node tests as Python code alone, so it is installed beside the build and writes them.
# What its types do with numbers out of their range differs from release to release of ml_dtypes and NumPy.
newest_onnx=1.23.2
newest_packages=("onnx==$newest_onnx" ml_dtypes==0.5.4 numpy==2.5.5)

newest_node_tests() { # prints their folder
  local folder=build/onnx-$newest_onnx python=build/onnx-python/bin/python
  if [[ ! -f $folder/complete ]]; then
    need newest
    say "Writing the node tests of onnx $newest_onnx (once)"
    python3 -m venv build/onnx-python >&2 || die "Python could not make build/onnx-python; its message is above"
    "$python" -m pip install --quiet --disable-pip-version-check "${newest_packages[@]}" >&2 ||
      die "onnx $newest_onnx could not be fetched from PyPI, which needs a network; pip's message is above"
    rm -rf "$folder"
    "$python" tests/conformance/write_node_tests.py "$folder" >&2 || die "onnx could not write its tests"
    touch "$folder/complete"
  fi
  echo "$folder"
}

command_conformance() {
  local folder mode precision failed=
  with_tests
  build lapilli_conformance
  if [[ ${1:-} != --newest ]]; then
    build/lapilli_conformance "$@"
    return
  fi
  shift
  folder=$(newest_node_tests)
  for mode in optimised unoptimised; do
    for precision in float32 float16; do
      say "Node tests of onnx $newest_onnx: $mode, $precision"
      build/lapilli_conformance --data "$folder" --expected-failures tests/conformance/newest_expected_failures.txt \
        --mode "$mode" --precision "$precision" --time-limit 300 "$@" || failed=1
    done
  done
  [[ -z $failed ]] || die "some tests failed; they are named above"
}

# One run for each limit, and one with all of them.
command_limits() {
  local limit all=() failed=
  with_tests
  build lapilli_conformance
  set -- --time-limit 300 "$@" # small devices are slow
  for limit in max_groups=64 max_storage_range=1048576 max_allocation=16777216 max_shared_memory=16384 no_float16 no_int8 \
    no_int64; do
    all+=(--limit "$limit")
    say "$limit"
    build/lapilli_conformance --limit "$limit" "$@" || failed+=" $limit"
  done
  # Small vectors of the CPU are small subgroups.
  say "subgroups of 4"
  LP_NATIVE_VECTOR_WIDTH=128 build/lapilli_conformance "$@" || failed+=" subgroups"
  say "All limits"
  build/lapilli_conformance "${all[@]}" "$@" || failed+=" all"
  [[ -z $failed ]] || die "the suite failed with:$failed"
}

command_soak() {
  with_tests
  build soak_test large_data_test
  say "Testing what memory does"
  ctest --test-dir build --verbose --no-tests=error -R '^(Soak|LargeData)\.' "$@"
}

command_bench() {
  need build run
  without_tests
  build lapilli_tool
  build/lapilli bench assets/efficientnet_lite0.onnx "$@"
}

command_lint() {
  need lint
  with_tests
  build
  tools/lint.sh "$@" build
}

command_fuzz() {
  local seconds=${1:-60} fuzzer name process failed= seeds
  local -A names=()
  build_checked lapilli_fuzzers
  for fuzzer in build-asan/fuzzers/*_fuzz; do
    name=${fuzzer##*/}
    say "Fuzzing $name for $seconds s"
    mkdir -p "build-asan/corpus/$name"
    seeds=("build-asan/corpus/$name")
    [[ ! -d tests/fuzz/corpus/$name ]] || seeds+=("tests/fuzz/corpus/$name")
    "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build-asan/$name-" "${seeds[@]}" \
      >"build-asan/$name.log" 2>&1 &
    names[$!]=$name
  done
  for process in "${!names[@]}"; do
    name=${names[$process]}
    if wait "$process"; then
      printf '%s: %s\n' "$name" "$(awk '/ cov: /{line = $0} END {print line}' "build-asan/$name.log")"
    else
      tail -n 60 "build-asan/$name.log" >&2
      failed+=" $name"
    fi
  done
  [[ -z $failed ]] || die "found something:$failed; the input lies in build-asan/"
}

case ${1:-help} in
  demo | build | test | networks | sanitize | conformance | limits | soak | bench | lint | fuzz)
    command=$1
    shift
    "command_$command" "$@"
    ;;
  help | -h | --help) help ;;
  *)
    help >&2
    die "there is no command '$1'"
    ;;
esac
