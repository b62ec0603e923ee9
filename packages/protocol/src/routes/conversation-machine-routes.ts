import { Type, type TObject } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { ConversationRuntimeInfo } from "../workspace/runtime.ts";
import { bashRoutes } from "./bash-routes.ts";
import { fileRoutes, trajectoryRoutes } from "./file-routes.ts";
import { gitRoutes } from "./git-routes.ts";
import { conversationParams } from "./parameters.ts";
import { choice, orAbsent } from "../schema.ts";
import { FolderPage } from "../workspace/folder.ts";
import { RestoreFileRequest } from "../workspace/restore.ts";
import { conflict, done, invalid, machineRefusals, noConversation, pathRefusals } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf, type Route } from "./route.ts";
import { editorAndDesktopRoutes } from "./workspace-routes.ts";

const { uploadFile, downloadFile, createDirectory, archiveDirectory } = fileRoutes;
const { getGitChanges, getGitDiff, getGitCommits, getGitCommitChanges } = gitRoutes;
const { getVSCodeUrl, getVSCodeStatus } = editorAndDesktopRoutes;

/** Routes that a machine has, and a conversation too, for its own machine and below its own directory. */
export const ofRuntimes = {
  ...bashRoutes,
  uploadFile,
  downloadFile,
  createDirectory,
  archiveDirectory,
  ...trajectoryRoutes,
  getGitChanges,
  getGitDiff,
  getGitCommits,
  getGitCommitChanges,
  getVSCodeUrl,
  getVSCodeStatus,
} as const;
export type RuntimeOperation = keyof typeof ofRuntimes;

const prefix = "/api/conversations/{runtime_conversation_id}";
const runtimeParams = Type.Object({ runtime_conversation_id: Type.String({ format: "uuid" }) });

/** The same routes below a conversation. Source: agent server 1.58. */
export const onConversationMachineRoutes = inConversation(ofRuntimes);

function inConversation<const T extends Readonly<Record<string, Route>>>(routes: T) {
  const moved = Object.entries<Route>(routes).map(([name, given]) => {
    // Share links have the same at the conversation itself.
    const { inShare: _, ...route } = given;
    const operationId = `${name}InConversation`;
    const own = (route.params as TObject | undefined)?.properties ?? {};
    return [
      operationId,
      {
        ...route,
        operationId,
        tag: "Runtimes",
        path: `${prefix}${route.path.slice("/api".length)}`,
        // Commands run on the machine, and their record has all commands of the user.
        ...(Object.hasOwn(bashRoutes, name) ? { inScope: false } : {}),
        summary: `${route.summary}; on the machine of a conversation, below its directory`,
        params: Type.Object({ ...runtimeParams.properties, ...own }),
        responses: { ...noConversation, ...route.responses, ...invalid },
      },
    ];
  });
  return Object.fromEntries(moved) as {
    readonly [K in keyof T & string as `${K}InConversation`]: InConversation<T[K]>;
  };
}

type InConversation<R extends Route> = Omit<R, "path" | "params"> & {
  readonly path: R["path"] extends `/api${infer Rest}` ? `${typeof prefix}${Rest}` : never;
  readonly params: R["params"] extends TObject<infer Own>
    ? TObject<Own & (typeof runtimeParams)["properties"]>
    : typeof runtimeParams;
};

/** Files of a conversation for people, beyond the contract. */
export const conversationFileRoutes = routesOf("Runtimes", {
  listFolder: {
    method: "GET",
    path: `${prefix}/files`,
    summary: "Page through what stands in a folder, folders first, by name",
    auth: true,
    params: runtimeParams,
    query: Type.Object({
      path: Type.String({ description: "Absolute, inside the directory of the conversation." }),
      page_id: orAbsent(Type.String({ maxLength: 5_000 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 200 })),
    }),
    responses: {
      ...ok("A page of the folder.", FolderPage),
      ...machineRefusals,
      ...pathRefusals,
      404: { description: "There is no such conversation, or nothing is there.", schema: ErrorReply },
      ...invalid,
    },
  },
  getTranscript: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/transcript",
    summary:
      "The whole conversation to read, as Markdown or one HTML page, each event as one line of JSON, or a trajectory in the format ATIF",
    auth: true,
    inShare: true,
    params: conversationParams,
    query: Type.Object({
      format: Type.Optional(choice(["markdown", "html", "jsonl", "atif"], { default: "markdown" })),
    }),
    responses: { 200: { description: "The text, as a file." }, ...noConversation, ...invalid },
  },
  restoreFile: {
    method: "POST",
    path: `${prefix}/git/restore`,
    summary:
      "Make one file what it was in a commit, or remove it where that has no such file; not while the agent works",
    auth: true,
    params: runtimeParams,
    body: RestoreFileRequest,
    responses: {
      ...done,
      ...machineRefusals,
      ...pathRefusals,
      404: { description: "There is no such conversation, or nothing is there.", schema: ErrorReply },
      ...conflict,
      ...invalid,
    },
  },
});

const info = {
  auth: true,
  params: conversationParams,
  responses: { ...ok("The machine.", ConversationRuntimeInfo), ...noConversation, ...invalid },
} as const;

/** The machine of a conversation. Source: agent server 1.58. */
export const conversationMachineRoutes = routesOf("Runtimes", {
  getRuntime: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/runtime",
    summary: "Whether the machine of a conversation is there",
    ...info,
  },
  reprovisionRuntime: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/runtime/reprovision",
    summary: "The same: a machine that is gone is not created by this request",
    ...info,
  },
});
