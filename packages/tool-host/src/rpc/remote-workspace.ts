import type { Archive, ByteRange, GitPatch, OpenFile, Workspace } from "../workspace/workspace.ts";
import { boundContent } from "./bounded-content.ts";
import type { Link } from "./link.ts";

/**
 * The workspace of a host in another process. Everything except writes is repeated when the connection breaks. Reading a file fails
 * with {@link ConnectionLostError} when the host sends nothing for `stallMs`.
 */
export function createRemoteWorkspace(link: Link, stallMs = defaultStallMs): Workspace {
  return openWithin({ link, stallMs }, []);
}

const defaultStallMs = 60_000;

/** Every request names `roots`, the innermost last; the host confines it to all of them. */
type Host = { readonly link: Link; readonly stallMs: number };

function openWithin(host: Host, roots: readonly string[]): Workspace {
  const { link, stallMs } = host;
  const at = (path: string): { path: string; roots?: readonly string[] } =>
    roots.length === 0 ? { path } : { path, roots };
  return {
    within: (root) => openWithin(host, [...roots, root]),
    readFile: async (path: string, range?: ByteRange): Promise<OpenFile> => {
      const params = { ...at(path), ...(range === undefined ? {} : { range }) };
      const { result, content } = await link.run(async (connection) =>
        connection.requestStream("readFile", params),
      );
      // Some system files report size 0 and have content.
      const size = result.sizeBytes > 0 ? result.sizeBytes : Infinity;
      const maxBytes = Math.min(size, (range?.end ?? Infinity) + 1) - (range?.start ?? 0);
      return { stat: result, content: boundContent(content, { maxBytes, stallMs }) };
    },
    writeFile: async (path, content) => {
      const connection = await link.connection();
      await connection.request("writeFile", at(path), { content });
    },
    stat: async (path) => link.run(async (connection) => connection.request("stat", at(path))),
    list: async (path) => link.run(async (connection) => connection.request("list", at(path))),
    createDirectory: async (path) => {
      await link.run(async (connection) => connection.request("createDirectory", at(path)));
    },
    gitChanges: async (path, ref) =>
      link.run(async (connection) => connection.request("gitChanges", { ...at(path), ...given(ref) })),
    gitDiff: async (path, against = {}) =>
      link.run(async (connection) => connection.request("gitDiff", { ...at(path), ...against })),
    gitPatch: async (path, ref, leftOut): Promise<GitPatch> => {
      const { result, content } = await link.run(async (connection) =>
        connection.requestStream("gitPatch", {
          ...at(path),
          ...given(ref),
          ...(leftOut === undefined ? {} : { leftOut }),
        }),
      );
      return { ...result, repository: result.repository ?? null, content };
    },
    gitCommits: async (path, limit) =>
      link.run(async (connection) => connection.request("gitCommits", { ...at(path), limit })),
    gitCommitChanges: async (path, sha) =>
      link.run(async (connection) => connection.request("gitCommitChanges", { ...at(path), sha })),
    gitRestore: async (path, ref) => {
      // A repeated restore would undo changes made in between.
      const connection = await link.connection();
      await connection.request("gitRestore", { ...at(path), ...given(ref) });
    },
    archive: async (path, exclude = [], format = "tar.gz"): Promise<Archive> => {
      const { result, content } = await link.run(async (connection) =>
        connection.requestStream("archive", { ...at(path), exclude, format }),
      );
      return { content, format: result?.format ?? "tar.gz", repository: result?.repository ?? null };
    },
    home: async () => roots.at(-1) ?? link.run(async (connection) => connection.request("home", {})),
  };
}

function given(ref: string | undefined): { ref?: string } {
  return ref === undefined ? {} : { ref };
}
