import type { Command } from "commander";
import { afterEach, expect, test, vi } from "vitest";
import { runCommandLine } from "./command-line.ts";

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

test.each([
  [["list"], "unknown command 'list'\n(Did you mean ls?)"],
  [["delete", "1234"], "unknown command 'delete'\n(Did you mean rm?)"],
  [["help", "list"], "unknown command 'list'\n(Did you mean ls?)"],
  [["help", "nothing"], "unknown command 'nothing'\n"],
])("convoke %j says that there is no such command, and which one may be meant", async (args, expected) => {
  let text = "";
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const add = async (program: Command): Promise<void> => void program.command("ls");
  await runCommandLine({ argv: ["node", "convoke", ...args], add, explain: async () => null });
  expect(text).toContain(expected);
  expect(process.exitCode).toBe(2);
});
