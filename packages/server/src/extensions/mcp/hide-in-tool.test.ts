import { expect, test } from "vitest";
import { hideInTool } from "./hide-in-tool.ts";

test("P13, S27: a key in a server's description of a tool is masked in every part", () => {
  const key = "canary-mcp-key-5f1e2d";
  const schema = {
    type: "object",
    properties: { a: { type: "string", description: `not ${key}`, default: key } },
  };
  const tool = { name: "look", description: `Use ${key}.`, inputSchema: schema, _meta: { note: [key] } };
  const hidden = hideInTool(tool, [{ name: "", value: key }]);
  expect(JSON.stringify(hidden)).not.toContain(key);
  expect(hidden).toMatchObject({
    name: "look",
    description: "Use <secret-hidden>.",
    inputSchema: { type: "object", properties: { a: { type: "string" } } },
  });
});
