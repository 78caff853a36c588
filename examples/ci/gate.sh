#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The step of action.yml: reads its inputs from variables, runs the gate, hands its verdict on.
set -uo pipefail

words=(gate "$PREDICTIONS" --junit "${JUNIT:-assay-gate.xml}")
read -r -a options <<< "${OPTIONS:-}"
words+=("${options[@]}")
while IFS= read -r line; do
  [[ -n "${line// /}" ]] && words+=(--accept "$line")
done <<< "${ACCEPT:-}"
[[ -n "${AGAINST:-}" ]] && words+=(--against "$AGAINST")
[[ -n "${MARGIN:-}" ]] && words+=(--margin "$MARGIN")

code=0
assay "${words[@]}" || code=$?
case $code in
  0) verdict=pass ;;
  1) verdict=fail ;;
  3) verdict=inconclusive ;;
  *) exit "$code" ;;
esac
[[ -n "${GITHUB_OUTPUT:-}" ]] && echo "verdict=$verdict" >> "$GITHUB_OUTPUT"
[[ $code -eq 3 && "${INCONCLUSIVE:-fail}" == pass ]] && exit 0
exit "$code"
