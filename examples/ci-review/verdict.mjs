// Reads the events of `convoke run --json`, prints what the agent found, and ends with 1 when it does not accept the change.
import { readFileSync } from "node:fs";

const [file] = process.argv.slice(2);
const events = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const finish = events.findLast(({ kind, tool_name: name }) => kind === "ActionEvent" && name === "finish");
const { verdict, findings } = JSON.parse(JSON.parse(finish.tool_call.arguments).message);
for (const { file, line, text } of findings) console.log(`${file}:${line}: ${text}`);
process.exitCode = verdict === "accept" ? 0 : 1;
