import { posix } from "node:path";
import type { DirectoryEntry, RepositoryHead, Workspace } from "@convoke/tool-host";
import type { RouteHandler, RouteReply, RouteRequest } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import type { OpenAccess, WorkspaceAccess } from "../../../workspaces/workspace-access.ts";
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
  const receive = async ({ workspace }: WorkspaceAccess, request: RouteRequest): Promise<number> =>
    receiveFile(request, workspace, pathOf(request), uploadLimitBytes);
  const download = onMachine(openAccess, async ({ workspace }, request) => {
    const path = pathOf(request);
    return sendFile(
      { workspace, path, contentType: "application/octet-stream", headers: asAttachment(path) },
      request,
    );
  });
  return {
    uploadFile: onMachine(openAccess, async (access, request) => ({
      json: { success: true, file_size: await receive(access, request) },
    })),
    uploadFileByPath: onMachine(openAccess, async (access, request) => {
      await receive(access, request);
      return { json: { success: true } };
    }),
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
      const wanted = query["format"];
      if (wanted !== "tar.gz" && wanted !== "zip") return await patchReply(workspace, path, query);
      refuseNul(query["exclude"]);
      const exclude = [
        ...(query["use_default_excludes"] === false ? [] : defaultExcludes),
        ...((query["exclude"] as string[] | null | undefined) ?? []),
      ];
      const { content, format, repository } = await workspace.archive(path, exclude, wanted);
      return {
        stream: content,
        contentType: format === "zip" ? "application/zip" : "application/gzip",
        headers: {
          ...asAttachment(`${posix.basename(path) || "workspace"}.${format}`),
          ...repositoryHeaders(repository),
        },
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
    throw invalidField(
      ["query", "exclude"],
      "A patch leaves out what git ignores. Use format=tar.gz or format=zip.",
    );
  const ref = typeof query["base_ref"] === "string" ? query["base_ref"] : undefined;
  const { base, head, repository, content } = await workspace.gitPatch(path, ref);
  return {
    stream: content,
    contentType: "text/x-patch",
    headers: {
      ...asAttachment(`${posix.basename(path) || "workspace"}.patch`),
      ...repositoryHeaders(repository),
      ...toHeaders({ "base-commit": base, "base-ref": ref ?? null, "head-commit": head }),
    },
  };
}

function repositoryHeaders(repository: RepositoryHead | null): Record<string, string> {
  if (repository === null) return {};
  const { root, branch, commit, remote } = repository;
  return toHeaders({ root, branch, "head-commit": commit, remote });
}

/** Percent-encoded, because names may hold what a header cannot. Source: reference, agent-server 14. */
function toHeaders(values: Readonly<Record<string, string | null>>): Record<string, string> {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [[`x-archive-repo-${name}`, encodeURIComponent(value).replaceAll("%2F", "/")]],
  );
  return Object.fromEntries(given) as Record<string, string>;
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

function refuseNul(exclude: unknown): void {
  if (Array.isArray(exclude) && exclude.some((pattern) => String(pattern).includes("\0")))
    throw invalidField(["query", "exclude"], "A pattern may not hold NUL.");
}
