import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { TypeAhead } from "./type-ahead.ts";

function openInput() {
  const modes: boolean[] = [];
  const emitter = new EventEmitter();
  const input: NodeJS.ReadStream = Object.assign(emitter, {
    setEncoding: () => input,
    setRawMode: (isRaw: boolean) => (modes.push(isRaw), input),
    pause: () => input,
    resume: () => input,
  }) as unknown as NodeJS.ReadStream;
  return { input, modes, type: (text: string) => emitter.emit("data", text) };
}

test("what is typed before the chat is there is given to it once, and the terminal is as before", () => {
  const { input, modes, type } = openInput();
  using typed = new TypeAhead(input, () => {});
  type("fix it");
  type("\r");
  expect(typed.end()).toBe("fix it\r");
  expect(typed.end()).toBe("");
  expect(modes).toEqual([true, false]);
  type("later");
  expect(typed.end()).toBe("");
});

test("ctrl-c ends the start", () => {
  const { input, type } = openInput();
  let count = 0;
  using typed = new TypeAhead(input, () => (count += 1));
  type("fix\u0003");
  expect(count).toBe(1);
  expect(typed.end()).toBe("");
});
