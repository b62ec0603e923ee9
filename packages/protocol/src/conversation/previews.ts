import { Type, type Static } from "typebox";
import { closedObject, object, ref } from "../schema.ts";

/** A port that a program of the workspace listens on. */
export const WorkspacePort = object("WorkspacePort", {
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  program: Type.String({ description: "The name of the program's file, e.g. `node`." }),
});
export type WorkspacePort = Static<typeof WorkspacePort>;

export const WorkspacePortList = object("WorkspacePortList", { items: Type.Array(ref(WorkspacePort)) });
export type WorkspacePortList = Static<typeof WorkspacePortList>;

export const OpenPreviewRequest = closedObject("OpenPreviewRequest", {
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
});
export type OpenPreviewRequest = Static<typeof OpenPreviewRequest>;

/** Address of a port's preview. Everybody who has the address can see the preview until it expires. */
export const OpenedPreview = object("OpenedPreview", {
  path: Type.String({ description: "Below the address of this server; it ends with a slash." }),
  expires_at: Type.String({ format: "date-time" }),
});
export type OpenedPreview = Static<typeof OpenedPreview>;
