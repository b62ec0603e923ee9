import { ConvokeClient } from "@convoke/client";
import { expect, test } from "vitest";
import { stateOf } from "./conversation-tools.ts";

test("a state that is read while a run ends never lacks the answer of a run that it calls finished", async () => {
  let requests = 0;
  const client = new ConvokeClient({
    baseUrl: "http://127.0.0.1:1",
    fetch: async (url) => {
      const { pathname } = new URL(url as string);
      const isEnded = requests > 0;
      requests += 1;
      if (pathname.endsWith("/agent_final_response"))
        return Response.json({ response: isEnded ? "Done." : "" });
      if (pathname.endsWith("/approvals")) return Response.json({ items: [] });
      return Response.json({ id: "c", execution_status: isEnded ? "finished" : "running" });
    },
  });
  expect(await stateOf(client, "c")).toEqual({ id: "c", status: "running", answer: "Done.", waiting: [] });
  expect(await stateOf(client, "c")).toMatchObject({ status: "finished", answer: "Done." });
});
