import {
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { buildLibraries } from "./build-libraries.ts";

const repository = path.resolve(import.meta.dirname, "..");

const workspace = JSON.parse(readFileSync(path.join(repository, "package.json"), "utf8")) as {
  readonly keywords: readonly string[];
};

const tree: Readonly<Record<string, string>> = {
  LICENSE: "Free\n",
  "packages/protocol/package.json": JSON.stringify({
    name: "@convoke/protocol",
    version: "1.2.3",
    license: "MIT",
    type: "module",
    exports: {
      ".": "./src/index.ts",
      "./testing": "./src/testing.ts",
      "./validate": "./src/validate.ts",
    },
    dependencies: { typebox: "1.4.3" },
  }),
  "packages/protocol/README.md": "# Read me\n",
  "packages/protocol/src/index.ts": `export { twice } from "./deep/twice.ts";`,
  "packages/protocol/src/deep/twice.ts": `export const twice = (value: number): number => value * 2;`,
  "packages/protocol/src/deep/twice.test.ts": `import "vitest";`,
  "packages/protocol/src/validate.ts": `export const isValid = true;`,
};

/** Writes the tree, overlaid with the `planted` files, builds its one library, and passes the library's directory to `work`. */
async function build(
  planted: Readonly<Record<string, string>>,
  work: (library: string) => Promise<void>,
): Promise<void> {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-libraries-"));
  for (const [file, text] of Object.entries({ ...tree, ...planted })) {
    mkdirSync(path.join(root.path, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root.path, file), text);
  }
  for (const file of ["tsconfig.json", "tsconfig.build.json", "package.json"]) {
    copyFileSync(path.join(repository, file), path.join(root.path, file));
  }
  symlinkSync(path.join(repository, "node_modules"), path.join(root.path, "node_modules"));
  buildLibraries(root.path, ["protocol"]);
  await work(path.join(root.path, "dist", "protocol"));
}

test("a library is built as modules with declarations, without its tests", async () => {
  await build({}, async (library) => {
    const { twice } = (await import(pathToFileURL(path.join(library, "lib", "index.js")).href)) as {
      readonly twice: (value: number) => number;
    };
    expect(twice(21)).toBe(42);
    expect(readFileSync(path.join(library, "lib", "deep", "twice.d.ts"), "utf8")).toContain(
      "twice: (value: number) => number",
    );
    expect(readdirSync(path.join(library, "lib", "deep")).toSorted()).toEqual([
      "twice.d.ts",
      "twice.js",
      "twice.js.map",
    ]);
    expect(readFileSync(path.join(library, "README.md"), "utf8")).toBe("# Read me\n");
    expect(JSON.parse(readFileSync(path.join(library, "package.json"), "utf8"))).toEqual({
      name: "@convoke/protocol",
      version: "1.2.3",
      license: "MIT",
      keywords: workspace.keywords,
      publishConfig: { access: "public" },
      type: "module",
      sideEffects: false,
      engines: { node: ">=22" },
      exports: {
        ".": { types: "./lib/index.d.ts", default: "./lib/index.js" },
        "./validate": { types: "./lib/validate.d.ts", default: "./lib/validate.js" },
      },
      files: ["lib"],
      dependencies: { typebox: "1.4.3" },
    });
  });
});

test("a library that needs Node's types does not build", async () => {
  const planted = { "packages/protocol/src/validate.ts": `export const here: string = process.cwd();` };
  await expect(build(planted, () => Promise.resolve())).rejects.toThrow("Cannot find name 'process'");
});
