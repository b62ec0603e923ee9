import { expect, test } from "vitest";
import { createMask } from "./mask.ts";

test("P13: a secret is hidden in every text of an event, plain and encoded", () => {
  const secret = 'canary-"7f3a"-value';
  const mask = createMask([secret]);
  const event = { kind: "MessageEvent", a: `x ${secret} y`, b: [Buffer.from(secret).toString("base64")] };
  expect(JSON.parse(mask(JSON.stringify(event)))).toEqual({
    kind: "MessageEvent",
    a: "x <secret-hidden> y",
    b: ["<secret-hidden>"],
  });
});

test("P56: structure, ids and images stay as they are, even when a secret equals a word of the wire", () => {
  const mask = createMask(["terminal", "user", "iVBORw0KGgo"]);
  const event = {
    kind: "MessageEvent",
    source: "user",
    tool_name: "terminal",
    llm_message: {
      role: "user",
      content: [{ type: "image", image_urls: ["data:image/png;base64,iVBORw0KGgoAAAA"] }],
    },
  };
  expect(mask(JSON.stringify(event))).toBe(JSON.stringify(event));
});

test("without secrets the text is returned as it is", () => {
  expect(createMask([])('{"a":1}')).toBe('{"a":1}');
});

test("P13, S05: content of an agent or a tool is masked under every name", () => {
  const secret = "canary-7f3a-value";
  const names = [
    "key",
    "id",
    "source",
    "type",
    "origin",
    "signature",
    "role",
    "kind",
    "image_urls",
    "status",
  ];
  const data = Object.fromEntries(names.map((name) => [name, name === "image_urls" ? [secret] : secret]));
  const event = {
    id: "0198c0de-0000-7000-8000-000000000001",
    kind: "ActionEvent",
    tool_name: "lookup",
    action: { kind: "MCPToolAction", data },
    tool_call: { id: "call-1", name: "lookup", origin: "completion", arguments: JSON.stringify(data) },
    observation: { kind: "MCPToolObservation", content: [{ type: "text", text: secret }], details: data },
    thinking_blocks: [{ type: "thinking", thinking: secret, signature: "c2ln" }],
  };
  const masked = createMask([secret])(JSON.stringify(event));
  expect(masked).not.toContain(secret);
  expect(JSON.parse(masked)).toMatchObject({
    id: event.id,
    kind: "ActionEvent",
    tool_name: "lookup",
    action: { kind: "MCPToolAction" },
    tool_call: { id: "call-1", origin: "completion" },
    observation: { kind: "MCPToolObservation", content: [{ type: "text" }] },
    thinking_blocks: [{ type: "thinking", signature: "c2ln" }],
  });
  const item = { type: "tool_use", id: "t1", input: data, signature: "c2ln" };
  const replay = createMask([secret])(JSON.stringify({ wire: "w", host: "h", items: [item] }), "provider");
  expect(replay).not.toContain(secret);
  expect(JSON.parse(replay)).toMatchObject({ items: [{ type: "tool_use", id: "t1", signature: "c2ln" }] });
});

test("P56: what the configuration says stays as it is", () => {
  const mask = createMask(["project-77"], ["/home/me/project-77/hooks/check.sh"]);
  const event = {
    kind: "HookExecutionEvent",
    hook_command: "/home/me/project-77/hooks/check.sh",
    stdout: "in project-77",
  };
  expect(JSON.parse(mask(JSON.stringify(event)))).toEqual({ ...event, stdout: "in <secret-hidden>" });
});
