import { ApiError } from "@convoke/client";
import type { BrowserFrame, BrowserInput } from "@convoke/protocol";
import { expect, test } from "vitest";
import { BrowserLink } from "./browser-link.ts";

const state = { type: "state", is_open: true, tabs: [] } as const;

/** A server that shows these frames and keeps what it is sent, until it is left. */
function server(frames: readonly BrowserFrame[], error?: Error) {
  const sent: BrowserInput[] = [];
  return {
    sent,
    attachBrowser: async function* (_id: string, { inputs }: { inputs: AsyncIterable<BrowserInput> }) {
      if (error !== undefined) throw error;
      yield* frames;
      for await (const input of inputs) sent.push(input);
    },
  };
}

test("what comes is what is seen; what is done goes to the server until it is left", async () => {
  const client = server([
    state,
    { type: "picture", data: "abcd", width: 1280, height: 720 },
    { type: "lent", is_lent: true, is_yours: true },
    { type: "refused", reason: "No." },
  ]);
  const link = new BrowserLink(client, "id");
  link.start();
  await expect.poll(() => link.snapshot().problem).toBe("No.");
  expect(link.snapshot()).toMatchObject({ isConnected: true, isOpen: true, isYours: true });
  expect(link.snapshot().picture).toEqual({ data: "abcd", width: 1280, height: 720 });
  link.send({ type: "give" });
  expect(link.snapshot().problem).toBeNull();
  await expect.poll(() => client.sent).toEqual([{ type: "give" }]);
  link.stop();
  expect(link.snapshot()).toMatchObject({ isConnected: false, isYours: false });
});

test("what the server refuses is told and not tried again", async () => {
  const link = new BrowserLink(server([], new ApiError(404, "Conversation not found.", null, [])), "id");
  link.start();
  await expect.poll(() => link.snapshot().problem).toBe("Conversation not found.");
});
