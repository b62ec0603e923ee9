#!/usr/bin/env bash
# A review of a change in a pipeline: the step fails when the agent does not accept it.
. "$(dirname "$0")/../with-server.sh"
cp verdict.mjs "$SCRATCH"

cd "$SCRATCH/work"
git init -q -b main
git config user.email ci@example.org
git config user.name CI
echo 'login(readPassword());' >login.js
git add . && git commit -q -m "First"
echo 'const password = "hunter2"; login(password);' >login.js
git commit -q -am "Second"
export HOME="$SCRATCH/home"

# region review
convoke run --json --sandbox off --data-dir "$SCRATCH/data" >"$SCRATCH/events.jsonl" \
  'Review the last commit. Answer with JSON only: {"verdict": "accept" or "reject", "findings": [{"file", "line", "text"}]}'
if node "$SCRATCH/verdict.mjs" "$SCRATCH/events.jsonl"; then
  echo "accepted"
else
  echo "not accepted: a step of a pipeline would end with 1 here"
fi
# endregion review
