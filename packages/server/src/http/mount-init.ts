import { InitRequest, type InitStatus } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../lib/fault.ts";
import { isSameSecret } from "../security/same-secret.ts";
import { warningHeader } from "./unused-fields.ts";

export interface Initialization {
  status(): InitStatus;
  /** Resolves when the server is ready, with warnings for the caller; throws the Fault for the caller. */
  begin(request: InitRequest): Promise<string | null>;
}

export type InitRoutesDeps = {
  /** Empty when no key is needed. */
  readonly initKey: string;
  readonly validator: Validator;
  readonly initialization: Initialization;
};

/** `GET` and `POST /api/init`, of a server that waits for its configuration and of the configured one. */
export function mountInit(app: FastifyInstance, deps: InitRoutesDeps): void {
  const { initialization } = deps;
  app.get("/api/init", () => initialization.status());
  const checkKey = async (request: FastifyRequest): Promise<void> => {
    if (deps.initKey !== "" && !isSameSecret(String(request.headers["x-init-api-key"] ?? ""), deps.initKey)) {
      throw new Fault("stranger", "unauthorized", "Unauthorized");
    }
  };
  const initialize = async (request: FastifyRequest, reply: FastifyReply): Promise<InitStatus> => {
    if (initialization.status().state !== "dormant") {
      const msg = "The server has its configuration, or is being opened with it.";
      throw new Fault("unusable", "already_initialized", msg);
    }
    const checked = deps.validator.check(InitRequest, request.body ?? null, ["body"]);
    if (!checked.ok) throw new Fault("caller", "validation", "The body is not valid.", checked.errors);
    // Commands are always stored in the data folder, whatever this field says.
    if (checked.value.bash_events_dir) reply.header("warning", warningHeader(["bash_events_dir"]));
    const message = await initialization.begin(checked.value);
    return { ...initialization.status(), ...(message === null ? {} : { message }) };
  };
  app.route({ method: "POST", url: "/api/init", onRequest: checkKey, handler: initialize });
}
