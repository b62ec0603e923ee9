import { sandboxRoutes, sandboxSpecRoutes, type SandboxInfo, type SandboxSpecInfo } from "@convoke/protocol";
import type { RequestOf, RouteHandler, Handlers } from "../../http/mount.ts";
import { pageFrom } from "../../app-conversations/page-from.ts";
import { sandboxMissing, sandboxesNotServed, specMissing } from "../../app-conversations/sandbox-refusals.ts";
import type { Sandboxes, SandboxTemplate, SandboxView } from "../../app-conversations/sandbox-service.ts";
import { formatInstant } from "../../lib/instant.ts";
import { sandboxGate, type SandboxGate } from "./sandbox-gate.ts";

const success = { json: { success: true } };

/** Sandboxes and their templates. Source: contract 4.4. */
export function sandboxHandlers({ sandboxes }: { readonly sandboxes: Sandboxes }) {
  const command =
    (run: (ownerId: string, id: string) => Promise<boolean>) =>
    async ({ caller, params: { sandbox_id: id } }: RequestOf<(typeof sandboxRoutes)["pauseSandbox"]>) => {
      if (!(await run(caller.userId, id))) throw sandboxMissing(id);
      return success;
    };

  return {
    searchSandboxes: async (request) => {
      const { caller, query } = request;
      const { page_id: pageId, limit } = query;
      const page = await sandboxes.search(caller.userId, {
        limit: limit ?? 100,
        pageId: pageId ?? undefined,
      });
      const addresses = sandboxGate(request, sandboxes);
      return {
        json: {
          items: page.items.map((view) => toSandboxInfo(view, addresses)),
          next_page_id: page.nextPageId,
        },
      };
    },

    getSandboxes: async (request) => {
      const { caller, query } = request;
      const found = await sandboxes.getMany(caller.userId, query.id);
      const addresses = sandboxGate(request, sandboxes);
      return { json: found.map((view) => (view === null ? null : toSandboxInfo(view, addresses))) };
    },

    startSandbox: async (request) => {
      const wanted = templateIdOf(request);
      const template =
        wanted === null ? sandboxes.templates[0]! : sandboxes.templates.find(({ id }) => id === wanted);
      if (template === undefined) throw specMissing(wanted ?? "", sandboxes.templates);
      const started = await sandboxes.start(request.caller.userId, template.id);
      return { json: toSandboxInfo(started, sandboxGate(request, sandboxes)) };
    },

    pauseSandbox: command((ownerId, id) => sandboxes.pause(ownerId, id)),
    resumeSandbox: command((ownerId, id) => sandboxes.resume(ownerId, id)),
    deleteSandbox: command((ownerId, id) => sandboxes.remove(ownerId, id)),

    searchSandboxSpecs: ({ query }) => {
      const { page_id: pageId, limit = 100 } = query;
      const page = pageFrom(
        sandboxes.templates,
        { limit, pageId: pageId ?? undefined },
        ({ id }) => id,
        "sandbox spec",
      );
      return { json: { items: page.items.map(toSpecInfo), next_page_id: page.nextPageId } };
    },

    getSandboxSpecs: ({ query }) => ({
      json: query.id.map((wanted) => {
        const template = sandboxes.templates.find(({ id }) => id === wanted);
        return template === undefined ? null : toSpecInfo(template);
      }),
    }),
  } satisfies Handlers<typeof sandboxRoutes & typeof sandboxSpecRoutes>;
}

/** The same routes on a server without sandboxes: the error says so, instead of an unknown address. */
export function noSandboxHandlers() {
  const refuse: RouteHandler = () => {
    throw sandboxesNotServed();
  };
  const routes = { ...sandboxRoutes, ...sandboxSpecRoutes };
  const handlers = Object.fromEntries(Object.keys(routes).map((operation) => [operation, refuse]));
  return handlers as Record<keyof typeof routes, RouteHandler>;
}

/** The body wins over the query; null when neither has a value. */
function templateIdOf({ body, query }: RequestOf<(typeof sandboxRoutes)["startSandbox"]>): string | null {
  return body?.sandbox_spec_id ?? query.sandbox_spec_id ?? null;
}

/** The key and the addresses are those of this server's gateway: a sandbox is reached through it only. */
function toSandboxInfo(view: SandboxView, addresses: SandboxGate): SandboxInfo {
  const isRunning = view.status === "RUNNING";
  return {
    id: view.id,
    created_by_user_id: view.ownerId,
    sandbox_spec_id: view.templateId,
    status: view.status,
    session_api_key: isRunning ? addresses.key(view.id) : null,
    exposed_urls: isRunning ? addresses.exposedUrls(view.id) : null,
    created_at: formatInstant(view.createdAtMs * 1000),
    status_detail: view.statusDetail,
  };
}

function toSpecInfo(template: SandboxTemplate): SandboxSpecInfo {
  return {
    id: template.id,
    command: null,
    created_at: formatInstant(template.createdAtMs * 1000),
    initial_env: { ...template.environment },
    // Every sandbox has its own.
    working_dir: "",
    isolation: template.isolation,
    ...(template.description === null ? {} : { description: template.description }),
    ...(template.runtime === null ? {} : { runtime: template.runtime }),
  };
}
