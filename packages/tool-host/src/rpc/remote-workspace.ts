import type { Readable } from "node:stream";
import type { ByteRange, GitPatch, OpenFile, Workspace } from "../workspace/workspace.ts";
import type { Link } from "./link.ts";

/** The workspace of a host in another process. Everything but a write is asked again when the connection breaks. */
export function createRemoteWorkspace(link: Link): Workspace {
  return {
    readFile: async (path: string, range?: ByteRange): Promise<OpenFile> => {
      const params = { path, ...(range === undefined ? {} : { range }) };
      const { result, content } = await link.run(async (connection) =>
        connection.requestStream("readFile", params),
      );
      return { stat: result, content };
    },
    writeFile: async (path, content) => {
      const connection = await link.connection();
      await connection.request("writeFile", { path }, { content });
    },
    stat: async (path) => link.run(async (connection) => connection.request("stat", { path })),
    list: async (path) => link.run(async (connection) => connection.request("list", { path })),
    createDirectory: async (path) => {
      await link.run(async (connection) => connection.request("createDirectory", { path }));
    },
    gitChanges: async (path, ref) =>
      link.run(async (connection) => connection.request("gitChanges", withRef(path, ref))),
    gitDiff: async (path, against = {}) =>
      link.run(async (connection) => connection.request("gitDiff", { path, ...against })),
    gitPatch: async (path, ref): Promise<GitPatch> => {
      const { result, content } = await link.run(async (connection) =>
        connection.requestStream("gitPatch", withRef(path, ref)),
      );
      return { ...result, content };
    },
    gitCommits: async (path, limit) =>
      link.run(async (connection) => connection.request("gitCommits", { path, limit })),
    gitCommitChanges: async (path, sha) =>
      link.run(async (connection) => connection.request("gitCommitChanges", { path, sha })),
    archive: async (path, exclude = []): Promise<Readable> => {
      const { content } = await link.run(async (connection) =>
        connection.requestStream("archive", { path, exclude }),
      );
      return content;
    },
    home: async () => link.run(async (connection) => connection.request("home", {})),
  };
}

function withRef(path: string, ref: string | undefined): { path: string; ref?: string } {
  return ref === undefined ? { path } : { path, ref };
}
