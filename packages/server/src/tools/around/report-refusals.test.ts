import type { Outcome } from "@convoke/tool-host";
import { expect, test } from "vitest";
import type { ToolSource } from "../tool-source.ts";
import { reportRefusals } from "./report-refusals.ts";

/** A source whose calls end with this outcome, and a wall that refuses `refused` during each of them. */
function execute(outcome: Outcome, refused: string): Promise<Outcome> {
  let lines: string[] = ["of an earlier call"];
  const source = {
    execute: async () => {
      if (refused !== "") lines = [...lines, refused];
      return outcome;
    },
  } as unknown as ToolSource;
  const reported = reportRefusals(source, async (mark) => ({
    mark: lines.length,
    text: lines.slice(mark).join("\n"),
  }));
  return reported.execute({
    actionId: "a",
    tool: "terminal",
    action: { kind: "ThinkAction", thought: "" },
    secrets: [],
  });
}

const observation = (...texts: string[]): Outcome => ({
  type: "observation",
  observation: {
    kind: "TerminalObservation",
    content: texts.map((text) => ({ type: "text", text })),
  } as Extract<Outcome, { type: "observation" }>["observation"],
});

test("what was refused during a call stands on a line of its own behind its output", async () => {
  expect(await execute(observation("curl: (22) 403"), "Network: a.example:443 was refused.")).toEqual(
    observation("curl: (22) 403", "\nNetwork: a.example:443 was refused."),
  );
});

test("a call without a refusal, and one without an observation, stay as they are", async () => {
  expect(await execute(observation("ok"), "")).toEqual(observation("ok"));
  const failed: Outcome = { type: "error", text: "It failed." };
  expect(await execute(failed, "Network: a.example:443 was refused.")).toBe(failed);
});
