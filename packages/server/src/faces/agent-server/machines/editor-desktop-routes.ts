import type { RouteHandler } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";

/** The editor and desktop routes: this server has neither, so it answers as with both switched off. */
export const editorDesktopHandlers = {
  getVSCodeUrl: () => {
    throw new Fault("not-now", "no_editor", "This server has no editor.");
  },
  getVSCodeStatus: () => ({
    json: { running: false, enabled: false, message: "This server has no editor." },
  }),
  getDesktopUrl: () => {
    throw new Fault("not-now", "no_desktop", "This server has no desktop.");
  },
} satisfies Record<string, RouteHandler>;
