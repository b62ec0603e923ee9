#!/usr/bin/env bash
# A review of a change in a pipeline: the step fails when the agent finds something.
. "$(dirname "$0")/../with-server.sh"

cd "$SCRATCH/work"
git init -q -b main
git config user.email ci@example.org
git config user.name CI
echo 'login(readPassword());' >login.js
git add . && git commit -q -m "First"
echo 'const password = "hunter2"; login(password);' >login.js
git commit -q -am "Second"

# region review
HOME="$SCRATCH/home" convoke run --json --sandbox off --data-dir "$SCRATCH/data" \
  'Review the last commit. Answer with JSON only: {"verdict": "accept" or "reject", "findings": [{"file", "line", "text"}]}' \
  >"$SCRATCH/events.jsonl"
node - "$SCRATCH/events.jsonl" <<'END'
const fs = require("node:fs");
const events = fs.readFileSync(process.argv[2], "utf8").trim().split("\n").map((line) => JSON.parse(line));
const finish = events.findLast(({ kind, tool_name }) => kind === "ActionEvent" && tool_name === "finish");
const { verdict, findings } = JSON.parse(JSON.parse(finish.tool_call.arguments).message);
for (const { file, line, text } of findings) console.log(`${file}:${line}: ${text}`);
process.exitCode = verdict === "accept" ? 0 : 1;
END
# endregion review
