import { expect, test } from "vitest";
import { handingOver } from "./handing-over.ts";

const answerOf = (seq: number) => ({ command: "SELECT", rowCount: 1, oid: 0, fields: [], rows: [{ seq }] });

test("P4: an answer has the rows, and what the driver goes on holding has none", async () => {
  const driven = answerOf(1);
  const several = [answerOf(2), answerOf(3)];
  const answers = [driven, several, undefined];
  const ask = handingOver(async () => answers.shift());
  expect(await ask("SELECT 1")).toEqual(answerOf(1));
  expect(await ask("SELECT 2; SELECT 3")).toEqual([answerOf(2), answerOf(3)]);
  expect(await ask("no answer")).toBeUndefined();
  expect([driven, ...several].map(({ rows }) => rows)).toEqual([[], [], []]);
});

test("what fails fails as before, and what answers by a callback is left alone", async () => {
  const failure = new Error("refused");
  await expect(handingOver(() => Promise.reject(failure))("SELECT 1")).rejects.toBe(failure);
  const asked: unknown[] = [];
  handingOver((...given) => void asked.push(...given))("SELECT 1", failure);
  expect(asked).toEqual(["SELECT 1", failure]);
});
