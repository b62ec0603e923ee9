import { appSettingsRoutes } from "./app-settings-routes.ts";
import { profileRoutes } from "./profile-routes.ts";

/** Routes of the app-server face except conversations and sandboxes (see `v1Routes`), by operation id. */
export const appServerRoutes = { ...appSettingsRoutes, ...profileRoutes };
export type AppServerOperation = keyof typeof appServerRoutes;
