import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseScript, type Script } from "@convoke/server/scripted-model";

const execute = promisify(execFile);

export const demoTask =
  "The test in this repository is failing. Find out why, repair the code, and show that the test passes.";

const files = {
  "package.json": '{ "name": "price-list", "type": "module", "scripts": { "test": "node --test" } }\n',
  "total.js": `/** The price of all items, in cents. */
export function total(items) {
  let sum = 0;
  for (let index = 1; index < items.length; index++) sum += items[index].price * items[index].count;
  return sum;
}
`,
  "total.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./total.js";

test("adds up every item", () => {
  const items = [{ price: 250, count: 2 }, { price: 100, count: 3 }];
  assert.equal(total(items), 800);
});
`,
};

/** A repository with one commit and one wrong line. */
export async function writeDemoProject(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const git = (...args: string[]) =>
    execute("git", ["-c", "user.name=Demo", "-c", "user.email=demo@example.org", ...args], { cwd: folder });
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "price list");
}

/** The script of the model: it lists, reads, repairs, checks and reports, and reacts to what the tools really return. */
export function demoScript(folder: string): Script {
  const file = join(folder, "total.js");
  return parseScript({ turns: turnsFor(file) });
}

/** The same for a watcher in the page: words come as fast as people read, and the change of the file is of medium risk. */
export function watchedDemoScript(folder: string): Script {
  const turns = turnsFor(join(folder, "total.js")).map((turn) => ({
    ...turn,
    chunk_size: 6,
    chunk_delay_ms: 25,
    tool_calls: turn.tool_calls.map((call) => ({
      ...call,
      arguments: {
        ...call.arguments,
        security_risk: call.arguments.command === "str_replace" ? "MEDIUM" : "LOW",
      },
    })),
  }));
  return parseScript({ turns });
}

type Turn = {
  readonly text?: string;
  readonly expect?: { readonly last_tool_output_contains: string };
  readonly tool_calls: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, string>>;
  }[];
};

function turnsFor(file: string): Turn[] {
  return [
    {
      text: "I will run the test first to see how it fails.",
      tool_calls: [
        {
          name: "terminal",
          arguments: { command: "git status --short && npm test --silent", summary: "run the test" },
        },
      ],
    },
    {
      text: "The total is too small: 300 instead of 800, so the first item is missing. Let me read the code.",
      expect: { last_tool_output_contains: "fail 1" },
      tool_calls: [
        { name: "file_editor", arguments: { command: "view", path: file, summary: "read total.js" } },
      ],
    },
    {
      text: "The loop starts at 1 and so skips the first item. It has to start at 0.",
      expect: { last_tool_output_contains: "index = 1" },
      tool_calls: [
        {
          name: "file_editor",
          arguments: {
            command: "str_replace",
            path: file,
            old_str: "let index = 1;",
            new_str: "let index = 0;",
            summary: "start the loop at the first item",
          },
        },
      ],
    },
    {
      text: "Now the test again, and the change as git sees it.",
      tool_calls: [
        {
          name: "terminal",
          arguments: { command: "npm test --silent && git diff --stat", summary: "check the repair" },
        },
      ],
    },
    {
      expect: { last_tool_output_contains: "pass 1" },
      tool_calls: [
        {
          name: "finish",
          arguments: {
            message:
              "The loop in total.js began with the second item, so the first one was never counted. It now begins at 0; npm test passes.",
          },
        },
      ],
    },
  ];
}
