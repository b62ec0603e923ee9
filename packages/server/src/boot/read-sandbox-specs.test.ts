import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../lib/config-error.ts";
import { readSandboxSpecs } from "./read-sandbox-specs.ts";

/** The specs, or the lines of the refusal without the first one, which names the file. */
async function read(content: unknown, defaultImage: string | null = "base:1"): Promise<unknown> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-specs-"));
  const file = join(folder.path, "specs.json");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  try {
    return await readSandboxSpecs(file, defaultImage);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [first, ...lines] = error.message.split("\n");
    expect(first).toBe(`The sandbox specs in ${file} (CONVOKE_SANDBOX_SPECS) cannot be used:`);
    return lines.map((line) => line.trim());
  }
}

test("without a file there are none, and one that is not there is named", async () => {
  expect(await readSandboxSpecs(null, null)).toBe(null);
  await expect(readSandboxSpecs("/nowhere/specs.json", null)).rejects.toThrow(
    "CONVOKE_SANDBOX_SPECS cannot be read: ENOENT",
  );
});

test("a file is read as it is written", async () => {
  const whole = {
    id: "python",
    description: "Python behind gVisor",
    backend: "docker",
    image: "agents/python:3.13",
    runtime: "runsc",
    memory_mb: 4096,
    cpus: 0.5,
    processes: 64,
    disk_mb: 100,
    environment: { CI: "1" },
    network: "all",
    secrets: ["NPM_TOKEN"],
    warm: 2,
  };
  const specs = [whole, { id: "small", backend: "bubblewrap" }];
  expect(await read({ specs })).toEqual(specs);
});

test.each([
  ["[", "it is not JSON: Unexpected end of JSON input"],
  [{}, "specs: Add this field: it is required."],
  [{ specs: [] }, "specs: Send at least 1 item."],
])("a file of another form is refused: %j", async (content, line) => {
  expect(await read(content)).toEqual([expect.stringContaining(line.split(".")[0]!)]);
});

test("each mistake names the entry, the field and what to do", async () => {
  const specs = [
    { id: "one", backend: "docker", memory: 1 },
    { id: "two", backend: "podman" },
    { id: "three", backend: "docker", memory_mb: 1 },
    { backend: "docker" },
    { id: "four", backend: "docker", network: { allow: ["a.example"], alow: [] } },
  ];
  expect(await read({ specs })).toEqual(
    expect.arrayContaining([
      "specs.0.memory: Remove this field: it is not known here.",
      "specs.1.backend: Use one of: bubblewrap, docker, process.",
      "specs.2.memory_mb: Send a number that is at least 64.",
      "specs.3.id: Add this field: it is required.",
    ]),
  );
});

test("what cannot hold is refused, with the id", async () => {
  const specs = [
    { id: "-", backend: "bubblewrap", image: "a", runtime: "runsc" },
    { id: "twice", backend: "bubblewrap", network: { allow: ["a.example"] } },
    { id: "twice", backend: "bubblewrap", network: "registries" },
    { id: "odd", backend: "bubblewrap", network: { allow: ["http://a.example/"] } },
    { id: "open", backend: "process", network: "none" },
    { id: "names", backend: "process", environment: { "A B": "", CONVOKE_X: "", LD_PRELOAD: "", FINE: "" } },
  ];
  const lines = (await read({ specs })) as string[];
  expect(lines.map((line) => line.split(":")[0])).toEqual([
    "specs.0.id (-)",
    "specs.0.image (-)",
    "specs.0.runtime (-)",
    "specs.2.id (twice)",
    "specs.3.network (odd)",
    "specs.4.network (open)",
    "specs.5.environment (names)",
  ]);
  expect(lines[6]).toContain("A B, CONVOKE_X, LD_PRELOAD");
});

test("docker needs an image, of the spec or of the server", async () => {
  const specs = [{ id: "one", backend: "docker" }];
  expect(await read({ specs })).toEqual(specs);
  expect(await read({ specs }, null)).toEqual([
    "specs.0.image (one): Name an image that has the command convoke, or set CONVOKE_SANDBOX_IMAGE for all specs.",
  ]);
});
