/**
 * An MCP server as a program, written by hand so that it can misbehave; the first argument selects how. Its tools: `echo` returns its
 * text, `environment` its variables. Reads and writes one JSON message per line.
 */
import { createInterface } from "node:readline";

type Request = { id?: number; method: string; params?: Record<string, unknown> };

const [mode = "good"] = process.argv.slice(2);

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const echo = { name: "echo", description: "Says it back.", inputSchema: schema };
const environment = { name: "environment", inputSchema: { type: "object" } };
const huge = Array.from({ length: 3_000 }, (_, index) => ({ ...echo, name: `tool_${index}` }));
const badSchemas = [
  { name: "no_schema" },
  {
    name: "odd",
    inputSchema: {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { $ref: "#/$defs/a" } },
    },
  },
  { name: "list", inputSchema: [] },
  { name: 5, inputSchema: schema },
];
let calls = 0;

if (mode === "crash-at-start") {
  process.stderr.write("cannot read my settings\n");
  process.exit(1);
}
if (mode === "junk-forever") setInterval(() => process.stdout.write(`${"junk ".repeat(20_000)}\n`), 1);
if (mode === "banner") process.stdout.write('Welcome!\n{"level":"info"}\n[1,2\n');
if (mode !== "deaf") {
  createInterface({ input: process.stdin })
    .on("line", (line) => receive(JSON.parse(line) as Request))
    .on("close", () => process.exit(0));
} else setInterval(() => {}, 1_000);
if (mode === "closed-input") process.stdin.destroy();

function receive({ id, method, params }: Request): void {
  if (id === undefined || mode === "hang") return;
  switch (method) {
    case "initialize":
      if (mode === "no-list") setTimeout(() => process.exit(3), 20);
      if (mode === "flood") flood();
      setTimeout(() => initialize(id, params), mode === "slow-start" ? 4_000 : 0);
      return;
    case "tools/list":
      if (mode === "slow-list" || mode === "no-list") return;
      if (mode === "list-error") return send({ id, error: { code: -32603, message: "no list today" } });
      if (mode === "null-list") return answer(id, null);
      if (mode === "endless-list") return answer(id, { tools: [echo], nextCursor: `${Math.random()}` });
      return answer(id, { tools: tools() });
    case "tools/call":
      return call(id, params ?? {});
    default:
      send({ id, error: { code: -32601, message: "not here" } });
  }
}

function initialize(id: number, params: Request["params"]): void {
  answer(id, {
    protocolVersion: mode === "old-protocol" ? "1999-01-01" : params?.["protocolVersion"],
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "double", version: "1" },
  });
}

function tools(): object[] {
  if (mode === "huge-list") return huge;
  if (mode === "bad-schema") return [...badSchemas, echo];
  if (mode === "twice") return [echo, { ...echo, description: "The second." }];
  if (mode === "changing" && calls > 0) return [{ ...echo, name: "later" }];
  if (mode === "clash") return [{ ...echo, name: "terminal" }];
  return [echo, environment];
}

function call(id: number, { name, arguments: given }: { name?: unknown; arguments?: unknown }): void {
  calls += 1;
  if (mode === "crash-mid-call") process.exit(9);
  if (mode === "hang-mid-call") return;
  if (mode === "changing") send({ method: "notifications/tools/list_changed" });
  if (mode === "large") return answer(id, { content: [{ type: "text", text: "x".repeat(5_000_000) }] });
  if (name === "environment")
    return answer(id, { content: [{ type: "text", text: JSON.stringify(process.env) }] });
  answer(id, { content: [{ type: "text", text: `echo ${(given as { text: string }).text}` }] });
}

function flood(): void {
  const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x".repeat(1_000) } })}\n`;
  const write = (): void => {
    while (process.stdout.write(line.repeat(50)));
    process.stdout.once("drain", write);
  };
  write();
}

function answer(id: number, result: unknown): void {
  send({ id, result });
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
