import type { Outcome } from "@convoke/tool-host";
import { expect, test } from "vitest";
import type { ToolSource } from "../tool-source.ts";
import { refuseCommands } from "./refuse-commands.ts";

const done: Outcome = { type: "error", text: "It was executed." };

async function execute(tool: string, action: object, reason: string | null): Promise<Outcome> {
  const source = { execute: async () => done } as unknown as ToolSource;
  return await refuseCommands(source, async () => reason).execute({
    actionId: "a",
    tool,
    action: { kind: "TerminalAction", ...action } as never,
    secrets: [],
  });
}

test("no command starts while there is a reason against it", async () => {
  const full: Outcome = { type: "error", text: "The disk is full." };
  expect(await execute("terminal", { command: "make", is_input: false }, full.text)).toEqual(full);
  expect(await execute("terminal", { command: "make", is_input: false }, null)).toBe(done);
});

test("what runs can be written to, and other tools work", async () => {
  expect(await execute("terminal", { command: "C-c", is_input: true }, "The disk is full.")).toBe(done);
  expect(await execute("file_editor", { command: "view" }, "The disk is full.")).toBe(done);
});
