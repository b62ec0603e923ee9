import {
  agentServerRoutes,
  appEventRoutes,
  appServerRoutes,
  legacyRoutes,
  sandboxRoutes,
  sandboxSpecRoutes,
} from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { SandboxService } from "../app-conversations/sandbox-service.ts";
import type { Directory } from "../conversation/directory.ts";
import { face, type Face } from "../http/mount.ts";
import type { Journal } from "../journal/journal.ts";
import type { SecretStore } from "../settings/secret-store.ts";
import type { SettingsStore } from "../settings/settings-store.ts";
import { withDefaults } from "../settings/with-defaults.ts";
import { version } from "../version.ts";
import { conversationHandlers } from "./agent-server/conversation-routes.ts";
import { eventHandlers } from "./agent-server/event-routes.ts";
import { serverHandlers } from "./agent-server/server-routes.ts";
import { appEventHandlers } from "./app-server/app-event-routes.ts";
import { profileHandlers } from "./app-server/profile-routes.ts";
import { sandboxHandlers } from "./app-server/sandbox-routes.ts";
import { userSettingsHandlers } from "./app-server/user-settings-routes.ts";
import { secretHandlers } from "./legacy/secret-routes.ts";
import { settingsHandlers } from "./legacy/settings-routes.ts";

export type FacesDeps = {
  readonly journal: Journal;
  readonly directory: Directory;
  readonly toolHost: ToolHost;
  readonly settings: SettingsStore;
  readonly secrets: SecretStore;
  /** Without them nothing is served below `/api/v1/sandboxes` and `/api/v1/sandbox-specs`. */
  readonly sandboxes: SandboxService | null;
  readonly nowMs: () => number;
  readonly lastActivityMs: () => number;
  readonly isReady: () => boolean;
};

/** Every REST surface of the server: one line for each table of routes. */
export function openFaces(deps: FacesDeps): Face[] {
  const { settings, secrets, sandboxes, toolHost, nowMs } = deps;
  const agentServer = face(
    agentServerRoutes,
    {
      ...serverHandlers({ ...deps, serverVersion: version }),
      ...conversationHandlers(deps),
      ...eventHandlers(deps),
    },
    {
      startConversation: async (body, { userId }) =>
        withDefaults(body, (await settings.load(userId)).settings, toolHost.catalogue),
    },
  );
  const legacy = face(legacyRoutes, { ...settingsHandlers({ settings }), ...secretHandlers({ secrets }) });
  const appServer = face(appServerRoutes, {
    ...userSettingsHandlers({ settings, secrets, nowMs }),
    ...profileHandlers({ settings }),
  });
  const faces = [agentServer, legacy, appServer, face(appEventRoutes, appEventHandlers(deps))];
  if (sandboxes !== null) {
    faces.push(face({ ...sandboxRoutes, ...sandboxSpecRoutes }, sandboxHandlers({ sandboxes })));
  }
  return faces;
}
