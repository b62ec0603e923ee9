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
import type { Validator } from "@convoke/protocol/validate";
import { face, type Face } from "../../../http/mount.ts";
import type { ProfileHistory } from "../../../settings/profile-history.ts";
import type { SealedValues } from "../../../settings/sealed-values.ts";
import type { SecretStore } from "../../../settings/secret-store.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import { agentProfileHandlers } from "./agent-profile-routes.ts";
import { llmHandlers, type LlmRouteDeps } from "./llm-routes.ts";
import {
  agentRevisionHandlers,
  connectionRevisionHandlers,
  metaRevisionHandlers,
  modelRevisionHandlers,
  settingsRevisionHandlers,
} from "./revision-routes.ts";
import { metaProfileHandlers } from "./meta-profile-routes.ts";
import { llmProfileHandlers } from "./profile-routes.ts";
import { agentSettingsHandlers } from "./settings-routes.ts";
import type { TryModelDeps } from "./try-model.ts";
import type { Clock } from "../../../lib/clock.ts";

export type SettingsFaceDeps = TryModelDeps &
  Pick<LlmRouteDeps, "findLocalServers"> & {
    readonly settings: SettingsStore;
    readonly profileHistory: ProfileHistory;
    readonly secrets: SecretStore;
    readonly sealedValues: SealedValues;
    readonly validator: Validator;
    readonly clock: Clock;
  };

/** What a user has on newer agent servers besides conversations: settings, models, agent profiles. */
export function settingsFace(deps: SettingsFaceDeps): Face {
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
      ...modelRevisionHandlers(deps),
      ...agentRevisionHandlers(deps),
      ...metaRevisionHandlers(deps),
      ...connectionRevisionHandlers(deps),
      ...settingsRevisionHandlers(deps),
      ...llmHandlers(deps),
      ...metaProfileHandlers(deps),
    },
  );
}
