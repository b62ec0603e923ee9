import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { type BuildOptions, type Metafile, type Plugin, build } from "esbuild";
import { buildProgram } from "./build-program.ts";
import { bundlePlugin } from "./bundle-plugin.ts";
import { sourceOfAsset } from "./copied-files.ts";
import { findNamedLateImports } from "./late-imports.ts";
import { findLoadedFiles, outputName } from "./loaded-files.ts";
import { commandManifest, npmDependencies } from "./publish-manifest.ts";
import { dataFile, readSchemaData, schemaDataPlugin } from "./schema-data.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";
import { unbundledPackages } from "./unbundled-packages.ts";
import { readWorkspaceExports } from "./workspace-exports.ts";

const commandFile = "packages/cli/src/bin.ts";
const programFile = "packages/cli/src/main.ts";
/** Late imports that every server start needs. The package has them in the start script. */
const loadedAtStart: readonly string[] = [
  "./packages/cli/src/commands/serve.ts",
  "./packages/cli/src/open-node.ts",
  "./packages/cli/src/watched-demo.ts",
  "@convoke/server/config",
  "@convoke/server/config-init",
  "@convoke/server/find-bubblewrap",
  "@convoke/server/sandboxes",
  "@convoke/server/writer-thread",
  "@fastify/multipart",
];
/** Large packages that most starts and turns do without. */
const loadedLate: readonly string[] = [
  "@agentclientprotocol/sdk",
  "@anthropic-ai/sdk",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "jose",
  "oauth4webapi",
  "openid-client",
  "pg",
  "playwright-core",
  "quickjs-emscripten",
  "undici",
  "zod",
];
/** Not bundled: the launcher runs on any Node version. */
const launcherFile = "packages/cli/src/launch.cjs";

export type BuildCommandOptions = {
  /** Late imports that every start needs. */
  readonly late?: readonly string[];
  /** Scripts that no source starts but tests do, relative to the root. */
  readonly alsoStarted?: readonly string[];
};

export type BuiltCommand = {
  /** Scripts that Node starts: the command, its workers and child processes. Relative to the output directory. */
  readonly entries: readonly string[];
  /** Files that sources load by address; they are copied. */
  readonly assets: readonly string[];
  /** Size of all bundled scripts, without source maps. */
  readonly bytes: number;
};

/**
 * Bundles the command and everything it starts, npm packages included, into the publishable package `outDirectory`. Packages in
 * `unbundledPackages` stay outside and become dependencies in the manifest. All scripts are in one flat folder, so an address
 * relative to a source file stays valid wherever the bundler moves the source. The program is one script with late parts;
 * workers and child processes are modules.
 */
