import type { Cluster } from "../../cluster/cluster.ts";
import { randomBytes } from "node:crypto";
import { describeError } from "../../lib/describe-error.ts";
import type { McpLogins } from "../../settings/mcp-logins.ts";
import type { McpOAuth, McpRemote, McpServer } from "./mcp-server.ts";
import { OAuthProvider, type OAuthState } from "./oauth-provider.ts";
import { finishLogin, type OpenClientDeps } from "./open-client.ts";
import { tryServer, type TriedServer, type TryOptions } from "./try-server.ts";
import type { Clock } from "../../lib/clock.ts";

export type LoginServer = McpServer & McpRemote & { readonly oauth: McpOAuth };

export type LoginRequest = Pick<TryOptions, "call" | "timeoutMs"> & {
  readonly userId: string;
  readonly server: LoginServer;
  readonly redirectUrl: string;
};

/** The state of a login, for clients. */
export type LoginJob = {
  readonly id: string;
  readonly userId: string;
  readonly redirectUrl: string;
  /** The secret that only the browser that began the login has. */
  readonly browserToken: string;
  readonly authorizationUrl: string | null;
  readonly status: "pending" | "authorizing" | "succeeded" | "failed";
  /** Null before the end. */
  readonly tried: TriedServer | null;
  /** Null before success. */
  readonly state: OAuthState | null;
};

export type LoginJobsDeps = OpenClientDeps & {
  readonly logins: McpLogins;
  /** Of this process, as it is at each use. */
  readonly cluster: Pick<Cluster, "nodeId">;
  readonly clock: Clock;
};

type OwnJob = { -readonly [Field in keyof LoginJob]: LoginJob[Field] } & {
  readonly request: LoginRequest;
  readonly provider: OAuthProvider;
  readonly stateToken: string;
  readonly endsAtMs: number;
};

/** How long a person has for a login. */
export const loginMs = 15 * 60_000;
const maxJobsPerUser = 20;

/**
 * Logins of persons to MCP servers in a browser. They are in the memory of the process that began them, for a quarter
 * of an hour. Their ids and states contain its node id, see {@link nodeOfLogin}.
 */
export class LoginJobs {
  readonly #deps: LoginJobsDeps;
  readonly #jobs = new Map<string, OwnJob>();

  constructor(deps: LoginJobsDeps) {
    this.#deps = deps;
  }

  /** Discovers the server's login. Never rejects: failures are in the job. */
  async start(request: LoginRequest, signal: AbortSignal): Promise<LoginJob> {
    this.#forgetOld(request.userId);
    const nodeId = this.#deps.cluster.nodeId;
    const stateToken = `${randomBytes(32).toString("base64url")}.${nodeId}`;
    const job: OwnJob = {
      id: `${randomBytes(18).toString("base64url")}.${nodeId}`,
      userId: request.userId,
      redirectUrl: request.redirectUrl,
      browserToken: randomBytes(32).toString("base64url"),
      authorizationUrl: null,
      status: "pending",
      tried: null,
      state: null,
      request,
      stateToken,
      endsAtMs: this.#deps.clock.nowMs() + loginMs,
      provider: new OAuthProvider({
        ...request.server.oauth,
        redirectUrl: request.redirectUrl,
        stateToken,
        clock: this.#deps.clock,
        onAuthorize: (url) => {
          // A server that cannot be trusted with an address of its own would send the person anywhere.
          if (url.protocol === "https:" || url.protocol === "http:") job.authorizationUrl = url.href;
        },
      }),
    };
    this.#jobs.set(job.id, job);
    const tried = await this.#try(job, signal);
    if (!tried.ok && job.authorizationUrl !== null) job.status = "authorizing";
    else await this.#end(job, tried);
    return job;
  }

  /** Null for one that is not there, not this user's, or too old. */
  find(userId: string, id: string): LoginJob | null {
    const job = this.#jobs.get(id);
    return job === undefined || job.userId !== userId || this.#isOver(job) ? null : job;
  }

  /** The job whose authorization this browser comes back from. */
  findByState(stateToken: string): LoginJob | null {
    const job = this.#jobs.values().find((candidate) => candidate.stateToken === stateToken);
    return job === undefined || this.#isOver(job) ? null : job;
  }

  /**
   * Accepts the authorization server's redirect. `wrong-state` and `not-ready` change nothing, so that guessing cannot
   * end another person's login.
   */
  async finish(id: string, params: URLSearchParams): Promise<"done" | "wrong-state" | "not-ready"> {
    const job = this.#jobs.get(id);
    if (job?.status !== "authorizing" || this.#isOver(job)) return "not-ready";
    if (params.get("state") !== job.stateToken) return "wrong-state";
    // A code is good for one exchange; a second browser finds the job busy.
    job.status = "pending";
    const deadline = AbortSignal.timeout(job.request.timeoutMs);
    try {
      await finishLogin(job.request.server, this.#clientDeps(job), params, deadline);
    } catch (error) {
      await this.#end(job, { ok: false, error: refusalText(error), error_kind: "unknown" });
      return "done";
    }
    await this.#end(job, await this.#try(job, AbortSignal.timeout(job.request.timeoutMs)));
    return "done";
  }

  async #try(job: OwnJob, signal: AbortSignal): Promise<TriedServer> {
    const { server, timeoutMs, call } = job.request;
    return await tryServer(server, this.#clientDeps(job), { timeoutMs, call, signal });
  }

  #clientDeps({ provider }: OwnJob): OpenClientDeps {
    return { ...this.#deps, oauthProvider: provider };
  }

  async #end(job: OwnJob, tried: TriedServer): Promise<void> {
    if (tried.ok) {
      job.state = job.provider.current;
      await this.#deps.logins.begin(job.userId, job.request.server.url, job.state);
    }
    job.tried = tried;
    job.status = tried.ok ? "succeeded" : "failed";
  }

  #isOver(job: OwnJob): boolean {
    return this.#deps.clock.nowMs() >= job.endsAtMs;
  }

  /** The oldest go first; a map keeps the order in which they began. */
  #forgetOld(userId: string): void {
    for (const job of this.#jobs.values()) if (this.#isOver(job)) this.#jobs.delete(job.id);
    const own = this.#jobs
      .values()
      .filter((job) => job.userId === userId)
      .toArray();
    for (const { id } of own.slice(0, Math.max(0, own.length - maxJobsPerUser + 1))) this.#jobs.delete(id);
  }
}

/** The node that began the login with this id or state; null for other texts. */
export function nodeOfLogin(idOrState: string): string | null {
  return /^[\w-]+\.([\w-]+)$/.exec(idOrState)?.[1] ?? null;
}

function refusalText(error: unknown): string {
  const text = describeError(error);
  return `The login was not completed: ${text.slice(0, 500)}`;
}
