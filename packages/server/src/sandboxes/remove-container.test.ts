import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ContainerEngine } from "./container-engine.ts";
import { removeContainer } from "./remove-container.ts";

test("a container that is listed and not yet found is waited for, then removed", async () => {
  const engine = await openEngine({ answers: [404, 404, 204], listed: () => true });
  await remove(engine);
  expect(engine.removals()).toBe(3);
});

test("one that somebody else removes is waited for until it is neither found nor listed", async () => {
  const engine = await openEngine({ answers: [409, 409, 404], listed: (removals) => removals < 3 });
  await remove(engine);
  expect(engine.removals()).toBe(3);
});

test("where there is none, nothing is waited for", async () => {
  const engine = await openEngine({ answers: [404], listed: () => false });
  await remove(engine);
  expect(engine.removals()).toBe(1);
});

test("one that stays listed gives an error with its name, its state and what to do", async () => {
  const engine = await openEngine({ answers: [404], listed: () => true });
  await expect(remove(engine, 100)).rejects.toThrow(
    /container convoke-here-one could not be removed.*created.*docker ps -a/s,
  );
});

test("what the engine refuses is told in its words", async () => {
  const engine = await openEngine({ answers: [500], listed: () => true });
  await expect(remove(engine)).rejects.toThrow("The container engine refused (500): as told");
});

type ScriptedEngine = { readonly engine: ContainerEngine; readonly removals: () => number };

function remove({ engine }: ScriptedEngine, deadlineMs = 10_000): Promise<void> {
  return removeContainer({
    engine,
    installationId: "here",
    sandboxId: "one",
    name: "convoke-here-one",
    deadlineMs,
  });
}

/** Answers removals by `answers`, the last one again and again, and lists one container for as long as `listed` says. */
async function openEngine(script: {
  readonly answers: readonly number[];
  readonly listed: (removals: number) => boolean;
}): Promise<ScriptedEngine> {
  const directory = await mkdtemp(join(tmpdir(), "convoke-engine-"));
  let removals = 0;
  const server = createServer((request, response) => {
    if (request.method === "DELETE") {
      response.statusCode = script.answers[Math.min(removals, script.answers.length - 1)] ?? 500;
      removals += 1;
      response.end(response.statusCode === 204 ? undefined : JSON.stringify({ message: "as told" }));
      return;
    }
    const wanted = decodeURIComponent(request.url ?? "");
    const isOurs = wanted.includes('"convoke.installation=here"') && wanted.includes('"convoke.sandbox=one"');
    response.end(JSON.stringify(isOurs && script.listed(removals) ? [{ State: "created", Labels: {} }] : []));
  });
  const socketPath = join(directory, "engine.sock");
  server.listen(socketPath);
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  });
  return { engine: new ContainerEngine(socketPath), removals: () => removals };
}
