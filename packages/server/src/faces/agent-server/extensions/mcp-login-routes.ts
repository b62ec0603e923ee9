import { maskText } from "@convoke/tool-host";
import type { mcpRoutes } from "@convoke/protocol";
import { OwnedElsewhere } from "../../../engine/refusals.ts";
import { hiddenValues } from "../../../extensions/mcp/hidden-values.ts";
import {
  loginMs,
  nodeOfLogin,
  type LoginJob,
  type LoginJobs,
  type LoginServer,
} from "../../../extensions/mcp/login-jobs.ts";
import { isLoopback } from "../../../http/guard.ts";
import type { RouteReply, Handlers, RequestOf } from "../../../http/mount.ts";
import { notStored } from "../../../http/route-reply.ts";
import { Fault } from "../../../lib/fault.ts";
import { isSameSecret } from "../../../security/same-secret.ts";
import { hideSecrets } from "../../../settings/secret-fields.ts";
import type { SealedValues } from "../../../settings/sealed-values.ts";
import { loginPage } from "./mcp-login-page.ts";
import { readTestRequest } from "./mcp-test-request.ts";
import { beginnerCookie, readCookies } from "../../../http/read-cookie.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Logins to MCP servers: a person consents in a browser; the client polls the result and gets the value to store. */
export function mcpLoginHandlers({ sealedValues, cluster }: FaceDeps, loginJobs: LoginJobs) {
  /** A login that is unknown here may belong to another node. */
  const askItsServer = async (idOrState: string): Promise<void> => {
    const nodeId = nodeOfLogin(idOrState);
    if (nodeId === null || nodeId === cluster.nodeId) return;
    if ((await cluster.findAddress(nodeId)) !== null) throw new OwnedElsewhere(nodeId);
  };
  const find = async ({
    caller,
    params,
  }: RequestOf<(typeof mcpRoutes)["getMcpLogin"]>): Promise<LoginJob> => {
    const id = params.job_id;
    const job = loginJobs.find(caller.userId, id);
    if (job === null) {
      await askItsServer(id);
      throw new Fault(
        "missing",
        "mcp_login_not_found",
        "There is no such login, or it is too old. Begin a new one.",
      );
    }
    return job;
  };
  const show = (job: LoginJob): RouteReply => ({ headers: notStored, json: toStatus(job, sealedValues) });

  return {
    startMcpLogin: async ({ body, caller, request, signal }) => {
      const { server, config, timeoutMs, call } = readTestRequest(
        sealedValues.openIn(caller.userId, body, ["body"]),
      );
      if (server.transport === "stdio" || server.oauth === null) {
        return {
          status: 400,
          json: {
            detail: "Only a server with `auth` of the strategy oauth2 has a login.",
            code: "bad_request",
          },
        };
      }
      const job = await loginJobs.start(
        {
          userId: caller.userId,
          server: server as LoginServer,
          redirectUrl: `${request.publicAddress}${callbackPath}`,
          timeoutMs,
          call,
        },
        signal,
      );
      const { tried, authorizationUrl, id } = job;
      if (tried?.ok === false) {
        const { error, error_kind: kind } = tried;
        return { json: { ok: false, error: hide(error, hiddenValues(config)), error_kind: kind } };
      }
      return {
        headers: { ...notStored, "set-cookie": toCookie(job) },
        json: { ok: true, job_id: id, authorization_url: authorizationUrl ?? undefined },
      };
    },

    getMcpLogin: async (request) => show(await find(request)),

    finishMcpLogin: async (request) => {
      const job = await find(request);
      const { callback_url: given } = request.body;
      const url = URL.canParse(given) ? new URL(given) : null;
      if (url === null || `${url.origin}${url.pathname}` !== job.redirectUrl) return wrongCallback;
      const finished = await loginJobs.finish(job.id, url.searchParams);
      if (finished === "wrong-state") return wrongCallback;
      if (finished === "not-ready") {
        throw new Fault(
          "conflict",
          "mcp_login_not_ready",
          "This login waits for nothing now. Read its status.",
        );
      }
      return show(await find(request));
    },

    receiveMcpLogin: async ({ request }) => {
      const { searchParams } = new URL(request.url, "http://server");
      const stateToken = searchParams.get("state") ?? "";
      const job = loginJobs.findByState(stateToken);
      if (job === null) await askItsServer(stateToken);
      if (job === null || job.status !== "authorizing") return loginPage("unknown");
      // The browser may have been sent here by somebody other than the one who began the login. A loopback address
      // reaches only the person's own machine; elsewhere it must be the browser that began, or a client must pass the
      // address on.
      const isOwn =
        isLoopback(new URL(job.redirectUrl).hostname) ||
        readCookies(request.headers.cookie, cookieName(job)).some((token) =>
          isSameSecret(token, job.browserToken),
        );
      if (!isOwn) return loginPage("hand-over");
      await loginJobs.finish(job.id, searchParams);
      return loginPage(loginJobs.find(job.userId, job.id)?.status === "succeeded" ? "done" : "failed");
    },
  } satisfies Partial<Handlers<typeof mcpRoutes>>;
}

const callbackPath = "/api/mcp/oauth/callback";

function toStatus(job: LoginJob, sealedValues: SealedValues): object {
  const { id, status, authorizationUrl, tried, state, userId } = job;
  const tokens = [state?.tokens?.access_token, state?.tokens?.refresh_token].filter(
    (token) => token !== undefined,
  );
  const { ok: _ok, ...outcome } = tried ?? { ok: true };
  const shown = JSON.parse(hide(JSON.stringify(outcome), tokens)) as object;
  return {
    ok: status !== "failed",
    status,
    job_id: id,
    callback_ready: status === "authorizing",
    authorization_url: authorizationUrl ?? undefined,
    ...shown,
    // Sealed: the client stores it and sends it back without reading it.
    oauth_state:
      state === null ? undefined : hideSecrets(state, (secret) => sealedValues.seal(userId, secret)),
  };
}

function hide(text: string, secrets: readonly string[]): string {
  return maskText(
    text,
    secrets.map((value) => ({ name: "", value })),
  );
}

const wrongCallback: RouteReply = {
  status: 400,
  json: { detail: "This is not the address to which the login has sent the browser.", code: "bad_request" },
};

function cookieName({ id }: LoginJob): string {
  return `${beginnerCookie}${id}`;
}

function toCookie(job: LoginJob): string {
  const { protocol, pathname } = new URL(job.redirectUrl);
  const secure = protocol === "https:" ? "; Secure" : "";
  const name = cookieName(job);
  // Lax: the cookie must be sent when another site redirects the browser back.
  return `${name}=${job.browserToken}; HttpOnly; SameSite=Lax; Max-Age=${loginMs / 1000}; Path=${pathname}${secure}`;
}
