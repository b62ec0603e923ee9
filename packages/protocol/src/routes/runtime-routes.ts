import { Type, type TObject } from "typebox";
import { ConversationRuntimeInfo } from "../workspace/runtime.ts";
import { bashRoutes } from "./bash-routes.ts";
import { fileRoutes, trajectoryRoutes } from "./file-routes.ts";
import { gitRoutes } from "./git-routes.ts";
import { conversationParams } from "./parameters.ts";
import { invalid, noConversation, ok } from "./responses.ts";
import { routesOf, type Route } from "./route.ts";
import { companionRoutes } from "./workspace-routes.ts";

const { uploadFile, downloadFile, createDirectory, archiveDirectory } = fileRoutes;
const { getGitChanges, getGitDiff, getGitCommits, getGitCommitChanges } = gitRoutes;
const { getVSCodeUrl, getVSCodeStatus } = companionRoutes;

/** What a machine offers and a conversation offers too, on its own machine and below its own directory. */
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

/** The same routes with a conversation before them. Source: agent server 1.58. */
export const runtimeMachineRoutes = inConversation(ofRuntimes);

function inConversation<const T extends Readonly<Record<string, Route>>>(routes: T) {
  const moved = Object.entries(routes).map(([name, route]) => {
    const operationId = `${name}InConversation`;
    const own = (route.params as TObject | undefined)?.properties ?? {};
    return [
      operationId,
      {
        ...route,
        operationId,
        tag: "Runtimes",
        path: `${prefix}${route.path.slice("/api".length)}`,
        summary: `${route.summary}; on the machine of a conversation, below its directory`,
        params: Type.Object({ ...runtimeParams.properties, ...own }),
        responses: { ...noConversation, ...route.responses, ...invalid },
      },
    ];
  });
  return Object.fromEntries(moved) as { readonly [K in keyof T & string as `${K}InConversation`]: Route };
}

const info = {
  auth: true,
  params: conversationParams,
  responses: { ...ok("The machine.", ConversationRuntimeInfo), ...noConversation, ...invalid },
} as const;

/** Where a conversation works. Source: agent server 1.58. */
export const runtimeRoutes = routesOf("Runtimes", {
  getRuntime: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/runtime",
    summary: "Whether the machine of a conversation is there",
    ...info,
  },
  reprovisionRuntime: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/runtime/reprovision",
    summary: "The same: a machine that is gone is not made anew by asking",
    ...info,
  },
});
