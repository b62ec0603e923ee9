import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import { silentLogger } from "../lib/logger.ts";
import { findContainerEngine } from "../sandboxes/open-sandbox.ts";
import { createSecretBox } from "../security/seal.ts";
import { testedPrograms } from "../testing/tested-programs.ts";
import { readSandboxConfig } from "./config-sandboxes.ts";
import { openSandboxes } from "./open-sandboxes.ts";

const socketPath = process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock";
const image = process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline";
const engine = await findContainerEngine({ socketPath, image });

describe.skipIf(!engine.isUsable)(`specs need a container engine (${engine.detail})`, () => {
  test("two specs of a file are two kinds of containers, and a sandbox is what its spec says", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-specs-"));
    const file = join(folder.path, "specs.json");
    const one = { id: "small", backend: "docker", image, memory_mb: 512, environment: { KIND: "one" } };
    const two = { id: "large", backend: "docker", image, memory_mb: 1_024, processes: 100 };
    await writeFile(file, JSON.stringify({ specs: [one, two] }));
    await using sandboxes = await openSandboxes({
      config: readSandboxConfig(
        { CONVOKE_SANDBOX_SPECS: file, CONVOKE_SANDBOX_ENGINE_SOCKET: socketPath },
        "none",
      ),
      ownPort: () => null,
      onEgress: () => {},
      boundSecrets: createBoundSecretRegistry(),
      policyOf: () => ({}),
      dataDir: folder.path,
      program: testedPrograms().toolHost,
      environment: process.env,
      cluster: null,
      sharedSandboxes: null,
      secretBox: createSecretBox(randomBytes(32)),
      clock: systemClock,
      logger: silentLogger,
    });
    expect(sandboxes?.templates).toMatchObject([
      { id: "small", isolation: "container" },
      { id: "large", isolation: "container" },
    ]);
    const printed = await Promise.all(
      ["small", "large"].map(async (spec) => {
        const { id } = await sandboxes!.start("ada", spec);
        const { toolHost, workspaceDir, stateDir } = await sandboxes!.openHost(id);
        const session = await toolHost.openSession({
          sessionId: "session",
          workspaceDir,
          stateDir: join(stateDir, "session"),
          tools: [{ name: "terminal" }],
        });
        const outcome = await session.execute({
          actionId: randomUUID(),
          tool: "terminal",
          action: {
            kind: "TerminalAction",
            command: 'echo "kind=$KIND."',
            is_input: false,
            timeout: 60,
            reset: false,
          },
          secrets: [],
        });
        const [view] = await sandboxes!.getMany("ada", [id]);
        await sandboxes!.remove("ada", id);
        return [view?.templateId, JSON.stringify(outcome)];
      }),
    );
    expect(printed).toEqual([
      ["small", expect.stringContaining("kind=one.")],
      ["large", expect.stringContaining("kind=.")],
    ]);
  });
});
