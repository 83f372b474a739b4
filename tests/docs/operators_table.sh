#!/usr/bin/env bash
# docs/operators.md ends with the table that the program prints.
#   operators_table.sh LAPILLI docs/operators.md
set -euo pipefail
lapilli=$1 page=$2
diff <("$lapilli" ops --markdown) <(sed -n '/^| operator/,$p' "$page") ||
  { echo "$page is not what '$lapilli ops --markdown' prints"; exit 1; }
