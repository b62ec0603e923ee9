import { Type, type Static } from "typebox";
import { choice, closedObject, mapOf, nullable, object, orNull, ref } from "../schema.ts";
import { ExposedUrl } from "../workspace/catalogue.ts";

/** Status of a sandbox. `MISSING`: nothing is left of it. */
export const SandboxStatus = choice(["STARTING", "RUNNING", "PAUSED", "ERROR", "MISSING"], {
  $id: "SandboxStatus",
});
export type SandboxStatus = Static<typeof SandboxStatus>;

/** A sandbox as its owner sees it; key and addresses are present while it runs. */
export const SandboxInfo = object("SandboxInfo", {
  id: Type.String(),
  created_by_user_id: nullable(Type.String()),
  sandbox_spec_id: Type.String(),
  status: ref(SandboxStatus),
  session_api_key: nullable(Type.String()),
  exposed_urls: orNull(Type.Array(ref(ExposedUrl))),
  created_at: Type.Optional(Type.String({ format: "date-time" })),
  status_detail: orNull(
    Type.String({ description: "What a start is doing, or why the sandbox is not running." }),
  ),
});
export type SandboxInfo = Static<typeof SandboxInfo>;

/** A page of sandboxes, the newest first. */
export const SandboxPage = object("SandboxPage", {
  items: Type.Array(ref(SandboxInfo)),
  next_page_id: orNull(Type.String()),
});
export type SandboxPage = Static<typeof SandboxPage>;

/** Options for a new sandbox. */
export const StartSandboxRequest = closedObject("StartSandboxRequest", {
  sandbox_spec_id: orNull(
    Type.String({ description: "Id of a sandbox spec; the first of the list unless given." }),
  ),
});
export type StartSandboxRequest = Static<typeof StartSandboxRequest>;

/** A template that sandboxes are made from. */
export const SandboxSpecInfo = object("SandboxSpecInfo", {
  id: Type.String(),
  command: nullable(Type.Array(Type.String())),
  created_at: Type.Optional(Type.String({ format: "date-time" })),
  initial_env: Type.Optional(mapOf(Type.String(), { impliedDefault: {} })),
  working_dir: Type.Optional(Type.String({ default: "/home/openhands/workspace" })),
  isolation: Type.Optional(
    choice(["none", "namespaces", "container"], {
      description:
        "What is between a sandbox and the machine; `none` is a plain process of the server's user.",
    }),
  ),
  description: Type.Optional(Type.String({ description: "For people, in the words of the operator." })),
  runtime: Type.Optional(
    Type.String({
      description: "The container engine's runtime that is asked for, such as `runsc` for gVisor.",
    }),
  ),
});
export type SandboxSpecInfo = Static<typeof SandboxSpecInfo>;

/** A page of templates; the first template is the default one. */
export const SandboxSpecInfoPage = object("SandboxSpecInfoPage", {
  items: Type.Array(ref(SandboxSpecInfo)),
  next_page_id: orNull(Type.String()),
});
export type SandboxSpecInfoPage = Static<typeof SandboxSpecInfoPage>;
