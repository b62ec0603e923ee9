import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { toMarkdown } from "./transcript.ts";

const markdown = (...events: object[]): string => events.map((event) => toMarkdown(event as Event)).join("");
const textOf = (text: string) => [{ type: "text", text }];

test("the profiles that answers are of stand where they begin to be", () => {
  const used = (value: object) => ({ kind: "ConversationStateUpdateEvent", key: "settings_used", value });
  const fast = { name: "fast", revision: 3 };
  expect(
    markdown(
      used({ agent_profile: { name: "coder", revision: 0 }, model_profile: fast }),
      used({ agent_profile: null, model_profile: null }),
    ),
  ).toBe(
    "> Agent profile coder, revision 0, Model profile fast, revision 3.\n\n> A model of no profile.\n\n",
  );
});

test("what was said, done and answered is read in order; what says nothing to a person is left out", () => {
  expect(
    markdown(
      { kind: "SystemPromptEvent", system_prompt: textOf("hidden") },
      {
        kind: "MessageEvent",
        source: "user",
        timestamp: "2026-01-01T00:00:00",
        llm_message: { content: textOf("Mend it.") },
      },
      {
        kind: "ActionEvent",
        source: "agent",
        tool_name: "terminal",
        summary: "run\nthe tests",
        thought: textOf("First the tests."),
        action: { kind: "TerminalAction", command: "npm test" },
      },
      { kind: "ObservationEvent", observation: { content: textOf("a ``` fence\n") } },
      { kind: "ConversationStateUpdateEvent", key: "stats", value: {} },
      { kind: "UserRejectObservation", rejection_reason: "No.\nNever." },
      { kind: "ActionEvent", action: { kind: "FinishAction", message: "Mended." } },
      { kind: "ConversationErrorEvent", code: "stuck", detail: "It repeats itself." },
    ),
  ).toBe(`## User · 2026-01-01T00:00:00

Mend it.

## Agent

First the tests.

### terminal: run the tests

\`\`\`
$ npm test
\`\`\`

\`\`\`\`
a \`\`\` fence
\`\`\`\`

> Rejected: No.
> Never.

## Agent

Mended.

> The run failed (stuck): It repeats itself.

`);
});

test("a long output is cut, and says so; pictures and unknown tools have a line", () => {
  const long = markdown({ kind: "ObservationEvent", observation: { content: textOf("x".repeat(30_000)) } });
  expect(long.length).toBeLessThan(20_100);
  expect(long).toContain("… 10000 more characters");
  expect(
    markdown({ kind: "ObservationEvent", observation: { content: [{ type: "image", image_urls: [] }] } }),
  ).toContain("[picture]");
  expect(markdown({ kind: "ActionEvent", tool_name: "x", action: { kind: "X", a: 1 } })).toContain('"a": 1');
});

test("hardening 8: blank lines and fences of any number are written down in no time", () => {
  const hostile = ["\n".repeat(19_000) + "x", "`\n".repeat(9_000), "\n".repeat(100_000)];
  const before = process.threadCpuUsage();
  for (const text of hostile)
    for (let times = 0; times < 20; times++)
      markdown({ kind: "ObservationEvent", observation: { content: textOf(text) } });
  expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);
});
