import { expect, test } from "vitest";
import type { Model, ModelPart } from "../../../models/model.ts";
import { startTestServer } from "../../../testing/start-server.ts";

/** A provider whose answers all have one id. */
function sameId(model: Model): Model {
  return new Proxy(model, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "stream" || typeof value !== "function")
        return typeof value === "function" ? value.bind(target) : value;
      return async function* (...args: Parameters<Model["stream"]>): AsyncGenerator<ModelPart> {
        for await (const part of target.stream(...args))
          yield part.type === "done" ? { ...part, response: { ...part.response, id: "chatcmpl-0" } } : part;
      };
    },
  });
}

test("answers whose provider ids come again have ids of their own; calls of one answer share theirs, and messages go on", async () => {
  const grep = (id: string) => ({ id, name: "grep", arguments: { pattern: "x" } });
  await using server = await startTestServer({
    script: {
      turns: [
        { tool_calls: [grep("a"), grep("b")] },
        { tool_calls: [grep("c")] },
        { text: "One." },
        { text: "Two." },
      ],
    },
    wrapModel: sameId,
  });
  const id = await server.runTo("finished", "Go");
  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Again" }], run: true });
  await server.waitForStatus(id, "finished");
  const ids = (await server.events(id)).flatMap((event) => {
    const { llm_response_id: own } = event as { llm_response_id?: string };
    return own === undefined ? [] : [own];
  });
  expect(ids).toHaveLength(5);
  expect(ids[0]).toBe("chatcmpl-0");
  expect(ids[1]).toBe("chatcmpl-0");
  expect(new Set(ids).size).toBe(4);
  for (const own of ids) expect(own).toMatch(/^chatcmpl-0(~[0-9a-f]{8})?$/);
});
