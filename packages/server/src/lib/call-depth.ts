import { Fault } from "./fault.ts";

/**
 * The header with the number of conversations that a model request came through. Requests of this server have it, and
 * `/v1` reads it: the model of a conversation may be another conversation of this server, and so on.
 */
const callDepthHeader = "x-convoke-call-depth";

/** A chain of three conversations is allowed; a longer one is a conversation that asks itself. */
const maxCallDepth = 3;

type Send = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A `fetch` for a conversation that was itself called at `depth`; other values of the header are overwritten. */
export function withCallDepth(send: Send, depth: number): Send {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set(callDepthHeader, String(depth + 1));
    return send(input, { ...init, headers });
  };
}

/** 0 for a request that no conversation sent. Throws a fault for one that came through too many. */
export function readCallDepth(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const { [callDepthHeader]: text } = headers;
  const depth = text === undefined ? 0 : Number(text);
  if (Number.isInteger(depth) && depth >= 0 && depth <= maxCallDepth) return depth;
  throw calledTooDeep();
}

/** This ends the whole chain, because it is not retried. */
export function calledTooDeep(): Fault {
  return new Fault(
    "unusable",
    "called_too_deep",
    `The model of this conversation is a conversation of this server, through more than ${maxCallDepth} of them or back to an earlier one. Choose a model whose base_url is not this server.`,
  );
}