export async function buildCommand(
  root: string,
  outDirectory: string,
  { late = loadedAtStart, alsoStarted = [] }: BuildCommandOptions = {},
): Promise<BuiltCommand> {
  process.env["GOGC"] ??= bundlerGarbage;
  const { scripts: all, assets } = findLoadedFiles(root);
  const started = [...all.filter((file) => file !== programFile), ...alsoStarted];
  const manifest = commandManifest(root);
  const library = path.join(outDirectory, "lib");
  const options: BuildOptions = {
    platform: "node",
    target: "node24",
    external: unbundledPackages.flatMap((name) => [name, `${name}/*`]),
    sourcemap: true,
    sourcesContent: false,
    // V8 holds the source text of what it runs. So comments are removed, and the text is ASCII: then V8 stores one byte per
    // character, where a single other letter in a licence comment would double it. Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: longestLine,
    legalComments: "external",
    logLevel: "warning",
  };
  const schemaData = await readSchemaData(root);
  const schemas = schemaDataPlugin(schemaData, root);
  const plugin = bundlePlugin(root, readWorkspaceExports(root));
  const { metafile } = await build({
    ...options,
    absWorkingDir: root,
    entryPoints: [
      { in: path.join(root, commandFile), out: "bin" },
      ...started.map((file) => ({
        in: path.join(root, file),
        out: path.parse(outputName(file)).name,
      })),
    ],
    outdir: library,
    bundle: true,
    splitting: true,
    chunkNames: "chunk-[hash]",
    format: "esm",
    banner: { js: requireForCommonJs },
    metafile: true,
    plugins: [programOutside, schemas, plugin],
  });
  const program = await buildProgram({
    root,
    library,
    script: outputName(programFile),
    main: programFile,
    loadedAtStart: late,
    loadedLate,
    options: { ...options, plugins: [schemas, plugin] },
  });
  const inputs = { ...metafile.inputs, ...program.inputs };
  rejectUnlistedImports(inputs, new Set(Object.keys(npmDependencies(root))));
  const named = findNamedLateImports(root, { inputs }, isOwnSource);
  if (named.length > 0) {
    throw new Error(
      `CommonJS packages that are loaded late have a default export alone: ${named.join(", ")}`,
    );
  }

  mkdirSync(library, { recursive: true });
  const copies = assets.map((asset) => ({ asset, ...sourceOfAsset(root, asset) }));
  for (const { asset, from } of copies) {
    cpSync(from, path.join(library, outputName(asset)), { recursive: true });
  }
  writeFileSync(path.join(library, dataFile), schemaData.json);
  for (const file of ["README.md", "LICENSE"]) cpSync(path.join(root, file), path.join(outDirectory, file));
  writeFileSync(
    path.join(outDirectory, "THIRD-PARTY-NOTICES.txt"),
    thirdPartyNotices([
      ...Object.keys(inputs)
        .filter((file) => !isOwnSource(file))
        .map((file) => path.resolve(root, file)),
      ...copies.flatMap(({ manifests }) => manifests),
    ]),
  );
  writeFileSync(path.join(outDirectory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(path.join(root, launcherFile), path.join(library, "launch.cjs"));
  for (const name of ["bin.js", "launch.cjs"]) makeExecutable(path.join(library, name));
  const scripts = Object.entries(metafile.outputs).filter(([file]) => file.endsWith(".js"));
  return {
    entries: ["bin.js", ...started.map(outputName)],
    assets: assets.map(outputName),
    bytes: scripts.reduce((sum, [, output]) => sum + output.bytes, program.bytes),
  };
}

/**
 * How much garbage the bundler, a Go program, lets gather, in percent of what it holds: with the usual 100 it takes a quarter more processor
 * time. It has 1.5 GB of memory at most then.
 */
const bundlerGarbage = "400";

/** Short lines, so that a position in a stack trace is useful. */
const longestLine = 160;

/** Bundled CommonJS packages call `require` for Node's modules; ES modules have no `require`. */
const requireForCommonJs = `import { createRequire as createBundleRequire } from "node:module"; const require = createBundleRequire(import.meta.url);`;

/** The command loads the program by its file name. */
const programOutside: Plugin = {
  name: "convoke-program",
  setup: (builder) =>
    builder.onResolve({ filter: /^\.\/main\.ts$/ }, () => ({
      path: `./${outputName(programFile)}`,
      external: true,
    })),
};

/** Helpers that the bundler adds. */
const bundlerRuntime = "<runtime>";

/** Packages that our sources import must be a dependency of a workspace; a development dependency is not enough. */
function rejectUnlistedImports(inputs: Metafile["inputs"], dependencies: ReadonlySet<string>): void {
  const unlisted = Object.entries(inputs)
    .filter(([file]) => isOwnSource(file))
    .flatMap(([, input]) => input.imports)
    .filter(({ path: target }) => target !== bundlerRuntime)
    .filter((reference) => reference.external === true || !isOwnSource(reference.path))
    .map(({ original, path: target }) => original ?? target)
    .filter(
      (specifier) =>
        !specifier.startsWith("./") && !specifier.startsWith("node:") && !builtinModules.includes(specifier),
    )
    .filter((specifier) => !dependencies.has(packageOf(specifier)));
  if (unlisted.length > 0) {
    throw new Error(
      `the bundle imports packages that no workspace depends on: ${[...new Set(unlisted)].join(", ")}`,
    );
  }
}

/** `file` is relative to the root. */
function isOwnSource(file: string): boolean {
  return !file.startsWith("../") && !file.includes("node_modules/");
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function makeExecutable(file: string): void {
  if (!readFileSync(file, "utf8").startsWith("#!/usr/bin/env node\n")) {
    throw new Error(`${commandFile} must start with #!/usr/bin/env node`);
  }
  chmodSync(file, 0o755);
}
