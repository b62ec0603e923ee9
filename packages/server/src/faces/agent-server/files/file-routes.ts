import { posix } from "node:path";
import type { DirectoryEntry, LeftOut, RepositoryHead, Workspace } from "@convoke/tool-host";
import type { machineRoutes } from "@convoke/protocol";
import type { RouteReply, RouteRequest, Handlers } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import type { WorkspaceAccess } from "../../../workspaces/workspace-access.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { asAttachment, sendFile } from "./file-download.ts";
import { receiveFile } from "./file-upload.ts";
import { onMachine, pathOf } from "./workspace-handler.ts";

/** Large directories that can be regenerated. */
const defaultExcludes = [
  "node_modules",
  ".venv",
  "venv",
  "__pycache__",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".tox",
  ".next",
  "dist",
  "build",
  "target",
  "*.pyc",
];
/** The maximum size of an archive of a whole directory; a patch never gets so large. */
const history = ".git";
const maxFavorites = 50;

/** Files of one machine. */
export function fileHandlers({
  openAccess,
  uploadLimitBytes,
}: Pick<FaceDeps, "openAccess" | "uploadLimitBytes">) {
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
      const directories = directoriesIn(await workspace.list(home), query.include_hidden === true);
      const favorites = directories.slice(0, maxFavorites).map((name) => ({
        label: name,
        path: posix.join(home, name),
      }));
      const { root } = posix.parse(home);
      return { json: { home, favorites, locations: [{ label: root, path: root }] } };
    }),
    searchSubdirectories: onMachine(openAccess, async ({ workspace }, request) => {
      const { query } = request;
      const path = pathOf(request);
      const names = directoriesIn(await workspace.list(path), query.include_hidden === true);
      const from = typeof query.page_id === "string" ? toSortKey(query.page_id) : "";
      const rest = names.filter((name) => toSortKey(name) >= from);
      const { limit = 100 } = query;
      return {
        json: {
          items: rest.slice(0, limit).map((name) => ({ name, path: posix.join(path, name) })),
          next_page_id: rest[limit] ?? null,
        },
      };
    }),
    archiveDirectory: onMachine(openAccess, async ({ workspace }, request) => {
      const {
        format: wanted,
        exclude,
        base_ref: baseRef,
        use_default_excludes: isUsual = true,
      } = request.query;
      const path = pathOf(request);
      const named = exclude ?? [];
      refuseNul(named);
      if (wanted !== "tar.gz" && wanted !== "zip") {
        // A file that git tracks is never in a regenerated folder, whatever the folder's name is.
        const leftOut = { all: named, untracked: isUsual ? defaultExcludes : [] };
        return await patchReply(workspace, path, baseRef ?? undefined, leftOut);
      }
      const leftOut = [...(isUsual ? [history, ...defaultExcludes] : []), ...named];
      const { content, format, repository } = await workspace.archive(path, leftOut, wanted);
      return {
        stream: content,
        contentType: format === "zip" ? "application/zip" : "application/gzip",
        headers: {
          ...asAttachment(`${nameOf(path, repository)}.${format}`),
          ...repositoryHeaders(repository),
        },
      };
    }),
  } satisfies Partial<Handlers<typeof machineRoutes>>;
}

async function patchReply(
  workspace: Workspace,
  path: string,
  ref: string | undefined,
  leftOut: LeftOut,
): Promise<RouteReply> {
  const { base, head, repository, content } = await workspace.gitPatch(path, ref, leftOut);
  return {
    stream: content,
    contentType: "text/x-patch",
    headers: {
      ...asAttachment(`${nameOf(path, repository)}.patch`),
      ...repositoryHeaders(repository),
      ...toHeaders({ "base-commit": base, "base-ref": ref ?? null, "head-commit": head }),
    },
  };
}

/** The repository of the folder, or the only one below it, which is then archived. */
function nameOf(path: string, repository: RepositoryHead | null): string {
  const isBelow = repository?.root.startsWith(`${path.replace(/\/+$/, "")}/`) === true;
  return posix.basename(isBelow ? repository.root : path) || "workspace";
}

function repositoryHeaders(repository: RepositoryHead | null): Record<string, string> {
  if (repository === null) return {};
  const { root, branch, commit, remote } = repository;
  return toHeaders({ "repo-root": root, branch, "head-commit": commit, "repo-remote": remote });
}

/** Percent-encoded, because names may hold what a header cannot. Source: agent-server 1.58. */
function toHeaders(values: Readonly<Record<string, string | null>>): Record<string, string> {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [[`x-archive-${name}`, encodeURIComponent(value).replaceAll("*", "%2A")]],
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

function refuseNul(patterns: readonly string[]): void {
  if (patterns.some((pattern) => pattern.includes("\0")))
    throw invalidField(["query", "exclude"], "A pattern may not hold NUL.");
}
