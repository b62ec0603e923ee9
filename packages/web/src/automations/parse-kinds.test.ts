import { expect, test } from "vitest";
import { parseKinds } from "./parse-kinds.ts";

test("kinds are told apart by commas and spaces, each once", () => {
  expect(parseKinds(" MessageEvent,PauseEvent  MessageEvent, ")).toEqual(["MessageEvent", "PauseEvent"]);
  expect(parseKinds("")).toEqual([]);
});
