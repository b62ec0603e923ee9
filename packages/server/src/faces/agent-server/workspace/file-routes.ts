import { posix } from "node:path";
import type { DirectoryEntry, Workspace } from "@convoke/tool-host";
import type { RouteHandler, RouteReply } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import type { OpenAccess } from "../../../workspaces/workspace-access.ts";
import { asAttachment, sendFile } from "./file-download.ts";
import { receiveFile } from "./file-upload.ts";
import { onMachine, pathOf } from "./workspace-handler.ts";

export type FileRouteDeps = {
  readonly openAccess: OpenAccess;
  /** The largest file that can be uploaded. */
  readonly uploadLimitBytes: number;
};

/** Directories that grow large and can be made again. */
const defaultExcludes = [
  "node_modules",
  "__pycache__",
  ".venv",
  "venv",
  ".mypy_cache",
  ".pytest_cache",
  ".tox",
];
const mostFavorites = 50;

/** Files of one machine. Source: reference, agent-server 14. */
export function fileHandlers({ openAccess, uploadLimitBytes }: FileRouteDeps) {
  const upload = onMachine(openAccess, async ({ workspace }, request) => {
    await receiveFile(request, workspace, pathOf(request), uploadLimitBytes);
    return { json: { success: true } };
  });
  const download = onMachine(openAccess, async ({ workspace }, request) => {
    const path = pathOf(request);
    return sendFile(
      { workspace, path, contentType: "application/octet-stream", headers: asAttachment(path) },
      request,
    );
  });
  return {
    uploadFile: upload,
    uploadFileByPath: upload,
    downloadFile: download,
    downloadFileByPath: download,
    createDirectory: onMachine(openAccess, async ({ workspace }, request) => {
      await workspace.createDirectory(pathOf(request));
      return { json: { success: true } };
    }),
    getHome: onMachine(openAccess, async ({ workspace }, { query }) => {
      const home = await workspace.home();
      const directories = directoriesIn(await workspace.list(home), query["include_hidden"] === true);
      const favorites = directories.slice(0, mostFavorites).map((name) => ({
        label: name,
        path: posix.join(home, name),
      }));
      const { root } = posix.parse(home);
      return { json: { home, favorites, locations: [{ label: root, path: root }] } };
    }),
    searchSubdirectories: onMachine(openAccess, async ({ workspace }, request) => {
      const { query } = request;
      const path = pathOf(request);
      const names = directoriesIn(await workspace.list(path), query["include_hidden"] === true);
      const from = typeof query["page_id"] === "string" ? toSortKey(query["page_id"]) : "";
      const rest = names.filter((name) => toSortKey(name) >= from);
      const limit = (query["limit"] as number | undefined) ?? 100;
      return {
        json: {
          items: rest.slice(0, limit).map((name) => ({ name, path: posix.join(path, name) })),
          next_page_id: rest[limit] ?? null,
        },
      };
    }),
    archiveDirectory: onMachine(openAccess, async ({ workspace }, request) => {
      const { query } = request;
      const path = pathOf(request);
      if (query["format"] !== "tar.gz") return await patchReply(workspace, path, query);
      const exclude = [
        ...(query["use_default_excludes"] === false ? [] : defaultExcludes),
        ...((query["exclude"] as string[] | null | undefined) ?? []),
      ];
      return {
        stream: await workspace.archive(path, exclude),
        contentType: "application/gzip",
        headers: asAttachment(`${posix.basename(path) || "workspace"}.tar.gz`),
      };
    }),
  } satisfies Record<string, RouteHandler>;
}

/** Left out is what git ignores; patterns are for archives of whole directories. */
async function patchReply(
  workspace: Workspace,
  path: string,
  query: Readonly<Record<string, unknown>>,
): Promise<RouteReply> {
  if (((query["exclude"] as string[] | null | undefined) ?? []).length > 0)
    throw invalidField(["query", "exclude"], "A patch leaves out what git ignores. Use format=tar.gz.");
  const ref = query["base_ref"];
  const { base, head, content } = await workspace.gitPatch(path, typeof ref === "string" ? ref : undefined);
  return {
    stream: content,
    contentType: "text/x-patch",
    headers: {
      ...asAttachment(`${posix.basename(path) || "workspace"}.patch`),
      "x-archive-repo-base-commit": base,
      ...(head === null ? {} : { "x-archive-repo-head-commit": head }),
    },
  };
}

/** Names of directories as people sort them. */
function directoriesIn(entries: readonly DirectoryEntry[], isHiddenShown: boolean): string[] {
  return entries
    .filter(({ name, type }) => type === "directory" && (isHiddenShown || !name.startsWith(".")))
    .map(({ name }) => name)
    .sort((one, other) => (toSortKey(one) < toSortKey(other) ? -1 : 1));
}

/** Upper and lower case beside each other, and still different for every name. */
function toSortKey(name: string): string {
  return `${name.toLowerCase()}\0${name}`;
}
