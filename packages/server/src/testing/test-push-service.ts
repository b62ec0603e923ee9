import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  verify,
  type ECDH,
} from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A push message for a browser; `news` is its decrypted content. */
export type PushedNews = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly news: unknown;
  /** The claims of the signature (RFC 8292). */
  readonly claims: { readonly aud: string; readonly exp: number; readonly sub: string };
};

type Browser = { readonly ecdh: ECDH; readonly auth: Buffer };

/** A push service with its browsers. Decrypts messages by RFC 8188 and 8291, and checks who signed them. */
export class TestPushService implements AsyncDisposable {
  readonly pushed: PushedNews[] = [];
  /** The status of the reply to each request. */
  answer: (path: string) => number = () => 201;
  asked = 0;
  origin = "";
  /** Public key of the sending server; a request signed by another one is refused. */
  publicKey = "";
  readonly #browsers = new Map<string, Browser>();
  readonly #server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const path = request.url ?? "";
      this.asked += 1;
      const status = this.answer(path);
      if (status === 201) {
        const claims = this.#claimsOf(request.headers.authorization ?? "");
        const news = open(this.#browsers.get(path)!, Buffer.concat(chunks));
        this.pushed.push({ path, headers: request.headers, news, claims });
      }
      response.writeHead(status).end();
    })().catch((error: unknown) => response.writeHead(400).end(String(error)));
  });

  static async start(): Promise<TestPushService> {
    const service = new TestPushService();
    service.#server.listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    service.origin = `http://127.0.0.1:${(service.#server.address() as AddressInfo).port}`;
    return service;
  }

  /** The subscription of a new browser. */
  subscribe(name: string): { endpoint: string; keys: { p256dh: string; auth: string } } {
    const ecdh = createECDH("prime256v1");
    const p256dh = ecdh.generateKeys().toString("base64url");
    const auth = randomBytes(16);
    const path = `/push/${name}`;
    this.#browsers.set(path, { ecdh, auth });
    return { endpoint: `${this.origin}${path}`, keys: { p256dh, auth: auth.toString("base64url") } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #claimsOf(authorization: string): PushedNews["claims"] {
    const [, token = "", key = ""] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? [];
    const [header = "", claims = "", signature = ""] = token.split(".");
    const point = Buffer.from(key, "base64url");
    const jwk = {
      kty: "EC",
      crv: "P-256",
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url"),
    };
    const isSigned = verify(
      "sha256",
      Buffer.from(`${header}.${claims}`),
      { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    );
    if (!isSigned || key !== this.publicKey) throw new Error("somebody else has signed it");
    return JSON.parse(Buffer.from(claims, "base64url").toString()) as PushedNews["claims"];
  }
}

/** One record of `aes128gcm`: salt (16 bytes), record size (4), length of the key (1), the sender's key (65), and the ciphertext. */
function open({ ecdh, auth }: Browser, body: Buffer): unknown {
  const salt = body.subarray(0, 16);
  const senderKey = body.subarray(21, 21 + body[20]!);
  const sealed = body.subarray(21 + body[20]!);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), ecdh.getPublicKey(), senderKey]);
  const secret = hkdfSync("sha256", ecdh.computeSecret(senderKey), auth, info, 32);
  const key = hkdfSync("sha256", Buffer.from(secret), salt, "Content-Encoding: aes128gcm\0", 16);
  const nonce = hkdfSync("sha256", Buffer.from(secret), salt, "Content-Encoding: nonce\0", 12);
  const decipher = createDecipheriv("aes-128-gcm", Buffer.from(key), Buffer.from(nonce));
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  // The text is followed by a byte 2 and zeros.
  return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
}
