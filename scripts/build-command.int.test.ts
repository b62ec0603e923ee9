import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { buildCommand } from "./build-command.ts";

/** A small repository: a command that uses another package's worker, an asset and a JSON file. */
const tree: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    version: "1.2.3",
    license: "MIT",
    homepage: "https://example.org",
    repository: { type: "git", url: "git+https://example.org/convoke.git" },
    engines: { node: ">=24" },
    devDependencies: { node: "24.0.1" },
    workspaces: [
      "packages/protocol",
      "packages/tool-host",
      "packages/server",
      "packages/cli",
      "packages/web",
    ],
  }),
  "README.md": "# Read me\n",
  LICENSE: "Free\n",
  "packages/protocol/package.json": JSON.stringify({
    name: "@convoke/protocol",
    exports: { ".": "./src/index.ts" },
  }),
  "packages/protocol/src/index.ts": `export const Reply = { type: "integer" } as const;`,
  "packages/tool-host/package.json": JSON.stringify({
    name: "@convoke/tool-host",
    exports: { "./system": "./src/system.ts" },
  }),
  "packages/tool-host/src/system.ts": `
    export const systemTable = { kind: "proc" };
    export const readProcess = (): undefined => undefined;
    export const readCommandLine = (): string[] => [];
  `,
  "packages/server/package.json": JSON.stringify({
    name: "@convoke/server",
    exports: { ".": "./src/index.ts" },
    dependencies: { "@convoke/protocol": "1.2.3", typebox: "1.4.3", "@vscode/ripgrep": "1.18.0" },
  }),
  "packages/server/src/index.ts": `export * from "./journal/open.ts";`,
  "packages/server/src/journal/open.ts": `
    import { readFileSync } from "node:fs";
    import { Worker } from "node:worker_threads";
    import { Reply } from "@convoke/protocol";
    import { rgPath } from "@vscode/ripgrep";
    import { Type } from "typebox";
    import prices from "./prices.json" with { type: "json" };
    export async function describe(): Promise<unknown> {
      const script = readFileSync(new URL("./setup.sh", import.meta.url), "utf8");
      const worker = new Worker(new URL("./store-worker.ts", import.meta.url));
      const reply = await new Promise((resolve) => worker.once("message", resolve));
      return { script, reply, prices, type: Type.String().type, schema: Reply.type, ripgrep: rgPath.includes("ripgrep") };
    }
  `,
  "packages/server/src/journal/prices.json": `{ "cents": 5 }`,
  "packages/server/src/journal/setup.sh": "echo ready\n",
  "packages/server/src/journal/store-worker.ts": `
    import { parentPort } from "node:worker_threads";
    import { twice } from "./twice.ts";
    parentPort?.postMessage(twice(21) satisfies number);
  `,
  "packages/server/src/journal/twice.ts": `export const twice = (value: number): number => value * 2;`,
  "packages/cli/package.json": JSON.stringify({
    name: "@convoke/cli",
    dependencies: { "@convoke/server": "1.2.3" },
  }),
  ...ownFiles(
    "bin.ts",
    "cache-folder.ts",
    "cached-script.ts",
    "launch.cjs",
    "load-main.ts",
    "sweep-cache.ts",
    "watch-parent.ts",
  ),
  "packages/cli/src/completion/complete.ts": `export const main = async () => console.log("completed");`,
  "packages/cli/src/tool-host-main.ts": `export const main = async () => console.log(JSON.stringify("a tool host"));`,
  "packages/cli/src/main.ts": `
    export async function main(given: readonly string[], keepCompiled: () => void): Promise<void> {
      const { describe } = await import("@convoke/server");
      console.log(JSON.stringify(await describe()));
      keepCompiled();
    }
  `,
};

const repository = path.resolve(import.meta.dirname, "..");

function ownFiles(...names: readonly string[]): Record<string, string> {
  const folder = "packages/cli/src";
  const read = (name: string): string =>
    readFileSync(path.resolve(import.meta.dirname, "..", folder, name), "utf8");
  return Object.fromEntries(names.map((name) => [`${folder}/${name}`, read(name)]));
}

