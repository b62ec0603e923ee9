import { expect, test } from "vitest";
import { completionScripts } from "./scripts.ts";

test("what bash runs to complete words is for the bash 3.2 of macOS, too", () => {
  const newer =
    /(?:declare|local|typeset) -[a-zA-Z]*[An]|mapfile|readarray|\$\{\w+(?:,|\^|@[A-Z])|\|&|&>>|\[\[ -v|(?:source|\.) <\(|compopt|COMP_TYPE/;
  expect(completionScripts.bash).not.toMatch(newer);
  expect("source <(convoke completion bash)").toMatch(newer);
});
