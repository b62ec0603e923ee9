import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { pacedSend } from "./paced-send.ts";

test("hundreds of answers that come together are read over many turns of the loop", async () => {
  const coming = Promise.withResolvers<void>();
  const send = pacedSend(async () => {
    await coming.promise;
    return new Response();
  });
  let read = 0;
  const ask = async (): Promise<void> => {
    await send("http://127.0.0.1:9");
    for (const startMs = performance.now(); performance.now() - startMs < 0.5;); // What reading it takes.
    read += 1;
  };
  const all = Promise.all(Array.from({ length: 300 }, ask));
  coming.resolve();
  const ofTurn: number[] = [];
  for (let before = 0; before < 300; before = read) {
    await nextTurn();
    ofTurn.push(read - before);
  }
  await all;
  expect(Math.max(...ofTurn)).toBeLessThan(100);
});

test("one answer is handed on as it came, and so is a failure", async () => {
  const answer = new Response("said");
  expect(await pacedSend(async () => answer)("http://127.0.0.1:9")).toBe(answer);
  const broken = pacedSend(() => Promise.reject(new Error("no way there")));
  await expect(broken("http://127.0.0.1:9")).rejects.toThrow("no way there");
});
