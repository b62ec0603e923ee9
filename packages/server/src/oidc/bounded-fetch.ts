import type { CustomFetch } from "openid-client";
import { collectBody } from "../lib/collect-bytes.ts";

/** The provider gave no answer that could be read. */
export class ProviderUnreachable extends Error {
  override readonly name = "ProviderUnreachable";
}

/** Documents and keys of providers have a few kilobytes; claims with hundreds of groups have some dozens. */
const maxAnswerBytes = 1024 * 1024;

/** Such answers have no body. */
const bodiless = [204, 205, 304];

export type BoundedFetchDeps = {
  /** For the whole answer, with its body. */
  readonly timeoutMs: number;
  /** The only host that is called without TLS; null: none. */
  readonly plainHost: string | null;
};

/**
 * Requests to an identity provider: with TLS, no redirects, a time limit, and answers of a bounded size. Rejects with
 * {@link ProviderUnreachable}.
 */
export function createBoundedFetch({ timeoutMs, plainHost }: BoundedFetchDeps): CustomFetch {
  return async (address, { body = null, headers, method, signal: given }) => {
    const { protocol, hostname, host } = new URL(address);
    if (protocol !== "https:" && hostname !== plainHost)
      throw new ProviderUnreachable(`${host} is to be called without TLS, which is for this machine only.`);
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = given === undefined ? limit : AbortSignal.any([limit, given]);
    try {
      const init = { method, headers, body, redirect: "manual", signal } as RequestInit;
      const response = await fetch(address, init);
      if (response.status >= 500)
        throw new ProviderUnreachable(`${host} answered with status ${response.status}.`);
      const bytes = await collectBody(response, maxAnswerBytes);
      if (bytes === null)
        throw new ProviderUnreachable(`${host} answered with more than ${maxAnswerBytes} bytes.`);
      const { status, headers: answered } = response;
      return new Response(bodiless.includes(status) ? null : Buffer.from(bytes), {
        status,
        headers: answered,
      });
    } catch (cause) {
      if (cause instanceof ProviderUnreachable) throw cause;
      const what = signal.aborted ? `did not answer in ${timeoutMs} ms` : "could not be reached";
      throw new ProviderUnreachable(`${host} ${what}.`, { cause });
    }
  };
}
