import { createECDH, createPrivateKey, hkdfSync, type KeyObject } from "node:crypto";

/** The number of points of P-256 (FIPS 186-5). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** More than the 32 of a key, so that each key is equally likely. */
const wideBytes = 48;

/** A private key on P-256 that is always the same for a secret text; the secret cannot be found from it. */
export function deriveAuthorityKey(secret: string): KeyObject {
  const wide = Buffer.from(hkdfSync("sha256", secret, "", "convoke authority", wideBytes));
  const scalar = (BigInt(`0x${wide.toString("hex")}`) % (order - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(64, "0"), "hex");
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(d);
  // 0x04, then both coordinates.
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)];
  const encode = (bytes: Buffer): string => bytes.toString("base64url");
  return createPrivateKey({
    format: "jwk",
    key: { kty: "EC", crv: "P-256", d: encode(d), x: encode(x), y: encode(y) },
  });
}
