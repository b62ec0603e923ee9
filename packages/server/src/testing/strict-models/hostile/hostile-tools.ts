import type { ModelTool } from "../../../models/model.ts";
import { schemas } from "../refused/schemas.ts";

const plain = { type: "object", properties: { path: { type: "string" } } };
const plainTool = tool("look");

/** Tools of MCP servers, beside a plain one. Whatever a provider refuses, the conversation continues. */
export const hostileTools: Readonly<Record<string, readonly ModelTool[]>> = {
  ...Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      `a tool with ${name}`,
      [plainTool, { ...tool("odd"), parameters: schema }],
    ]),
  ),
  "a tool with a dot in its name": [plainTool, tool("server.look")],
  "a tool with blanks in its name": [plainTool, tool("look at this")],
  "a tool with a digit first in its name": [plainTool, tool("21st_look")],
  "a tool of another script": [plainTool, tool("посмотри")],
  "a tool name of 100 characters": [plainTool, tool("n".repeat(100))],
  "two names that become one where signs are replaced": [plainTool, tool("a.b"), tool("a:b")],
  "two names that become one where they are cut": [
    plainTool,
    tool(`${"n".repeat(90)}1`),
    tool(`${"n".repeat(90)}2`),
  ],
  "two tools of one name": [plainTool, plainTool],
  "a description of 5000 characters": [plainTool, { ...tool("wordy"), description: "d".repeat(5000) }],
  "a description of nothing": [plainTool, { ...tool("silent"), description: "" }],
  "half a pair in a description": [plainTool, { ...tool("odd"), description: "x\ud83d y" }],
  "half a pair in a schema": [
    plainTool,
    {
      ...tool("odd"),
      parameters: { type: "object", properties: { "\ud83d": { type: "string", enum: ["\udc00"] } } },
    },
  ],
  "200 tools": Array.from({ length: 200 }, (_, at) => tool(`look_${at}`)),
  "no tools": [],
};

function tool(name: string): ModelTool {
  return { name, description: "Looks.", parameters: plain };
}
