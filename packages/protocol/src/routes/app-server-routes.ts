import { appSettingsRoutes } from "./app-settings-routes.ts";
import { profileRoutes } from "./profile-routes.ts";

/** What a user has on the app-server face besides conversations and sandboxes (see `v1Routes`), by operation id. */
export const appServerRoutes = { ...appSettingsRoutes, ...profileRoutes };
export type AppServerOperation = keyof typeof appServerRoutes;
