const hidden = "***";

/** Shapes of keys that providers hand out, in case a provider echoes one that is not ours. */
const keyShapes =
  /\b(?:sk|pk|rk|gsk|xai|key|tgp|hf|fw|nvapi|r8|pplx|csk)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+[\w.~+/=-]{8,}|:\/\/[^\s/@:]+:[^\s/@]+@/giu;

/** Removes the given secrets, plain or encoded, and everything that looks like a provider's key from a text. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets.flatMap(spellingsOf).toSorted((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(secret, hidden);
  }
  return clean.replace(keyShapes, hidden);
}

function spellingsOf(secret: string): string[] {
  if (secret.length < 4) return [];
  const bytes = Buffer.from(secret, "utf8");
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("base64"),
    bytes.toString("base64").replace(/=+$/u, ""),
    bytes.toString("base64url"),
  ];
}
