import fc from "fast-check";

/** Property tests make the same cases in every run, so that a red run says something of the change; CONVOKE_SEED makes others. */
fc.configureGlobal({ seed: Number(process.env["CONVOKE_SEED"] ?? 2026) });
