import { expect, test } from "vitest";
import { parseCommand } from "./slash-commands.ts";

test.each([
  ["/stop", { name: "stop", text: "" }],
  [" /goal all tests\npass ", { name: "goal", text: "all tests\npass" }],
  ["/goal", { name: "goal", text: "" }],
  ["/stop it there", null],
  ["/srv/data is full", null],
  ["/review the code", null],
  ["please /stop", null],
  ["", null],
])("%j as a command", (message, command) => {
  expect(parseCommand(message)).toEqual(command);
});
