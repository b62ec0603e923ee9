import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Signs texts that may be read by everybody; only the same key makes the same signature. */
export interface Signer {
  /** The signature in hex. Each purpose has a key of its own, so a signature for one is none for another. */
  sign(purpose: string, text: string): string;
  isSigned(purpose: string, text: string, signature: string): boolean;
}

/** HMAC-SHA-256 with keys that are derived by HKDF. Signs with the first key and accepts the others as well. */
export function createSigner(keys: readonly [Buffer, ...Buffer[]]): Signer {
  return {
    sign: (purpose, text) => signatureOf(keys[0], purpose, text).toString("hex"),
    isSigned(purpose, text, signature) {
      const given = Buffer.from(signature, "hex");
      return keys.some((key) => {
        const expected = signatureOf(key, purpose, text);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}

function signatureOf(key: Buffer, purpose: string, text: string): Buffer {
  const derived = Buffer.from(hkdfSync("sha256", key, "", purpose, 32));
  return createHmac("sha256", derived).update(text).digest();
}
