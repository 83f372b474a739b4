#!/usr/bin/env bash
# Runs the lines of README.md's blocks of shell that start with "lapilli", each of which must succeed and answer.
#   readme_commands.sh PROGRAM SOURCE_FOLDER WORK_FOLDER
# Those that start with "./do" take minutes and install packages; CI runs them as they are.
set -euo pipefail
program=$1 source=$2 work=$3

rm -rf "$work"
mkdir -p "$work/bin"
ln -s "$program" "$work/bin/lapilli"
ln -s "$source/assets" "$work/assets"
cd "$work"
export PATH=$work/bin:$PATH

mapfile -t commands < <(awk '/^```/ {in_shell = ($0 == "```sh"); next} in_shell && /^lapilli /' "$source/README.md")
for name in devices inspect plan run classify verify bench compile ops; do
  [[ " ${commands[*]} " == *" lapilli $name "* ]] || {
    echo "README.md shows no 'lapilli $name'" >&2
    exit 1
  }
done
for command in "${commands[@]}"; do
  echo "\$ $command"
  bash -c "$command" >output.txt || { echo "failed with exit code $?" >&2; exit 1; }
  cat output.txt
  [[ -s output.txt ]] || { echo "printed nothing" >&2; exit 1; }
done
for picture in chelsea coffee; do
  [[ -s labelled/$picture.png ]] || { echo "labelled/$picture.png was not drawn" >&2; exit 1; }
done
