import { expect, test } from "vitest";
import { shownMessage } from "./shown-message.ts";

test("a message shows what was thought, said and called, once each, and where it comes from", () => {
  expect(
    shownMessage({
      role: "assistant",
      content: [{ type: "text", text: "I look." }],
      reasoningContent: "Where is it?",
      thinkingBlocks: [{ type: "thinking", thinking: "Where is it?" }],
      toolCalls: [{ id: "1", name: "grep", arguments: '{"pattern":"a"}' }],
      tokens: 12,
      event_ids: ["e1"],
    }),
  ).toEqual({
    role: "assistant",
    text: 'Where is it?\n\nI look.\n\ngrep({"pattern":"a"})',
    tool: "",
    pictures: 0,
    tokens: 12,
    eventIds: ["e1"],
  });
});

test("a result names its tool and counts its pictures; a message of any shape is none of its business", () => {
  const content = [{ image_urls: ["data:image/png;base64,a", "b"] }, null, { text: 3 }];
  expect(shownMessage({ role: "tool", name: "browser", content })).toMatchObject({
    tool: "browser",
    pictures: 2,
    text: "",
    eventIds: [],
  });
});