async function build(
  planted: Readonly<Record<string, string>>,
  work: (out: string) => void,
  loadedAtStart: readonly string[] = [],
): Promise<void> {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-build-"));
  // The built command finds the installed packages there. Below them Node would read no TypeScript.
  symlinkSync(path.join(repository, "node_modules"), path.join(root.path, "node_modules"));
  for (const [file, text] of Object.entries({ ...tree, ...planted })) {
    mkdirSync(path.join(root.path, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root.path, file), text);
  }
  const out = path.join(root.path, "dist", "convoke");
  await buildCommand(root.path, out, { late: loadedAtStart });
  work(out);
}

/** Output of the built command, run in another directory with its own home directory. */
function run(out: string, ...args: readonly string[]): unknown {
  const options = {
    cwd: tmpdir(),
    encoding: "utf8",
    env: { ...process.env, HOME: path.dirname(out) },
  } as const;
  return JSON.parse(execFileSync(process.execPath, [path.join(out, "lib", "bin.js"), ...args], options));
}

test("the built command starts its worker and reads its assets from another directory", async () => {
  await build({}, (out) => {
    expect(run(out)).toEqual({
      script: "echo ready\n",
      reply: 42,
      prices: { cents: 5 },
      schema: "integer",
      type: "string",
      ripgrep: true,
    });
    expect(run(out, "tool-host")).toBe("a tool host");
    expect(JSON.parse(readFileSync(path.join(out, "package.json"), "utf8"))).toEqual({
      name: "convoke",
      version: "1.2.3",
      license: "MIT",
      type: "module",
      engines: { node: ">=18" },
      bin: { convoke: "lib/launch.cjs" },
      files: ["lib", "!**/*.map", "web", "docs", "THIRD-PARTY-NOTICES.txt"],
      repository: { type: "git", url: "git+https://example.org/convoke.git" },
      publishConfig: { access: "public" },
      dependencies: { "@vscode/ripgrep": "1.18.0" },
      optionalDependencies: { "@convoke/node-linux-x64": "24.0.1", "@convoke/node-linux-arm64": "24.0.1" },
    });
    expect(readdirSync(out).toSorted()).toEqual([
      "LICENSE",
      "README.md",
      "THIRD-PARTY-NOTICES.txt",
      "lib",
      "package.json",
    ]);
    expect(readFileSync(path.join(out, "THIRD-PARTY-NOTICES.txt"), "utf8")).toMatch(
      /^typebox 1\.4\.3 \(MIT\)\n\n.*MIT License/s,
    );
    expect(readdirSync(path.join(out, "lib"))).toEqual(
      expect.arrayContaining(["bin.js", "server-journal-setup.sh", "server-journal-store-worker.js"]),
    );
  });
});

test("no letter of a licence or a text makes a built script take two bytes a character", async () => {
  const planted = {
    "packages/server/src/journal/twice.ts": `
      /*! MIT. Jürgen */
      export const sign = "…";
      export const twice = (value: number): number => (sign === "…" ? value * 2 : 0);
    `,
  };
  await build(planted, (out) => {
    const library = path.join(out, "lib");
    const scripts = readdirSync(library).filter((file) => /\.c?js$/.test(file));
    const texts = scripts.map((file) => readFileSync(path.join(library, file), "latin1"));
    expect(texts.join("")).toMatch(/^\p{ASCII}*$/u);
    expect(run(out)).toMatchObject({ reply: 42 });
  });
});

