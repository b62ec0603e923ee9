import { expect, test } from "vitest";
import { sendChoice } from "./send-choice.ts";

test.each([
  ["idle", "send", null],
  ["finished", "send", null],
  ["running", "add", "stop-and-send"],
  ["waiting_for_confirmation", "add", null],
  ["paused", "go-on", null],
  ["error", "go-on", null],
  ["a status of a later version", "send", null],
])("J6: while the agent is %s, Enter means %s", (status, enter, ctrlEnter) => {
  expect(sendChoice(status)).toEqual({ enter, ctrlEnter });
});
