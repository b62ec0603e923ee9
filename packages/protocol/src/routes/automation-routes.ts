import { Type } from "typebox";
import {
  Automation,
  AutomationPage,
  ChangeAutomationRequest,
  CreateAutomationRequest,
  CreatedAutomation,
} from "../automations/automation.ts";
import {
  AutomationRun,
  AutomationRunPage,
  AutomationRunState,
  DueTimes,
  HookReply,
  PreviewTriggerRequest,
  RotatedHookSecret,
  RunAutomationRequest,
} from "../automations/automation-run.ts";
import { ErrorReply } from "../requests/replies.ts";
import { orAbsent } from "../schema.ts";
import { pageLimit } from "./parameters.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const automationParams = Type.Object({ automation_id: Type.String({ format: "uuid" }) });
const path = "/api/automations/{automation_id}";
const pageId = orAbsent(Type.String({ maxLength: 200 }), {
  description: "The next_page_id of the page before.",
});

const missing = { 404: { description: "The caller has no such automation.", schema: ErrorReply } } as const;
const conflict = { 409: { description: "The automation cannot do this now.", schema: ErrorReply } } as const;

/** Our own: work that starts by itself. The hook of an automation is in {@link automationHookRoutes}. */
export const automationRoutes = routesOf("Automations", {
  createAutomation: {
    method: "POST",
    path: "/api/automations",
    summary: "Create an automation: a schedule, a webhook, or a reaction to other conversations",
    auth: true,
    body: CreateAutomationRequest,
    responses: {
      201: { description: "The automation.", schema: CreatedAutomation },
      ...conflict,
      ...invalid,
    },
  },
  listAutomations: {
    method: "GET",
    path: "/api/automations",
    summary: "Page through the caller's automations, the newest first",
    auth: true,
    query: Type.Object({ page_id: pageId, limit: pageLimit }),
    responses: { ...ok("A page of automations.", AutomationPage), ...invalid },
  },
  previewTrigger: {
    method: "POST",
    path: "/api/automations/preview",
    summary: "The next due times of a trigger that is not stored",
    auth: true,
    role: "viewer",
    body: PreviewTriggerRequest,
    responses: { ...ok("The due times.", DueTimes), ...invalid },
  },
  getAutomation: {
    method: "GET",
    path,
    summary: "An automation of the caller",
    auth: true,
    params: automationParams,
    responses: { ...ok("The automation.", Automation), ...missing, ...invalid },
  },
  changeAutomation: {
    method: "PATCH",
    path,
    summary: "Change an automation; a new trigger counts from now on",
    auth: true,
    params: automationParams,
    body: ChangeAutomationRequest,
    responses: { ...ok("The automation.", Automation), ...missing, ...conflict, ...invalid },
  },
  deleteAutomation: {
    method: "DELETE",
    path,
    summary: "Delete an automation with its history; its conversations stay",
    auth: true,
    params: automationParams,
    responses: { 204: { description: "It is deleted." }, ...missing, ...invalid },
  },
  pauseAutomation: {
    method: "POST",
    path: `${path}/pause`,
    summary: "Start nothing more; what has started goes on",
    auth: true,
    params: automationParams,
    responses: { ...ok("The automation.", Automation), ...missing, ...invalid },
  },
  resumeAutomation: {
    method: "POST",
    path: `${path}/resume`,
    summary: "Start again at the next due time after now",
    auth: true,
    params: automationParams,
    responses: { ...ok("The automation.", Automation), ...missing, ...invalid },
  },
  runAutomation: {
    method: "POST",
    path: `${path}/run`,
    summary: "Start a run now, also of a paused automation; its overlap setting counts",
    auth: true,
    params: automationParams,
    body: RunAutomationRequest,
    isBodyOptional: true,
    responses: {
      201: { description: "The run, which may be queued or skipped.", schema: AutomationRun },
      ...missing,
      ...invalid,
    },
  },
  listAutomationRuns: {
    method: "GET",
    path: `${path}/runs`,
    summary: "Page through the runs of an automation, the newest first",
    auth: true,
    params: automationParams,
    query: Type.Object({ page_id: pageId, limit: pageLimit, state: orAbsent(AutomationRunState) }),
    responses: { ...ok("A page of runs.", AutomationRunPage), ...missing, ...invalid },
  },
  listDueTimes: {
    method: "GET",
    path: `${path}/due_times`,
    summary: "The next due times of an automation; none while it is paused",
    auth: true,
    params: automationParams,
    query: Type.Object({ count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })) }),
    responses: { ...ok("The due times.", DueTimes), ...missing, ...invalid },
  },
});

/** The secret of the sender of an automation's webhook. */
export const hookSecretRoutes = routesOf("Automations", {
  rotateHookSecret: {
    method: "POST",
    path: `${path}/hook_secret`,
    summary:
      "Make a new secret for the sender, which is told this once; the one before works for another day",
    auth: true,
    params: automationParams,
    responses: { ...ok("The secret.", RotatedHookSecret), ...missing, ...conflict, ...invalid },
  },
});

/** The senders of webhooks have no key: their requests are signed with the secret of the automation. */
export const automationHookRoutes = routesOf("Automations", {
  receiveHook: {
    method: "POST",
    path: `${path}/hook`,
    summary: "Deliver a signed webhook",
    auth: false,
    params: automationParams,
    responses: {
      202: { description: "The delivery is recorded, or starts nothing.", schema: HookReply },
      401: {
        description: "The signature is missing or wrong, or there is no such automation.",
        schema: ErrorReply,
      },
      413: { description: "The body has more than 1 MiB.", schema: ErrorReply },
      429: { description: "Too many deliveries, or too many wrong signatures.", schema: ErrorReply },
      ...invalid,
    },
  },
});
