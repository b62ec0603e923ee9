import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { sourcePrograms } from "../testing/tested-programs.ts";

/** Names every module that a process loads on its error output. */
const naming = `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => (process.stderr.write("loaded " + url + "\\n"), next(url, context)) });`;

async function loadedWith(environment: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-loaded-"));
  try {
    const hook = join(folder, "hook.mjs");
    await writeFile(hook, naming);
    await using server = await ConvokeProcess.start({
      // A build names its parts by their content.
      command: sourcePrograms.command,
      sandbox: "off",
      environment: { ...environment, NODE_OPTIONS: `--import ${hook}` },
    });
    expect((await server.call("GET", "/api/conversations/count")).json).toBe(0);
    return server.log;
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("P60, B1: without the address of a collector nothing of OpenTelemetry is loaded; metrics are loaded behind the start", async () => {
  // On a busy machine metrics, which bring an interface of OpenTelemetry along, may be loaded before we have looked.
  const [start] = (await loadedWith({})).split(/^loaded .*prom-client/m);
  expect(start).toContain("loaded ");
  // Loaded by the server when it begins to listen.
  expect(start).toContain("/fast-json-stringify/");
  expect(start).not.toContain("opentelemetry");
  const withoutMetrics = await loadedWith({ CONVOKE_METRICS: "off" });
  expect(withoutMetrics).not.toMatch(/opentelemetry|prom-client/);
});

test("with it, it is", async () => {
  // Nobody listens there: the server does not mind.
  const log = await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
  expect(log).toContain("exporter-trace-otlp-http");
});
