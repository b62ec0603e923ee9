import { Type, type Static } from "typebox";
import { anyObject, flag, list, object, orNull, ref } from "../schema.ts";
import { installedFields, sourceFields } from "./installed-fields.ts";

export const CanvasExtensionPage = object("CanvasExtensionPage", {
  id: Type.String(),
  title: Type.String(),
  path: Type.String(),
});
export type CanvasExtensionPage = Static<typeof CanvasExtensionPage>;

export const CanvasExtensionContributes = object("CanvasExtensionContributes", {
  pages: list(ref(CanvasExtensionPage)),
});
export type CanvasExtensionContributes = Static<typeof CanvasExtensionContributes>;

/** `canvas-extension.json`; a `backend` is shown and never started. */
export const CanvasExtensionManifest = object("CanvasExtensionManifest", {
  schema_version: Type.Integer(),
  name: Type.String(),
  display_name: Type.String(),
  version: Type.String(),
  description: Type.Optional(Type.String({ default: "" })),
  entrypoint: Type.String(),
  contributes: Type.Optional(ref(CanvasExtensionContributes)),
  backend: orNull(anyObject()),
  icon: orNull(Type.String()),
});
export type CanvasExtensionManifest = Static<typeof CanvasExtensionManifest>;

export const InstallCanvasExtensionRequest = object("InstallCanvasExtensionRequest", {
  ...sourceFields,
  force: flag(false),
});
export type InstallCanvasExtensionRequest = Static<typeof InstallCanvasExtensionRequest>;

/** Pages for Agent Canvas that a user installed. */
export const InstalledCanvasExtensionResponse = object("InstalledCanvasExtensionResponse", {
  ...installedFields,
  enabled: flag(false),
  manifest: orNull(ref(CanvasExtensionManifest)),
});
export type InstalledCanvasExtensionResponse = Static<typeof InstalledCanvasExtensionResponse>;

export const InstalledCanvasExtensionsList = object("InstalledCanvasExtensionsListResponse", {
  canvas_extensions: Type.Array(ref(InstalledCanvasExtensionResponse)),
});
export type InstalledCanvasExtensionsList = Static<typeof InstalledCanvasExtensionsList>;