test("late parts share what they import with the script, live, and a start loads none of those it names", async () => {
  const planted = {
    "packages/server/src/index.ts": `export { describe } from "./journal/open.ts"; export * from "./shared.ts";`,
    "packages/server/src/shared.ts": `export let count = 0; export const add = (): number => (count += 1); export class Fault {}`,
    "packages/server/src/late.ts": `
      import { count, add, Fault } from "./shared.ts";
      const again = async () => (await import("./named.ts")).named;
      export default { read: () => count, add, isFault: (error: unknown) => error instanceof Fault, again, isStrict };
      function isStrict(this: unknown) { return this === undefined; }
    `,
    "packages/server/src/old.cjs": `module.exports = { old: true, read: () => "old" };`,
    "packages/server/src/named.ts": `export const named = "a late part of a start";`,
    "packages/cli/src/main.ts": `
      import { Fault, add, count } from "../../server/src/shared.ts";
      function isStrict(this: unknown) { return this === undefined; }
      export async function main(): Promise<void> {
        const { named } = await import("../../server/src/named.ts");
        const { default: late } = await import("../../server/src/late.ts");
        const { default: old } = await import("../../server/src/old.cjs");
        add();
        late.add();
        console.log(JSON.stringify({ named, count, read: late.read(), isFault: late.isFault(new Fault()), old: old.read(), again: await late.again(), strict: [isStrict(), (0, late.isStrict)()] }));
      }
    `,
  };
  const check = (out: string): void => {
    expect(run(out)).toEqual({
      named: "a late part of a start",
      count: 2,
      read: 2,
      isFault: true,
      old: "old",
      again: "a late part of a start",
      strict: [true, true],
    });
    const parts = readdirSync(path.join(out, "lib")).filter((file) => /^part-.*\.cjs$/.test(file));
    const texts = parts.map((file) => readFileSync(path.join(out, "lib", file), "utf8"));
    expect(texts.filter((text) => text.includes("old:!0"))).toHaveLength(1);
    expect(texts.filter((text) => text.includes("a late part of a start"))).toEqual([]);
  };
  await build(planted, check, ["./packages/server/src/named.ts"]);
});

test("what is required of http2, https and tls is loaded when it is read, and is the same", async () => {
  const planted = {
    "packages/server/src/index.ts": `export { default as asks } from "./asks.cjs"; export { request } from "./asks.ts";`,
    "packages/server/src/asks.cjs": `
      const http2 = require("http2"), https = require("node:https"), tls = require("tls");
      module.exports = () => [http2.constants, https.Agent, tls.connect];
    `,
    "packages/server/src/asks.ts": `import { request as ask } from "node:https"; export const request = () => ask;`,
    "packages/cli/src/main.ts": `
      import { asks, request } from "@convoke/server";
      const names = ["http2", "https", "tls"];
      const loaded = () => names.filter((name) => process.moduleLoadList.includes("NativeModule " + name));
      export async function main(): Promise<void> {
        const before = loaded();
        const [constants, Agent, connect] = asks();
        const get = (name: string) => process.getBuiltinModule(name) as any;
        const same = [constants === get("http2").constants, Agent === get("https").Agent, connect === get("tls").connect];
        console.log(JSON.stringify({ before, after: loaded(), same, isRequest: request() === get("https").request }));
      }
    `,
  };
  await build(planted, (out) => {
    expect(run(out)).toEqual({
      before: [],
      after: ["http2", "https", "tls"],
      same: [true, true, true],
      isRequest: true,
    });
  });
});

test("an import that no workspace depends on fails the build", async () => {
  const planted = {
    "packages/server/src/journal/twice.ts": `import "fast-check"; export const twice = Number;`,
  };
  await expect(build(planted, () => undefined)).rejects.toThrow("no workspace depends on: fast-check");
});

test("a large package that every start would load fails the build", async () => {
  const planted = {
    "packages/cli/src/main.ts": `
      import { Client } from "@modelcontextprotocol/client";
      export async function main(): Promise<void> { console.log(Client.name); }
    `,
  };
  await expect(build(planted, () => undefined)).rejects.toThrow(
    "Every start would load @modelcontextprotocol/client",
  );
});

test("a command without its first line fails the build", async () => {
  const planted = { "packages/cli/src/bin.ts": "console.log(1);" };
  await expect(build(planted, () => undefined)).rejects.toThrow("must start with #!/usr/bin/env node");
});

test("two workspaces that want different versions fail the build", async () => {
  const manifest = { name: "@convoke/web", dependencies: { typebox: "1.0.0" } };
  const planted = { "packages/web/package.json": JSON.stringify(manifest) };
  await expect(build(planted, () => undefined)).rejects.toThrow("typebox");
});
