import { Type, type Static } from "typebox";
import { choice, closedObject, ref } from "../schema.ts";
import { NetworkPolicy } from "./network-policy.ts";

/** A sandbox spec as the operator of a server writes it. What is left out is as the server's own settings say. */
export const SandboxSpecEntry = closedObject("SandboxSpecEntry", {
  id: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  backend: choice(["bubblewrap", "docker", "process"]),
  image: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  runtime: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "A runtime of the container engine, such as `runsc`.",
    }),
  ),
  memory_mb: Type.Optional(Type.Integer({ minimum: 64 })),
  cpus: Type.Optional(Type.Number({ minimum: 0.1 })),
  processes: Type.Optional(Type.Integer({ minimum: 32 })),
  disk_mb: Type.Optional(Type.Integer({ minimum: 1 })),
  environment: Type.Optional(
    Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: Type.String() }),
  ),
  network: Type.Optional(NetworkPolicy),
  secrets: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 500,
      description: "Names of those secrets of a user that may enter; all of them unless given.",
    }),
  ),
  warm: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
});
export type SandboxSpecEntry = Static<typeof SandboxSpecEntry>;

/** The file with them. */
export const SandboxSpecFile = closedObject("SandboxSpecFile", {
  specs: Type.Array(ref(SandboxSpecEntry), { minItems: 1, maxItems: 100 }),
});
export type SandboxSpecFile = Static<typeof SandboxSpecFile>;
