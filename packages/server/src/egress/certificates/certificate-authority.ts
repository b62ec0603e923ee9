import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { publicKeyDigest, writeCertificate } from "./certificate.ts";

const dayMs = 86_400_000;
const authorityDays = 30;
/** Of one whose key is given: what it is for outlives processes, and reads its trust store when it starts. */
const lastingAuthorityDays = 3_650;
const leafDays = 7;
/** Clocks of programs inside are the machine's; those of tests may be set. */
const beforeMs = dayMs;
/** What a server has to show as one host: PEM, and when to ask for another. */
export type Leaf = { readonly key: string; readonly cert: string; readonly renewAt: number };

/** A wall's own authority. The key of its leaves, and its own unless that is given, are in this process's memory only. */
export class CertificateAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly publicKeyDigest: string;
  readonly #key: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly #leafKey = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #name = "Convoke wall";
  readonly #notAfter: number;
  readonly #now: () => number;

  /** `given`: a private key on P-256, whose authority is the same for each process that has it. */
  constructor(now: () => number = Date.now, given: KeyObject | null = null) {
    this.#now = now;
    this.#notAfter = now() + (given === null ? authorityDays : lastingAuthorityDays) * dayMs;
    this.#key =
      given === null
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : { privateKey: given, publicKey: createPublicKey(given) };
    const { publicKey } = this.#key;
    this.certificate = this.#write(null, publicKey, this.#notAfter);
    this.publicKeyDigest = publicKeyDigest(publicKey);
  }

  /** For a name or an address. */
  issue(host: string): Leaf {
    const notAfter = Math.min(this.#notAfter, this.#now() + leafDays * dayMs);
    return {
      key: this.#leafKey.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      // With the authority: Chromium compares the keys of the whole chain with those that it was given.
      cert: this.#write(host, this.#leafKey.publicKey, notAfter) + this.certificate,
      renewAt: notAfter - dayMs,
    };
  }

  /** A certificate for a host, or the authority's own for null. */
  #write(host: string | null, publicKey: KeyObject, notAfter: number): string {
    const fields = {
      subject: host ?? this.#name,
      issuer: this.#name,
      notBefore: new Date(this.#now() - beforeMs),
      notAfter: new Date(notAfter),
      publicKey,
      issuerPublicKey: this.#key.publicKey,
      host,
    };
    return writeCertificate(fields, this.#key.privateKey);
  }
}
