/** Names the public key (SHA-256 in base64) of an authority whose certificates the agent's browser accepts. */
export const trustedKeyVariable = "CONVOKE_TRUSTED_KEY";
