import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { libraryManifest } from "./publish-manifest.ts";

/** Exports and signatures of one entry of `@convoke/client`. */
export type ApiReport = {
  /** Slash path relative to the root. */
  readonly file: string;
  readonly text: string;
};

/** The reports of the built client (`dist/client`), one for each entry that is published. */
export function makeApiReports(root: string): readonly ApiReport[] {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-api-"));
  const manifest = libraryManifest(root, "client") as {
    readonly exports: Readonly<Record<string, { readonly types: string }>>;
  };
  return Object.entries(manifest.exports).map(([subpath, { types }]) => {
    const name = `client${subpath.slice(1).replaceAll("/", "-")}.api.md`;
    report(root, path.join(root, "dist/client", types), folder.path, name);
    return {
      file: `docs/api/${name}`,
      text: withoutPreface(
        readFileSync(path.join(folder.path, name), "utf8"),
        `@convoke/client${subpath.slice(1)}`,
      ),
    };
  });
}

/** API Extractor brings a TypeScript with an API; ours has none. */
function report(root: string, entry: string, folder: string, name: string): void {
  const dist = path.join(root, "dist");
  const none = { default: { logLevel: ExtractorLogLevel.None } };
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: path.join(dist, "client"),
      mainEntryPointFilePath: entry,
      apiReport: { enabled: true, reportFileName: name, reportFolder: folder, reportTempFolder: folder },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "ES2024",
            module: "NodeNext",
            moduleResolution: "NodeNext",
            lib: ["ESNext", "DOM", "DOM.Iterable"],
            types: [],
            skipLibCheck: true,
            noEmit: true,
            paths: { "@convoke/protocol": [path.join(dist, "protocol/lib/index.d.ts")] },
          },
          files: [entry],
        },
      },
      messages: {
        compilerMessageReporting: none,
        extractorMessageReporting: none,
        tsdocMessageReporting: none,
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(dist, "client/package.json"),
  });
  const { succeeded, errorCount } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === ExtractorLogLevel.Error) throw new Error(message.text);
    },
  });
  if (!succeeded) throw new Error(`API Extractor failed with ${errorCount} errors`);
}

/** Its own heading names the package in any case, and a tool. */
function withoutPreface(text: string, name: string): string {
  const code = text.slice(text.indexOf("```ts"));
  return `# ${name}\n\nExports and signatures, written by \`npx node scripts/api-report.ts\` after a build. See docs/stability.md.\n\n${code.replaceAll("\r\n", "\n")}`;
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const isCheck = process.argv.includes("--check");
  mkdirSync(path.join(root, "docs/api"), { recursive: true });
  for (const { file, text } of makeApiReports(root)) {
    if (!isCheck) writeFileSync(path.join(root, file), text);
    else if (readFileSync(path.join(root, file), "utf8") !== text) {
      console.error(`${file} is not current: run npx node scripts/api-report.ts, and read docs/stability.md`);
      process.exitCode = 1;
    }
  }
}
