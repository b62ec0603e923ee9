import { Type } from "typebox";
import { done, invalid } from "../routes/responses.ts";
import { ok } from "../routes/ok.ts";
import { routesOf } from "../routes/route.ts";
import { nullable, orAbsent, ref } from "../schema.ts";
import { maxIds, paging } from "./list-parameters.ts";
import { noSuch } from "./refusals.ts";
import {
  SandboxInfo,
  SandboxPage,
  SandboxSpecInfo,
  SandboxSpecInfoPage,
  StartSandboxRequest,
} from "./sandbox.ts";

const prefix = "/api/v1/sandboxes";
const params = Type.Object({ sandbox_id: Type.String() });
const ids = Type.Object({ id: Type.Array(Type.String(), { maxItems: maxIds }) });
const missing = noSuch("sandbox");

/** Sandboxes and their templates. Source: contract 4.4. */
export const sandboxRoutes = routesOf("Sandboxes", {
  searchSandboxes: {
    method: "GET",
    path: `${prefix}/search`,
    summary: "Page through one's sandboxes, the newest first",
    auth: true,
    query: Type.Object(paging),
    responses: { ...ok("A page of sandboxes.", SandboxPage), ...invalid },
  },
  getSandboxes: {
    method: "GET",
    path: prefix,
    summary: "Read several sandboxes by id",
    auth: true,
    query: ids,
    responses: {
      ...ok(
        "The sandboxes in the order asked for, null for those that do not exist.",
        Type.Array(nullable(ref(SandboxInfo))),
      ),
      ...invalid,
    },
  },
  startSandbox: {
    method: "POST",
    path: prefix,
    summary: "Start a sandbox; it is starting when the answer comes",
    auth: true,
    query: Type.Object({
      sandbox_spec_id: orAbsent(Type.String(), { description: "The same as in the body, which wins." }),
    }),
    body: StartSandboxRequest,
    isBodyOptional: true,
    responses: { ...ok("The sandbox.", SandboxInfo), ...noSuch("sandbox spec"), ...invalid },
  },
  pauseSandbox: {
    method: "POST",
    path: `${prefix}/{sandbox_id}/pause`,
    summary: "Freeze everything in a sandbox; memory and files stay",
    auth: true,
    params,
    responses: { ...done, ...missing, ...invalid },
  },
  resumeSandbox: {
    method: "POST",
    path: `${prefix}/{sandbox_id}/resume`,
    summary: "Let a paused sandbox go on, or start a failed one again over its files",
    auth: true,
    params,
    responses: { ...done, ...missing, ...invalid },
  },
  deleteSandbox: {
    method: "DELETE",
    path: `${prefix}/{sandbox_id}`,
    summary: "Remove a sandbox with its files, whatever it is doing",
    auth: true,
    params,
    responses: { ...done, ...missing, ...invalid },
  },
});

const specPrefix = "/api/v1/sandbox-specs";

export const sandboxSpecRoutes = routesOf("Sandbox specs", {
  searchSandboxSpecs: {
    method: "GET",
    path: `${specPrefix}/search`,
    summary: "Page through the templates that sandboxes are made from, the default one first",
    auth: true,
    query: Type.Object(paging),
    responses: { ...ok("A page of templates.", SandboxSpecInfoPage), ...invalid },
  },
  getSandboxSpecs: {
    method: "GET",
    path: specPrefix,
    summary: "Read several templates by id",
    auth: true,
    query: ids,
    responses: {
      ...ok(
        "The templates in the order asked for, null for those that do not exist.",
        Type.Array(nullable(ref(SandboxSpecInfo))),
      ),
      ...invalid,
    },
  },
});
