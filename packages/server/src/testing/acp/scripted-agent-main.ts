import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import type { AgentScript } from "./agent-script.ts";
import { createScriptedAgent } from "./scripted-agent.ts";

/** `node scripted-agent-main.ts SCRIPT [FILE]`: plays a script, which is JSON, and writes what it was asked to the file. */
const [, , json = "{}", file] = process.argv;
const script = JSON.parse(json) as AgentScript;
if (script.trouble === "garbage") {
  process.stdout.write(`${"This is a banner, and no message. ".repeat(40)}\n`.repeat(2_000));
  setInterval(() => {}, 1_000);
} else {
  const calls = new Proxy<unknown[]>([], {
    get: (target, name) =>
      name === "push"
        ? (call: unknown) => file !== undefined && appendFileSync(file, `${JSON.stringify(call)}\n`)
        : Reflect.get(target, name),
  });
  const app = createScriptedAgent(script, { calls, exit: (code) => process.exit(code) });
  process.stdout.write("scripted agent, ready\n");
  const connection = app.connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
  await connection.closed;
}
