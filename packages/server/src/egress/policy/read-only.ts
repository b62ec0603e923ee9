import { type Header, valueOf, valuesOf } from "./headers.ts";
import { auditHosts } from "./presets.ts";

/** The parts of a request that decide whether it only reads. */
export type RequestHead = {
  readonly host: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly Header[];
  readonly isUpgrade: boolean;
  /** A secret is bound to the host: git asks without it first, and sends it when the host wants one. */
  readonly mayLogIn: boolean;
};

/** What of the request the server itself put in. */
export type PutIn = {
  /** Names in lower case of headers that carry a secret of ours. */
  readonly headers: ReadonlySet<string>;
  /** A secret was put into the query or the body. */
  readonly elsewhere: boolean;
};

const maxPathBytes = 4_096;
/** Headers in which hosts of packages and code take credentials. */
const credentials = new Set([
  "authorization",
  "cookie",
  "private-token",
  "job-token",
  "deploy-token",
  "x-access-token",
  "x-api-key",
  "x-auth-token",
  "x-goog-api-key",
  "api-key",
  "npm-otp",
]);
const credentialInQuery = /^(?:access_token|private_token|job_token|oauth_token|api_key|apikey|token|key)$/i;
const methodInHeader = ["x-http-method-override", "x-http-method", "x-method-override"];
const auditPaths = new Set([
  "/-/npm/v1/security/audits",
  "/-/npm/v1/security/audits/quick",
  "/-/npm/v1/security/advisories/bulk",
]);

/**
 * Why a request to a read-only host is refused; null when it passes. A host that takes in what is sent is a way out for whatever
 * credentials somebody brings, so foreign ones are refused even for reading. One of ours as credential lifts the rest.
 */
export function readOnlyProblem(head: RequestHead, putIn: PutIn): string | null {
  const foreign = head.headers.find(
    ([name]) => credentials.has(name.toLowerCase()) && !putIn.headers.has(name.toLowerCase()),
  );
  if (foreign !== undefined) {
    return `This host is read-only, and the header ${foreign[0]} has credentials of the program's own.`;
  }
  if (!putIn.elsewhere && queryOf(head.path).some(([name]) => credentialInQuery.test(name))) {
    return "This host is read-only, and the query has credentials of the program's own.";
  }
  if (putIn.elsewhere || [...putIn.headers].some((name) => credentials.has(name))) return null;
  return writeProblem(head);
}

function writeProblem({ host, method, path, headers, isUpgrade, mayLogIn }: RequestHead): string | null {
  const name = path.replace(/\?.*$/s, "");
  if (isUpgrade) return "This host is read-only; a connection cannot be upgraded.";
  if (Buffer.byteLength(path) > maxPathBytes) {
    return `This host is read-only, and the address is longer than ${maxPathBytes} bytes.`;
  }
  if (methodInHeader.some((other) => valueOf(headers, other) !== undefined)) {
    return "This host is read-only; a header cannot change the method.";
  }
  if (!mayLogIn && queryOf(path).some(([key, value]) => key === "service" && value === "git-receive-pack"))
    return "This host is read-only; git cannot push to it.";
  if (method === "GET" || method === "HEAD") {
    const hasBody = Number(valueOf(headers, "content-length") ?? 0) > 0 || isChunked(headers);
    return hasBody ? `This host is read-only; ${method} must have no body.` : null;
  }
  const isFetch = name.endsWith("/git-upload-pack") && isUploadPack(headers);
  const isAudit = auditHosts.has(host) && auditPaths.has(name);
  if (method === "POST" && (isFetch || isAudit)) return null;
  return `This host is read-only; ${/^[A-Z]{1,20}$/.test(method) ? method : "this method"} is not allowed.`;
}

/** As hosts read it: names and values may be written with percent signs, and some hosts part them with semicolons. */
function queryOf(path: string): [string, string][] {
  const at = path.indexOf("?");
  return at === -1 ? [] : [...new URLSearchParams(path.slice(at + 1).replaceAll(";", "&"))];
}

function isUploadPack(headers: readonly Header[]): boolean {
  const types = valuesOf(headers, "content-type");
  return types.length === 1 && types[0] === "application/x-git-upload-pack-request";
}

function isChunked(headers: readonly Header[]): boolean {
  return valueOf(headers, "transfer-encoding") !== undefined;
}
