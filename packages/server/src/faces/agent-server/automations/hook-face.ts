import { automationHookRoutes, type HookReply } from "@convoke/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { bodyLimitBytes } from "../../../http/errors.ts";
import type { Face } from "../../../http/mount.ts";
import { parseJsonBody } from "../../../http/parse-json-body.ts";
import { RateLimits } from "../../../http/rate-limits.ts";
import { sendToPlace } from "../../../http/without-slash.ts";
import { Fault } from "../../../lib/fault.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Requests a minute, whether their signatures are right or not. */
const perAddress = 600;
/** Deliveries a minute. */
const perAutomation = 120;

/** Where senders of webhooks post to. They have no key: the signature of the raw body is what authenticates them. */
export function hookFace(deps: Pick<FaceDeps, "hooks" | "clientAddress">): Face {
  return {
    routes: Object.values(automationHookRoutes),
    mount(app) {
      const limits = { address: limitOf(perAddress), automation: limitOf(perAutomation) };
      // A scope of its own, because its bodies are read as bytes.
      void app.register(async (scope) => mountHook(scope, limits, deps));
    },
  };
}

type Limits = { readonly address: RateLimits; readonly automation: RateLimits };

function mountHook(
  scope: FastifyInstance,
  limits: Limits,
  { hooks, clientAddress }: Pick<FaceDeps, "hooks" | "clientAddress">,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  scope.route<{ Params: { automation_id: string } }>({
    method: "POST",
    url: "/api/automations/:automation_id/hook",
    bodyLimit: bodyLimitBytes,
    onRequest: (request, reply, done) => {
      if (sendToPlace(request, reply)) return;
      take(limits.address, clientAddress(request), "from this address");
      done();
    },
    handler: async (request, reply) => {
      const id = normalizeUuid(request.params.automation_id);
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const verified = id === null ? null : await hooks.verify(id, { headers: request.headers, body });
      const mark = `hook ${request.params.automation_id} ${signatureOf(request)}`;
      // A right signature counts also while the address has to wait: an HMAC cannot be guessed, and many senders share one.
      const delivery = request.server.signatureLimit.find(request, mark, () => verified);
      if (delivery === null) throw refused(request);
      take(limits.automation, delivery.automationId, "for this automation");
      const answer = await hooks.receive(delivery, body.length === 0 ? {} : parseJsonBody(body));
      if (answer === null) throw refused(request);
      void reply.status(202);
      return answer satisfies HookReply;
    },
  });
}

function limitOf(perMinute: number): RateLimits {
  const limits = new RateLimits();
  limits.open({ perKey: perMinute, perUser: null });
  return limits;
}

function take(limits: RateLimits, of: string, whose: string): void {
  const refusal = limits.take({ userId: "", keyId: of })?.refusal ?? null;
  if (refusal === null) return;
  const { retryAfterSeconds = 1 } = refusal;
  const sentence = `Too many webhooks ${whose}. Try again in ${retryAfterSeconds} seconds.`;
  throw new Fault("too-many", "rate_limited", sentence, [], { retryAfterSeconds });
}

/** Says nothing about what is wrong, nor whether there is such an automation. */
function refused(request: FastifyRequest): Fault {
  request.isRefused = true;
  return new Fault("stranger", "unauthorized", "Unauthorized");
}

/** What a client has tried: the same one again is not another guess. */
function signatureOf({ headers }: FastifyRequest): string {
  const names = Object.keys(headers).filter((name) => /signature|token/.test(name));
  return names
    .toSorted()
    .map((name) => `${name}=${String(headers[name])}`)
    .join("\n");
}
