import {
  agentProfileRoutes,
  agentRevisionRoutes,
  agentSettingsRoutes,
  llmProfileRoutes,
  llmRoutes,
  metaProfileRoutes,
  modelRevisionRoutes,
  metaRevisionRoutes,
  connectionRevisionRoutes,
  settingsRevisionRoutes,
} from "@convoke/protocol";
import { face, type Face } from "../../../http/mount.ts";
import { agentProfileHandlers } from "./agent-profile-routes.ts";
import { llmHandlers } from "./llm-routes.ts";
import { revisionHandlers } from "./revision-routes.ts";
import { metaProfileHandlers } from "./meta-profile-routes.ts";
import { llmProfileHandlers } from "./profile-routes.ts";
import { agentSettingsHandlers } from "./settings-routes.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** What a user has on newer agent servers besides conversations: settings, models, agent profiles. */
export function settingsFace(deps: FaceDeps): Face {
  return face(
    {
      ...agentSettingsRoutes,
      ...llmProfileRoutes,
      ...agentProfileRoutes,
      ...modelRevisionRoutes,
      ...agentRevisionRoutes,
      ...metaRevisionRoutes,
      ...connectionRevisionRoutes,
      ...settingsRevisionRoutes,
      ...llmRoutes,
      ...metaProfileRoutes,
    },
    {
      ...agentSettingsHandlers(deps),
      ...llmProfileHandlers(deps),
      ...agentProfileHandlers(deps),
      ...revisionHandlers(deps),
      ...llmHandlers(deps),
      ...metaProfileHandlers(deps),
    },
  );
}
