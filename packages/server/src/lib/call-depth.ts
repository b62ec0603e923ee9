import { Fault } from "./fault.ts";

/**
 * Through how many conversations a request to a model came. Each request that this server sends has it, and `/v1` reads it: the model of
 * a conversation may be a conversation of this server, whose model is one again.
 */
const callDepthHeader = "x-convoke-call-depth";

/** Three conversations may ask each other in a row; more is a conversation that asks itself. */
const maxCallDepth = 3;

type Send = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Sends requests of a conversation that was asked at `depth` itself; whatever other headers say of it does not count. */
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

/** It ends the whole chain, because none of them tries again after it. */
export function calledTooDeep(): Fault {
  return new Fault(
    "unusable",
    "called_too_deep",
    `The model of this conversation is a conversation of this server, through more than ${maxCallDepth} of them or back to an earlier one. Choose a model whose base_url is not this server.`,
  );
}
