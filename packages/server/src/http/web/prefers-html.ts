import type { IncomingHttpHeaders } from "node:http";

/** True when the client prefers a page to JSON: browsers do, programs that accept anything do not. */
export function prefersHtml({ accept = "" }: Pick<IncomingHttpHeaders, "accept">): boolean {
  const weights = new Map(accept.split(",").map(readRange));
  const html = weights.get("text/html") ?? 0;
  return html > 0 && html >= (weights.get("application/json") ?? 0);
}

function readRange(range: string): [string, number] {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const value = weight === undefined ? 1 : Number(weight.slice(2));
  return [type, Number.isFinite(value) ? value : 0];
}
