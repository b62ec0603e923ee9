import { expect, test } from "vitest";
import { createBoundedFetch } from "./bounded-fetch.ts";

const many = `{"x":[${"[],".repeat(300_000)}[]]}`;
const textOf = async (body: string, type: string, accept = "application/json, text/event-stream") => {
  const send = createBoundedFetch(async () => new Response(body, { headers: { "content-type": type } }));
  return await (await send("http://127.0.0.1/", { headers: { accept } })).text();
};

test("security 4: an answer of an MCP server is given up before more values than anybody needs are parsed", async () => {
  const refusal = "The MCP server's answer holds more values than are read.";
  await expect(textOf(many, "application/json")).rejects.toThrow(refusal);
  await expect(textOf(`data: ${many}\n\n`, "text/event-stream; charset=utf-8")).rejects.toThrow(refusal);
  expect(await textOf('{"a":[1]}', "application/json")).toBe('{"a":[1]}');
});

test("security 4: each event has the limits for itself, but no document that is called a stream", async () => {
  const event = `data: [${"1,".repeat(90_000)}1]\n\n`.repeat(3);
  expect(await textOf(event, "text/event-stream")).toBe(event);
  await expect(textOf(event, "text/event-stream", "application/json")).rejects.toThrow("more values");
  await expect(textOf(event, "application/json; x=text/event-stream")).rejects.toThrow("more values");
});

test("an event of many lines is as long as all of them", async () => {
  const lines = `data: "${"x".repeat(1_000_000)}"\n`.repeat(35);
  await expect(textOf(lines, "text/event-stream")).rejects.toThrow("The MCP server's answer is too long.");
});
