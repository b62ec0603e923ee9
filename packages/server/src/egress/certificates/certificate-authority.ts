import { generateKeyPairSync } from "node:crypto";
import { publicKeyDigest, writeCertificate } from "./certificate.ts";

const dayMs = 86_400_000;
const authorityDays = 30;
const leafDays = 7;
/** Clocks of programs inside are the machine's; those of tests may be set. */
const beforeMs = dayMs;
/** What a server has to show as one host: PEM, and when to ask for another. */
export type Leaf = { readonly key: string; readonly cert: string; readonly renewAt: number };

/** A wall's own authority. Its key and the key of its leaves are in this process's memory only. */
export class CertificateAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly publicKeyDigest: string;
  readonly #key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #leafKey = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #name = "Convoke wall";
  readonly #notAfter: number;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#notAfter = now() + authorityDays * dayMs;
    const { publicKey, privateKey } = this.#key;
    this.certificate = writeCertificate(
      {
        subject: this.#name,
        issuer: this.#name,
        notBefore: new Date(now() - beforeMs),
        notAfter: new Date(this.#notAfter),
        publicKey,
        issuerPublicKey: publicKey,
        host: null,
      },
      privateKey,
    );
    this.publicKeyDigest = publicKeyDigest(publicKey);
  }

  /** For a name or an address. */
  issue(host: string): Leaf {
    const notAfter = Math.min(this.#notAfter, this.#now() + leafDays * dayMs);
    const leaf = writeCertificate(
      {
        subject: host,
        issuer: this.#name,
        notBefore: new Date(this.#now() - beforeMs),
        notAfter: new Date(notAfter),
        publicKey: this.#leafKey.publicKey,
        issuerPublicKey: this.#key.publicKey,
        host,
      },
      this.#key.privateKey,
    );
    return {
      key: this.#leafKey.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      // With the authority: Chromium compares the keys of the whole chain with those that it was given.
      cert: leaf + this.certificate,
      renewAt: notAfter - dayMs,
    };
  }
}
