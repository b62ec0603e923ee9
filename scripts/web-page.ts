import path from "node:path";
import { build, type Rolldown } from "vite";

/** Output of Vite for `packages/web`. */
export type BuiltPage = {
  readonly chunks: readonly Rolldown.OutputChunk[];
  readonly assets: readonly Rolldown.OutputAsset[];
  /** Scripts that the browser needs before the page shows anything: the entry, and its static imports. */
  readonly firstChunks: readonly Rolldown.OutputChunk[];
  /** Absolute paths of all bundled files. */
  readonly sources: readonly string[];
};

/** Builds the page of the repository `root`, into `packages/web/dist` when `isWritten`. */
export async function buildPage(root: string, isWritten: boolean): Promise<BuiltPage> {
  const result = await build({
    configFile: path.join(root, "packages/web/vite.config.ts"),
    logLevel: "warn",
    build: { write: isWritten },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  const chunks = output.filter((item) => item.type === "chunk");
  const assets = output.filter((item) => item.type === "asset");
  return {
    chunks,
    assets,
    firstChunks: firstOf(
      chunks,
      assets.find(({ fileName }) => fileName === "index.html"),
    ),
    sources: chunks.flatMap(({ moduleIds }) => moduleIds.filter((id) => path.isAbsolute(id))),
  };
}

function firstOf(
  chunks: readonly Rolldown.OutputChunk[],
  page: Rolldown.OutputAsset | undefined,
): Rolldown.OutputChunk[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk] as const));
  const seen = new Set<Rolldown.OutputChunk>();
  const visit = (chunk: Rolldown.OutputChunk | undefined): void => {
    if (chunk === undefined || seen.has(chunk)) return;
    seen.add(chunk);
    for (const name of chunk.imports) visit(byName.get(name));
  };
  const named = String(page?.source ?? "");
  for (const chunk of chunks) if (named.includes(`/${chunk.fileName}"`)) visit(chunk);
  return [...seen];
}
