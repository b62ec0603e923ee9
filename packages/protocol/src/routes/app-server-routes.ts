import { appSettingsRoutes } from "./app-settings-routes.ts";
import { profileRoutes } from "./profile-routes.ts";

/** Every route of the app-server face by operation id. Fixed paths stand before those with a parameter in their place. */
export const appServerRoutes = { ...appSettingsRoutes, ...profileRoutes };
export type AppServerOperation = keyof typeof appServerRoutes;
