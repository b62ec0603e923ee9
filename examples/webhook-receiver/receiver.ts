// Receives the events of every conversation, checks who sent them, and takes each delivery once.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

const secret = process.env["HOOK_SECRET"] ?? "";
/** A real receiver keeps these where it keeps what it makes of the events. */
const taken = new Set<string>();
let hasFailed = false;

// region signature
/** The signature covers the time and the body. An old time may be a recording that is played again. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const timestamp = String(headers["x-convoke-timestamp"]);
  const signature = Buffer.from(String(headers["x-convoke-signature"]));
  const expected = Buffer.from(
    `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`,
  );
  const ageSeconds = Math.abs(Date.now() / 1_000 - Number(timestamp));
  return ageSeconds < 300 && signature.length === expected.length && timingSafeEqual(signature, expected);
}
// endregion signature

/** The status to answer with: whatever is not 2xx is sent again. */
async function receive(request: IncomingMessage): Promise<number> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (!isGenuine(request.headers, body)) {
    console.log("refused: the signature is wrong");
    return 401;
  }
  if (!hasFailed) {
    hasFailed = true;
    console.log("failed once, so the same delivery comes again");
    return 503;
  }
  // region once
  const delivery = String(request.headers["x-convoke-delivery"]);
  if (!taken.has(delivery)) {
    taken.add(delivery);
    take(request.url ?? "", JSON.parse(body));
  }
  return 204;
  // endregion once
}

function take(path: string, body: unknown): void {
  if (!path.startsWith("/hook/events/")) return;
  for (const event of body as { kind: string; key?: string; value?: unknown }[]) {
    if (event.kind === "MessageEvent" || event.kind === "ActionEvent") console.log("event", event.kind);
    if (event.key === "execution_status") console.log("event", event.key, event.value);
  }
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
server.listen(Number(process.env["PORT"] ?? 3001), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
