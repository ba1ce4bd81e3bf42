#!/bin/bash
# As bats-mock does it: the number of the call chooses the answer, and is kept in a file.
folder=${0%/*}
call=$(cat "$folder/counting.call" 2>/dev/null || echo 0)
echo $((call + 1)) >"$folder/counting.call"
echo "$*" >"$folder/counting.args.$((call % 8))"
echo MERGED
exit 0
