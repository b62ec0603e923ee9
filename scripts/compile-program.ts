import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempDisposableSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ConvokeClient } from "@convoke/client";
import { runCachedScript } from "../packages/cli/src/cached-script.ts";
import { startScriptedModel } from "../packages/server/src/testing/scripted-model/scripted-model-server.ts";
import { wallSettings } from "@convoke/server/testing/wall-settings";

/**
 * Writes V8's code cache of the built program beside it, so that the first start after an installation compiles nothing. A child
 * process starts a server, plays a turn and saves the code. Another Node version ignores the cache and compiles.
 */
export async function compileProgram(library: string): Promise<string> {
  const script = path.join(library, "cli-main.js");
  const child = spawn(process.execPath, [import.meta.filename, script], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  const prefix = `${path.basename(script)}.v`;
  const written = readdirSync(library).find((name) => name.startsWith(prefix));
  if (code !== 0 || written === undefined)
    throw new Error(`The built program could not be compiled (${code}).`);
  // A code cache is private to its user; this one belongs to the package.
  chmodSync(path.join(library, written), 0o644);
  return written;
}

type Program = {
  readonly main: (argv: readonly string[], keepCompiled: () => void) => Promise<void>;
};

const script = process.argv[2];
if (import.meta.main && script !== undefined) await play(script);

async function play(file: string): Promise<void> {
  const folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-compile-"));
  // The server writes into it until it has closed.
  process.once("exit", () => folder.remove());
  const builtFile = `${file}.${process.version}-${process.arch}`;
  const program = runCachedScript(file, { cacheFile: builtFile, builtFile: null });
  const started = Promise.withResolvers<string>();
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array) => {
    const { url } = JSON.parse(String(chunk)) as { url: string };
    started.resolve(url);
    return write(chunk);
  };
  Object.assign(process.env, wallSettings());
  const options = ["--no-auth", "--json", "--port", "0", "--data-dir", path.join(folder.path, "data")];
  void (program.exports as Program).main(["node", "convoke", "serve", ...options], () => {});
  const url = await started.promise;
  await using model = await startScriptedModel({ script: { turns: [{ text: "Done." }], loop: true } });
  await playTurn(url, `${model.url}/v1`, folder.path);
  if (!program.keep({ isWhole: true }) || !existsSync(builtFile)) process.exitCode = 1;
  process.kill(process.pid, "SIGTERM");
}

/** What a client does with a newly started server: it begins a conversation, follows it to its end, and reads the newest events. */
async function playTurn(url: string, modelUrl: string, folder: string): Promise<void> {
  const client = new ConvokeClient({ baseUrl: url });
  const { id } = await client.call("POST /api/conversations", {
    body: {
      agent: {
        llm: { model: "openai/scripted", base_url: modelUrl, api_key: "any" },
        tools: [{ name: "terminal" }, { name: "file_editor" }],
      },
      workspace: { working_dir: path.join(folder, "work") },
      initial_message: { content: [{ text: "Begin." }] },
    },
  });
  for await (const item of client.follow(id, { afterEventId: null })) {
    if (item.type !== "event" || item.event.kind !== "ConversationStateUpdateEvent") continue;
    if (item.event.key !== "execution_status") continue;
    if (item.event.value === "error")
      throw new Error("The turn that is played to warm the code cache ended in an error.");
    if (item.event.value === "finished") break;
  }
  await client.tail(id, { limit: 100 });
}
